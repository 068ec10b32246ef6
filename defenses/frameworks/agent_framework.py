"""Constraint Pinning in Microsoft's agent-framework: a strategy around any compaction strategy.

>>> import asyncio
>>> from agent_framework import Message, SlidingWindowStrategy, apply_compaction
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> strategy = PinnedStrategy(rules, SlidingWindowStrategy(keep_last_groups=1))
>>> history = [Message("user", ["Hello"]), Message("assistant", ["Hi"]), Message("user", ["Send"])]
>>> (sent,) = asyncio.run(apply_compaction(list(history), strategy=strategy))
>>> "example.org" in sent.text and sent.text.endswith("Send")
True
>>> history[-1].text
'Send'

It goes into ``Agent(..., compaction_strategy=PinnedStrategy(rules, SummarizationStrategy(...)))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from agent_framework import (
    EXCLUDED_KEY,
    GROUP_ANNOTATION_KEY,
    CompactionStrategy,
    Content,
    Message,
    TokenizerProtocol,
    TruncationStrategy,
    annotate_message_groups,
    included_token_count,
)

from constraintrot.defenses.frameworks._otel import trace_receipt
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report
from constraintrot.defenses.rampart import PinOverflowError, Registry

_OWN = "constraintrot-pins"
# A summarizer over the agent's own client is given the client's own strategy.
_COMPACTING: ContextVar[bool] = ContextVar("constraintrot_compacting", default=False)


class _StandIn(Message):
    """What a model is sent in a message's place, or beside the others, for one call."""

    stands_for: Message | None = None


class PinnedStrategy:
    """Compacts as another strategy does, then puts a registry's pins ahead of what is left.

    A strategy is the last to touch the messages of a model call, and is run before
    each, also without anything to compact. Instructions are out of its reach, so
    the pins stand ahead of the first request that is left, or in a request of
    their own where what is left begins otherwise. The message there is replaced
    by a copy for the call: no block is ever stored or summarised.

    It belongs to an agent, a client or a run, as ``compaction_strategy``; one
    given to a run replaces the agent's, and an agent's the client's. In a
    ``CompactionProvider`` it would work on the stored history itself.

    Args:
        pins: the registry, or a PinnedBlock made from it.
        strategy: the strategy to pin through; None to compact nothing. One that
            keeps a token budget counts the pins too, as a system message.
        heading: the line above the pins; a PinnedBlock has its own.
        report: is given each receipt, by default the logger
            ``constraintrot.pins`` and the span that is open; a PinnedBlock has its own.
    """

    def __init__(
        self,
        pins: Registry | PinnedBlock,
        strategy: CompactionStrategy | None = None,
        *,
        heading: str = HEADING,
        report: Report = trace_receipt,
    ) -> None:
        self.pinned_block = (
            pins
            if isinstance(pins, PinnedBlock)
            else PinnedBlock(pins, heading=heading, report=report)
        )
        self.strategy = strategy

    @property
    def tokenizer(self) -> TokenizerProtocol | None:
        """The strategy's own; the framework counts a context with it."""
        found = getattr(self.strategy, "tokenizer", None)
        return found if isinstance(found, TokenizerProtocol) else None

    async def __call__(self, messages: list[Message]) -> bool:
        """Compact and pin, in place.

        Raises:
            PinOverflowError: the strategy keeps a token budget, and the pins are
                what is too much.
        """
        if _COMPACTING.get():
            return await self.strategy(messages) if self.strategy is not None else False
        changed = _restored(messages)
        changed = await self._compacted(messages) or changed
        return self._pinned(messages) or changed

    async def _compacted(self, messages: list[Message]) -> bool:
        if self.strategy is None:
            # Where there is none, the framework sends also what was excluded elsewhere.
            gone = [at for at, message in enumerate(messages) if _excluded(message)]
            for at in gone:
                messages[at] = _stand_in(messages[at], messages[at].contents)
            return bool(gone)
        reserve = self._reserve(messages)
        token = _COMPACTING.set(True)
        try:
            changed = await self.strategy(messages)
        finally:
            _COMPACTING.reset(token)
            messages[:] = [message for message in messages if message is not reserve]
        if reserve is not None:
            self._check(messages, reserve)
        return changed

    def _reserve(self, messages: list[Message]) -> Message | None:
        """The pins as a message that a token-counting strategy sees and leaves in."""
        text = self.pinned_block.text
        if self.tokenizer is None or not text:
            return None
        reserve = Message("system", [text], message_id=_OWN)
        annotate_message_groups([reserve], tokenizer=self.tokenizer)
        messages.insert(0, reserve)
        return reserve

    def _check(self, messages: list[Message], reserve: Message) -> None:
        room, used = _room(self.strategy), included_token_count(messages)
        reserve.additional_properties[EXCLUDED_KEY] = False
        needed = included_token_count([reserve])
        if room is not None and used <= room < used + needed:
            raise PinOverflowError(needed, room - used)

    def _pinned(self, messages: list[Message]) -> bool:
        left = [at for at, message in enumerate(messages) if not _excluded(message)]
        place = next((n for n, at in enumerate(left) if messages[at].role != "system"), len(left))
        at = left[place] if place < len(left) else len(messages)
        first = messages[at] if place < len(left) and messages[at].role == "user" else None
        said = first.contents[0] if first is not None and first.contents else None
        text = said.text if said is not None and said.type == "text" else None
        kept = self.pinned_block.ahead(text, at=place)
        # The block trims what it edits; what holds no block and is to hold none stays as it is.
        if not self.pinned_block.text and self.pinned_block.cut(text or "") == (text or ""):
            return False
        rest = first.contents[text is not None :] if first is not None else []
        sent = _stand_in(first, [Content.from_text(kept), *rest])
        # By itself: a message without its marks would have all the others marked again.
        annotate_message_groups([sent], tokenizer=self.tokenizer)
        messages[at : at + (first is not None)] = [sent]
        return True


def _stand_in(message: Message | None, contents: Sequence[Content]) -> _StandIn:
    """A message with other contents, or a request; nothing is shared that a call would mark."""
    found = _StandIn(
        message.role if message is not None else "user",
        contents,
        author_name=message.author_name if message is not None else None,
        message_id=message.message_id if message is not None else _OWN,
        additional_properties={
            key: value
            for key, value in (message.additional_properties if message is not None else {}).items()
            # Whether it is left out, and its size: for the framework to see anew.
            if key not in (EXCLUDED_KEY, GROUP_ANNOTATION_KEY)
        },
    )
    found.stands_for = message.stands_for if isinstance(message, _StandIn) else message
    return found


def _restored(messages: list[Message]) -> bool:
    """Take out what the last call was sent; within a tool loop it is the same list."""
    if not any(isinstance(message, _StandIn) for message in messages):
        return False
    own = [m.stands_for if isinstance(m, _StandIn) else m for m in messages]
    messages[:] = [message for message in own if message is not None]
    return True


def _excluded(message: Message) -> bool:
    return bool(message.additional_properties.get(EXCLUDED_KEY, False))


def _room(strategy: object) -> int | None:
    """The tokens that a strategy keeps to; None where it counts none."""
    if isinstance(strategy, TruncationStrategy):
        return strategy.max_n if strategy.tokenizer is not None else None
    for name in ("token_budget", "input_budget_tokens"):
        value = getattr(strategy, name, None)
        if isinstance(value, int):
            return value
    return None
