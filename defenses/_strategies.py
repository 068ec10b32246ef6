"""Strategies around a compactor, for the defenses that act there."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, CompactionResult, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.compactors.turns import flat, partition
from constraintrot.episode.messages import with_texts
from constraintrot.rule_text import orders as cues

HEAD = "head"


class Noticing(WrappedStrategy):
    """Calls back with the messages before a compaction, and with its output after it."""

    def __init__(
        self,
        inner: CompactionStrategy,
        before: Callable[[Sequence[ChatMessage]], Awaitable[None]],
        after: Callable[[Sequence[ChatMessage]], None],
    ) -> None:
        super().__init__(inner)
        self._before = before
        self._after = after

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        await self._before(messages)
        outcome = await super().around(model, messages, tools)
        self._after(outcome.input)
        if outcome.message is not None:
            self._after([outcome.message])
        return outcome


class RetainedHead(WrappedStrategy):
    """Keeps the first turns after the protected messages as they are.

    They are chosen at the first compaction, and marked.
    """

    def __init__(self, inner: CompactionStrategy, turns: int) -> None:
        super().__init__(inner)
        self.turns = turns

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        head = self._head(messages)
        ids = {message.id for message in head}
        rest = [message for message in messages if message.id not in ids]
        outcome = await super().around(model, rest, tools)
        protected = {message.id for message in partition(messages).protected}
        at = 0
        while at < len(outcome.input) and outcome.input[at].id in protected:
            at += 1
        return outcome._replace(input=[*outcome.input[:at], *head, *outcome.input[at:]])

    def _head(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        marked = [message for message in messages if HEAD in (message.metadata or {})]
        if marked:
            return marked
        first = flat(partition(list(messages)).turns[: self.turns])
        return [
            message.model_copy(update={"metadata": {**(message.metadata or {}), HEAD: True}})
            for message in first
        ]


class Replaced(WrappedStrategy):
    """Compacts by a function of the messages instead of by the strategy."""

    def __init__(
        self,
        inner: CompactionStrategy,
        rebuild: Callable[[Sequence[ChatMessage]], list[ChatMessage]],
    ) -> None:
        super().__init__(inner)
        self._rebuild = rebuild

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        return CompactionResult(self._rebuild(messages), None, True, type(self).__name__)


# A sanitised text has markers in place of the sentences that pose as an order or an authority.
_MARKERS = {kind: f"[removed from this tool result: {kind}]" for kind in cues.KINDS}


def sanitize(text: str) -> tuple[str, list[str]]:
    """Return a text with markers for sentences that pose as order or authority, and their kinds."""
    parts = cues.parts(text)
    # A marker names the summarizer too, but needs no neutralising.
    read = ("" if part.strip() in _MARKERS.values() else part for part in parts)
    kinds = cues.kinds_of(list(read))
    if not any(kinds):
        return text, []
    written = (
        part if kind is None else _MARKERS[kind] + _trailing(part)
        for part, kind in zip(parts, kinds, strict=True)
    )
    return "".join(written), [kind for kind in kinds if kind]


def _trailing(part: str) -> str:
    """Return the blanks at a part's end, so that lines stay lines."""
    return part[len(part.rstrip()) :]


class SanitizedCompaction(WrappedStrategy):
    """Any strategy, shown sanitised tool results.

    The messages that it keeps come out as they went in.

    Attributes:
        neutralised: parts replaced so far, by what they posed as.
    """

    def __init__(self, inner: CompactionStrategy) -> None:
        super().__init__(inner)
        self.neutralised: Counter[str] = Counter()

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        seen: Counter[str] = Counter()

        def clean(text: str) -> str:
            cleaned, kinds = sanitize(text)
            seen.update(kinds)
            return cleaned

        shown = [with_texts(one, clean) if one.role == "tool" else one for one in messages]
        if seen:
            self.neutralised.update(seen)
            transcript().info({"neutralised": dict(seen)}, source="sanitize_summarizer")
        outcome = await super().around(model, shown, tools)
        return outcome._replace(input=_originals(outcome.input, shown, messages))


def _originals(
    kept: Sequence[ChatMessage], shown: Sequence[ChatMessage], messages: Sequence[ChatMessage]
) -> list[ChatMessage]:
    """Return the messages that a strategy kept, the unchanged ones with their original text.

    A message that the strategy itself changed stays as the strategy wants it.
    """
    were = {
        ours.id: (ours, original)
        for ours, original in zip(shown, messages, strict=True)
        if ours is not original
    }
    put_back: list[ChatMessage] = []
    for message in kept:
        ours, original = were.get(message.id, (None, message))
        put_back.append(original if message == ours else message)
    return put_back
