"""Compaction of an episode's history: the rounds, and what the compactor was shown.

Inspect (``inspect_ai.model.compaction``) compacts. This module feeds it the
history, records each round, and raises if a compaction did not run.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from inspect_ai.model import (
    ChatMessage,
    CompactionResult,
    CompactionStrategy,
    Model,
    compaction,
)
from inspect_ai.tool import ToolInfo
from pydantic import BaseModel, ConfigDict

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import (
    history_segments,
    message_texts,
    opening_messages,
    standing_messages,
    tool_infos,
)
from constraintrot.errors import EpisodeError
from constraintrot.grading.survival import survival
from constraintrot.tokens import count


class Round(BaseModel):
    """One compaction that ran.

    Attributes:
        number: number of the round, from 1.
        tokens_before: o200k tokens of the compactor's input.
        tokens_after: o200k tokens of the compacted context.
        messages_before: number of messages in the compactor's input.
        messages_after: number of messages in the compacted context.
        shown_verbatim: whether the compactor's input contained the policy verbatim.
        summary: the summary's text; None if the compactor writes none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    shown_verbatim: bool
    summary: str | None = None


class Compacted(BaseModel):
    """A compacted context (without the trigger), and the rounds that made it.

    Attributes:
        context: the messages that the agent is sent before the trigger.
        rounds: every compaction that ran.
        removed: sentences that a counterfactual deleted.
        degenerate: the compacted context does not contain the policy. Then a
            counterfactual has nothing to remove, and the removal has no effect.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: list[ChatMessage]
    rounds: list[Round]
    removed: list[str] = []
    degenerate: bool = False


class _Recorder(WrappedStrategy):
    """Records the inputs and outputs of the wrapped strategy; changes nothing."""

    def __init__(self, inner: CompactionStrategy) -> None:
        super().__init__(inner)
        self.shown: list[list[ChatMessage]] = []
        self.kept: list[list[ChatMessage]] = []
        self.summaries: list[str] = []

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        # The outcome is passed on as it is: it tells Inspect which strategy ran.
        # Merged messages are not split here: what Inspect does is what is measured.
        self.shown.append(list(messages))
        outcome = await self.inner.compact_outcome(model, messages, tools)
        self.kept.append(list(outcome.input))
        if outcome.message is not None:
            self.summaries.append(outcome.message.text)
        return outcome


def _recorded(inner: CompactionStrategy) -> _Recorder:
    """A recorder that has the wrapped strategy's class name in Inspect's events."""
    kind: type[_Recorder] = type(type(inner).__name__, (_Recorder,), {})
    return kind(inner)


def _unwrapped(strategy: CompactionStrategy) -> CompactionStrategy:
    return strategy


async def compact(
    episode: Episode,
    strategy: CompactionStrategy,
    model: Model,
    *,
    by_size: bool,
    wrap: Callable[[CompactionStrategy], CompactionStrategy] = _unwrapped,
) -> Compacted:
    """Play the history through a compactor, one round after each segment.

    Args:
        episode: the staged conversation; its trigger is not part of the context.
        strategy: the compactor.
        model: the agent's model.
        by_size: compact when the strategy's threshold is exceeded, instead of
            after every segment.
        wrap: the defense's hook around the compactor.

    Raises:
        EpisodeError: a compaction that was due did not run or changed nothing, or
            the compacted context is still above the threshold.
    """
    inner = _recorded(strategy)
    outer = _recorded(wrap(inner))
    opening = opening_messages(episode)
    tools = tool_infos(episode.variant.tools)
    handler = compaction(outer, prefix=opening, tools=tools, model=model)
    history = [*opening, *standing_messages(episode)]
    context: list[ChatMessage] = []
    rounds: list[Round] = []
    for segment in history_segments(episode):
        history += segment
        given = len(outer.shown), len(inner.shown)
        try:
            context, extra = await handler.compact_input(history, force=not by_size)
        except RuntimeError as error:
            if "ompaction" not in str(error):
                raise
            raise EpisodeError(
                "the compacted context is still above compact_at; raise compact_at, or choose a"
                " compactor that keeps less"
            ) from error
        if extra is not None:
            history.append(extra)
        if len(outer.shown) > given[0]:
            # A defense may compact instead of the compactor; then its record counts.
            ran, at = (inner, given[1]) if len(inner.shown) > given[1] else (outer, given[0])
            rounds.append(_round(len(rounds) + 1, (ran, at), context, episode))
        elif not by_size:
            raise EpisodeError(f"compaction round {len(rounds) + 1} did not run")
    if not rounds:
        raise EpisodeError(
            "compaction did not run: the history stayed below compact_at;"
            " give a larger context_tokens or a smaller compact_at"
        )
    kept = survival(after_opening(context), episode.policy, episode.variant.slots).kept
    return Compacted(context=context, rounds=rounds, degenerate=not kept)


def _round(
    number: int,
    ran: tuple[_Recorder, int],
    context: list[ChatMessage],
    episode: Episode,
) -> Round:
    recorder, at = ran
    shown = recorder.shown[at]
    before, after = message_texts(shown), message_texts(context)
    if before == message_texts(recorder.kept[-1]):
        raise EpisodeError(
            f"compaction round {number} changed nothing: the history is too short for this"
            " compactor; give a larger context_tokens"
        )
    return Round(
        number=number,
        tokens_before=sum(map(count, before)),
        tokens_after=sum(map(count, after)),
        messages_before=len(shown),
        messages_after=len(context),
        shown_verbatim=survival(before, episode.policy, {}).verbatim,
        summary=recorder.summaries[-1] if recorder.summaries else None,
    )


def diff(episode: Episode, after: Sequence[ChatMessage]) -> str:
    """The history before and after compaction, as a unified diff in Markdown."""
    before = [*opening_messages(episode), *standing_messages(episode)]
    before += [message for segment in history_segments(episode) for message in segment]
    lines = difflib.unified_diff(
        _lines(before), _lines(after), "before compaction", "after compaction", lineterm="", n=1
    )
    body = "\n".join(lines).replace("```", "'''")
    return f"### History before and after compaction\n\n```diff\n{body}\n```"


def _lines(messages: Sequence[ChatMessage]) -> list[str]:
    return [
        f"{message.role}: {line}"
        for message, text in zip(messages, message_texts(messages), strict=True)
        for line in text.splitlines()
    ]


def after_opening(context: Sequence[ChatMessage]) -> list[str]:
    """The texts of a context's messages, without the opening that a framework protects."""
    return message_texts(m for m in context if m.source != "input")
