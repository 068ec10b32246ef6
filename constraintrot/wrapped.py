"""Compaction strategies around others, and what providers do to their output.

Some providers take no two user messages in a row, and Inspect then merges them
under a new id. A strategy that is given its own output back in that shape would
take the merged message for new content, so a wrapper takes it apart again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    ContentText,
    Model,
)
from inspect_ai.tool import ToolInfo

# Conversations of one strategy run side by side; each has at most a few runs.
_KEPT = 1024


class WrappedStrategy(CompactionStrategy):
    """Another strategy, with something done around it: override ``around``.

    Args:
        inner: the strategy; its kind, threshold and memory warning are passed on.
    """

    def __init__(self, inner: CompactionStrategy) -> None:
        # An inner strategy's kind is passed on, whatever later kinds there will be.
        super().__init__(type=inner.type, threshold=inner.threshold, memory=inner.memory)
        self.inner = inner
        self._collapsed = Collapsed()

    @property
    def preserve_prefix(self) -> bool:
        return self.inner.preserve_prefix

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        outcome = await self.compact_outcome(model, messages, tools)
        return outcome.input, outcome.message

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        outcome = await self.around(model, self._collapsed.undo(messages), tools)
        self._collapsed.remember(outcome.input)
        return outcome

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        """Compact messages that stand as this strategy last gave them out."""
        return await self.inner.compact_outcome(model, messages, tools)


class Collapsed:
    """The runs of adjacent messages that a strategy gave out, to know them merged."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, list[ChatMessage]] = OrderedDict()

    def remember(self, messages: Sequence[ChatMessage]) -> None:
        """Keep every run of adjacent user or system messages."""
        for run in _runs(messages):
            self._runs[_digest(run)] = list(run)
        while len(self._runs) > _KEPT:
            self._runs.popitem(last=False)

    def undo(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages with each known merged one taken apart again."""
        found: list[ChatMessage] = []
        for message in messages:
            merged = "combined_from" in (message.metadata or {})
            found += self._runs.get(_digest([message]), [message]) if merged else [message]
        return found


def without(messages: Sequence[ChatMessage], block: str) -> list[ChatMessage]:
    """The messages less a block of text; a user or system message left empty goes."""
    kept: list[ChatMessage] = []
    for message in messages:
        if not block or message.role not in ("system", "user") or block not in message.text:
            kept.append(message)
            continue
        rest = _less(message, block)
        if rest.text.strip():
            kept.append(rest)
    return kept


def _less(message: ChatMessage, block: str) -> ChatMessage:
    if isinstance(message.content, str):
        return message.model_copy(update={"content": _cut(message.content, block)})
    parts = [
        part.model_copy(update={"text": _cut(part.text, block)})
        if isinstance(part, ContentText)
        else part
        for part in message.content
    ]
    kept = [part for part in parts if not isinstance(part, ContentText) or part.text]
    return message.model_copy(update={"content": kept})


def _cut(text: str, block: str) -> str:
    """A text less a block, and less the line break that joined the two."""
    for joined in (f"{block}\n", f"\n{block}", block):
        text = text.replace(joined, "")
    return text


def _runs(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    runs: list[list[ChatMessage]] = []
    for message in messages:
        if runs and runs[-1][-1].role == message.role:
            runs[-1].append(message)
        else:
            runs.append([message])
    return [run for run in runs if len(run) > 1 and run[0].role in ("user", "system")]


def _digest(run: Sequence[ChatMessage]) -> str:
    text = f"{run[0].role}\n" + "\n".join(message.text for message in run)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
