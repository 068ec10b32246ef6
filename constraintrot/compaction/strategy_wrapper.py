"""Compaction strategies around others, and what providers do to their output.

Some providers take no two user messages in a row, and Inspect then merges them
under a new id. A strategy that is given its own output back in that shape would
take the merged message for new content, so a wrapper takes it apart again.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    Content,
    ContentText,
    Model,
)
from inspect_ai.tool import ToolInfo

# Inspect's own key for what a merged message was made of.
MERGED = "combined_from"
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
    """The runs of adjacent messages that a strategy gave out, to know them merged.

    A run is known by the id of its last message, which Inspect keeps on the merged
    one, and by its whole content: another conversation's run is not taken for it.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[str, list[ChatMessage]] = OrderedDict()

    def remember(self, messages: Sequence[ChatMessage]) -> None:
        """Keep every run of adjacent user or system messages."""
        for run in _runs(messages):
            key = _key(run[-1].id, run)
            self._runs[key] = list(run)
            self._runs.move_to_end(key)
        while len(self._runs) > _KEPT:
            self._runs.popitem(last=False)

    def undo(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages with each known merged one taken apart again."""
        found: list[ChatMessage] = []
        for message in messages:
            parts = (message.metadata or {}).get(MERGED)
            run = self._runs.get(_key(parts[-1], [message])) if parts else None
            found += run or [message]
        return found


def merged(message: ChatMessage) -> bool:
    """Whether Inspect made a message of several."""
    return MERGED in (message.metadata or {})


def summarised(message: ChatMessage) -> bool:
    """Whether a message is, or holds, a compactor's summary: a model's text in the user's role."""
    return "summary" in (message.metadata or {})


def _runs(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    runs: list[list[ChatMessage]] = []
    for message in messages:
        if runs and runs[-1][-1].role == message.role:
            runs[-1].append(message)
        else:
            runs.append([message])
    return [run for run in runs if len(run) > 1 and run[0].role in ("user", "system")]


def _key(last: str | None, run: Sequence[ChatMessage]) -> str:
    content = run[0].content
    for message in run[1:]:
        content = _joined(content, message.content)
    plain = content if isinstance(content, str) else [part.model_dump() for part in content]
    text = json.dumps([run[0].role, last, plain], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _joined(one: str | list[Content], other: str | list[Content]) -> str | list[Content]:
    """Two contents as Inspect merges them."""
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: str | list[Content]) -> list[Content]:
    return [ContentText(text=content)] if isinstance(content, str) else content
