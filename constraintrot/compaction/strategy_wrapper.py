"""A compaction strategy that wraps another one, and undoes Inspect's merging of messages.

Some providers accept no two user messages in a row, and Inspect then merges them
under a new id. When a strategy gets its earlier output back merged, it would take
the merged message for new content. So the wrapper splits it again first.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageBase,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    Content,
    ContentText,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compactors.turns import (
    ATTEMPTS,
    CUT,
    RETRIES,
    check_fits,
    partition,
    summary_body,
)
from constraintrot.episode.model_output import withheld
from constraintrot.episode.scaffold.review import without_thought
from constraintrot.errors import EpisodeError, NoSummaryError

# Inspect's metadata key on a merged message: the ids of the messages it was made from.
MERGED = "combined_from"
# One strategy serves several conversations at once, each with a few runs at most.
_KEPT = 1024


class WrappedStrategy(CompactionStrategy):
    """A strategy around another one, whose type and threshold it keeps; override ``around``."""

    def __init__(self, inner: CompactionStrategy) -> None:
        # The type is passed on unchecked, so that types of a later Inspect work.
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
        """Compact messages in the form in which this strategy last returned them."""
        return await self.inner.compact_outcome(model, messages, tools)


class Collapsed:
    """The runs of adjacent messages that a strategy returned, to recognise them when merged.

    The key of a run is the id of its last message, which Inspect keeps on the merged
    message, and its whole content, which tells conversations apart.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[str, list[ChatMessage]] = OrderedDict()

    def remember(self, messages: Sequence[ChatMessage]) -> None:
        """Record every run of adjacent user or system messages."""
        for run in _runs(messages):
            key = _key(run[-1].id, run)
            self._runs[key] = list(run)
            self._runs.move_to_end(key)
        while len(self._runs) > _KEPT:
            self._runs.popitem(last=False)

    def undo(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages, with every merged run split again."""
        split: list[ChatMessage] = []
        for message in messages:
            parts = (message.metadata or {}).get(MERGED)
            run = self._runs.get(_key(parts[-1], [message])) if parts else None
            split += run or [message]
        return split


def merged(message: ChatMessage) -> bool:
    return MERGED in (message.metadata or {})


def summarised(message: ChatMessage) -> bool:
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
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: str | list[Content]) -> list[Content]:
    return [ContentText(text=content)] if isinstance(content, str) else content


class SummaryCheck(WrappedStrategy):
    """A wrapper that checks a compactor's output, and asks once more if it has no summary.

    Most of this package's strategies already retry each summary. Inspect's accept an empty one, a
    refusal, and a provider's error about filtered content.
    """

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        for attempt in range(ATTEMPTS):
            before = len(transcript().events)
            outcome = await _outcome(self.inner, model, messages, tools)
            asked = _asked(before)
            # Earlier answers may be attempts that the strategy itself refused.
            last = asked[-1] if asked and outcome.message is not None else None
            if last is not None:
                check_fits(last)
            said = outcome.message is None or without_thought(summary_body(outcome.message.text))
            if said and not (last is not None and withheld(last)):
                cut = sum(
                    one.stop_reason == "max_tokens" and without_thought(one.completion) != ""
                    for one in asked
                )
                return _marked(outcome, {RETRIES: attempt, CUT: cut})
            transcript().info({"attempt": attempt + 1}, source="empty summary")
        raise NoSummaryError(
            "the summarizer wrote no summary, when asked again too, which is no decay"
        )


async def _outcome(
    inner: CompactionStrategy, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
) -> CompactionResult:
    """Return a compactor's outcome, which must hold the protected opening.

    A provider's own compaction may leave it out.
    """
    name = f"compactor {type(inner).__name__}"
    if type(inner).compact_outcome is CompactionStrategy.compact_outcome:
        made: Any = await inner.compact(model, messages, tools)
        pair: Any = made if isinstance(made, tuple) and len(made) == 2 else (None, None)
        kept, summary = pair
        listed = isinstance(kept, list) and all(isinstance(one, ChatMessageBase) for one in kept)
        if not listed or not isinstance(summary, ChatMessageUser | None):
            raise EpisodeError(
                f"{name}: compact must return a list of messages, and the summary's message or"
                f" None; it returned {str(made)[:100]}"
            )
        outcome = CompactionResult(kept, summary, inner.preserve_prefix, type(inner).__name__)
    else:
        outcome = await inner.compact_outcome(model, messages, tools)
    ids = {message.id for message in outcome.input}
    lost = sum(message.id not in ids for message in partition(messages).protected)
    if lost and outcome.preserve_prefix:
        raise EpisodeError(
            f"{name} dropped {lost} messages of the protected opening; put"
            " partition(messages).protected first in what compact returns"
        )
    return outcome


def _asked(before: int) -> list[ModelOutput]:
    """Return the answers of the model calls after ``before`` events."""
    return [one.output for one in transcript().events[before:] if isinstance(one, ModelEvent)]


def _marked(outcome: CompactionResult, counts: dict[str, int]) -> CompactionResult:
    """Return the outcome with the counts above 0 in the metadata of the summary's message."""
    counts = {name: n for name, n in counts.items() if n}
    message = outcome.message
    if not counts or message is None:
        return outcome
    marked = message.model_copy(update={"metadata": {**(message.metadata or {}), **counts}})
    kept = [marked if one.id == message.id else one for one in outcome.input]
    return outcome._replace(input=kept, message=marked)
