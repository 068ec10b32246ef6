"""A registry's pins as a message of Inspect's: put in, found in any revision, and removed."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
    Model,
    get_model,
)

from constraintrot.compaction.strategy_wrapper import summarised
from constraintrot.defenses import MEASURING
from constraintrot.defenses.pinning.block_removal import Removed, removed
from constraintrot.defenses.pinning.message_list import MessageForm
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt, State, Where
from constraintrot.defenses.rampart import Registry
from constraintrot.rule_text.judge import JUDGE_PROMPT, read_vote
from constraintrot.rule_text.survival.states import SURVIVED

Judge: TypeAlias = Callable[[str, str], Awaitable[bool | None]]
"""Called with the policies and the context, as texts; returns None if it does not decide."""


def entailment(model: str | Model | None = None) -> Judge:
    """Return a judge of whether a context, taken as a whole, still entails a policy.

    Args:
        model: a model or its name; by default the role ``judge``.
    """

    async def judge(policy: str, context: str) -> bool | None:
        asked = get_model(model) if model is not None else get_model(role="judge")
        prompt = JUDGE_PROMPT.format(policy=policy, context=context)
        state = read_vote((await asked.generate(prompt)).completion)
        return None if state is None else state in SURVIVED

    return judge


SYSTEM: Final[MessageForm[ChatMessage]] = MessageForm(
    content=lambda message: message.content if message.role == "system" else None,
    replace=lambda message, content: message.model_copy(update={"content": content}),
    make=lambda text: ChatMessageSystem(content=text),
)
"""Inspect's system messages, in which a block needs no mark: only an operator writes them."""

# In a message's metadata: this was put in by us. No text can claim it.
PINNED = "pinned"


def pin_key(owner: str) -> str:
    """Return the metadata key of one owner's blocks; several owners can share a conversation."""
    return f"{PINNED}:{owner}"


def is_pinned(message: ChatMessage) -> bool:
    """Return whether a message is any owner's block, or holds one that Inspect merged into it."""
    return any(key.startswith(PINNED) for key in message.metadata or {})


def leading(messages: Sequence[ChatMessage]) -> int:
    """Return the number of system messages at the start."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return at


def without_pins(
    messages: Sequence[ChatMessage], cut: Callable[[str], str], key: str
) -> list[ChatMessage]:
    """Return the messages less every block that the key's owner ever put in.

    A message that holds nothing else goes; what somebody else added to it stays, as
    where Inspect merged it with others. What merely looks like a block is content, and stays.

    ``cut`` takes the blocks out of a message's text; ``key`` is in the owner's metadata.
    """
    kept: list[ChatMessage] = []
    for message in messages:
        if key not in (message.metadata or {}):
            kept.append(message)
        elif not as_made(message):
            rest = _rest(message, cut, key)
            if rest.content if isinstance(rest.content, list) else rest.content.strip():
                kept.append(rest)
    return kept


def made_id(kind: str, text: str) -> str:
    """Return the id of a message that is nothing but a block: the same for the same text."""
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def as_made(message: ChatMessage) -> bool:
    """Return whether a marked message is as we made it, in a revision that we may not know."""
    kind = (message.id or "").partition("-")[0]
    return isinstance(message.content, str) and message.id == made_id(kind, message.content)


def _rest(message: ChatMessage, cut: Callable[[str], str], key: str) -> ChatMessage:
    metadata = {name: value for name, value in (message.metadata or {}).items() if name != key}
    if isinstance(message.content, str):
        text = cut(message.content)
        return message.model_copy(update={"content": text, "metadata": metadata})
    parts = [
        part.model_copy(update={"text": cut(part.text)}) if isinstance(part, ContentText) else part
        for part in message.content
    ]
    kept = [part for part in parts if not isinstance(part, ContentText) or part.text]
    return message.model_copy(update={"content": kept, "metadata": metadata})


class Pins(PinnedBlock):
    """A registry's pinned tier in Inspect's messages.

    The arguments are those of ``PinnedBlock``, except these.

    Args:
        judge: decides whether a context still entails a policy, both as texts.
        report: called with each receipt; by default it goes to Inspect's transcript.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
        nonce: str | None = None,
    ) -> None:
        super().__init__(registry, heading=heading, report=report or _to_transcript, nonce=nonce)
        self.judge = judge

    @property
    def key(self) -> str:
        """The metadata key of messages that hold this registry's block."""
        return pin_key(self._marks.owner)

    def message(self) -> ChatMessageUser:
        """Return the block as a message, with the same id for the same pins."""
        text = self.text
        return ChatMessageUser(
            content=text, id=made_id("pins", text), metadata={self.key: self.registry.manifest()}
        )

    def inject(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages with the block after the leading system messages.

        Nothing before that place ever changes, so a prefix cache keeps it.
        """
        if not self.text:
            return list(messages)
        at = leading(messages)
        return [*messages[:at], self.message(), *messages[at:]]

    def bare(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages as they would be if this registry had never pinned anything."""
        said, _ = SYSTEM.without_blocks(messages, self)
        return without_pins(said, self._unmerged, self.key)

    def _unmerged(self, text: str) -> str:
        # The first: the block came before all that it was merged with but system messages,
        # and whoever quotes it further down is not to lose the quotation.
        start, end = next(self._marks.spans(text), (len(text), len(text)))
        before = text[:start].removesuffix("\n")
        behind = text[end:]
        return before + (behind.removeprefix("\n") if len(before) == start else behind)

    def find(self, messages: Sequence[ChatMessage]) -> int | None:
        """Return the index of the message that holds the block, or None."""
        text = self.text
        return next((at for at in self._own(messages) if text and text in messages[at].text), None)

    def unsaid(self, messages: Sequence[ChatMessage]) -> tuple[str, ...]:
        """Return the names of the pins that no block in a message of ours or the system's states.

        A quotation does not count, because it may say that the pin is withdrawn.
        """
        key = self.key
        return self.missing(
            message.text
            for message in messages
            if message.role == "system" or key in (message.metadata or {})
        )

    async def check(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages with the block in its place, once, and no earlier revision of it."""
        missing = self.unsaid(messages)
        said, gone = SYSTEM.without_blocks(messages, self)
        kept = said if self._in_place(said) else self.inject(self.bare(said))
        state = self._state(messages, kept, gone)
        if state != "verified":
            gone = (*gone, *self._gone(said))
        await self.step("call", state, kept, self.find(kept), missing, gone)
        return kept

    def _in_place(self, messages: Sequence[ChatMessage]) -> bool:
        """Return whether the block stands once, behind only system messages and others' blocks."""
        own, text = self._own(messages), self.text
        return (
            bool(text)
            and len(own) == 1
            and messages[own[0]].content == text
            and all(is_pinned(m) for m in messages[leading(messages) : own[0]])
        )

    def _gone(self, messages: Sequence[ChatMessage]) -> tuple[Removed, ...]:
        """Return the records of this registry's blocks in the messages."""
        texts = (messages[at].text for at in self._own(messages))
        return tuple(
            removed(text[start:end])
            for text in texts
            for start, end in islice(self._marks.spans(text), 1)
        )

    def _own(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the indices of the messages that this registry put in, by their metadata."""
        key = self.key
        return [at for at, message in enumerate(messages) if key in (message.metadata or {})]

    def _state(
        self,
        before: Sequence[ChatMessage],
        after: Sequence[ChatMessage],
        gone: tuple[Removed, ...],
    ) -> State:
        # Joined, since a provider may have had the block merged with its neighbours.
        if not gone and _whole(before) == _whole(after):
            return "verified"
        compacted = self._own(before) or any(map(summarised, before))
        return "repaired" if compacted else "injected"

    async def step(
        self,
        where: Where,
        state: State,
        messages: Sequence[ChatMessage],
        at: int | None,
        missing: tuple[str, ...] = (),
        removed: tuple[Removed, ...] = (),
    ) -> None:
        """Report a step, with the judge's opinion if there is a judge."""
        if MEASURING.get():
            return
        pins = self.registry.pins()
        entailed = None
        if self.judge is not None and pins:
            context = "\n\n".join(message.text for message in messages)
            entailed = await self.judge("\n".join(pin.content for pin in pins), context)
        self.receipt(state, where=where, at=at, missing=missing, entailed=entailed, removed=removed)


def _whole(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.text for message in messages)


def _to_transcript(receipt: Receipt) -> None:
    transcript().info(receipt.model_dump(mode="json"), source="pin receipt")
