"""Compacting an episode's history: the rounds, and what the compactor was shown.

Inspect's own machinery (``inspect_ai.model.compaction``) does the compacting;
this module stages it, records it, and refuses a compaction that did not run.
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
        number: from 1.
        tokens_before: o200k tokens of the messages given to the compactor.
        tokens_after: the same of what it gave back.
        messages_before: how many messages it was given.
        messages_after: how many it gave back.
        shown_verbatim: whether the policy's text stood in what it was shown.
        summary: the summary's text, where one came out.
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
        context: what the agent is sent, before the trigger.
        rounds: every compaction that ran.
        removed: sentences that a counterfactual deleted.
        degenerate: the context held no policy, so there is nothing to remove and
            no difference to ascribe to its removal.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: list[ChatMessage]
    rounds: list[Round]
    removed: list[str] = []
    degenerate: bool = False


class _Recorder(WrappedStrategy):
    """Keeps what the wrapped strategy was given and gave back; changes nothing."""

    def __init__(self, inner: CompactionStrategy) -> None:
        super().__init__(inner)
        self.shown: list[list[ChatMessage]] = []
        self.kept: list[list[ChatMessage]] = []
        self.summaries: list[str] = []

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        # Inspect asks a strategy that delegates which one ran, so that is passed
        # on; nothing is taken apart, for what is measured is what Inspect does.
        self.shown.append(list(messages))
        outcome = await self.inner.compact_outcome(model, messages, tools)
        self.kept.append(list(outcome.input))
        if outcome.message is not None:
            self.summaries.append(outcome.message.text)
        return outcome


def _recorded(inner: CompactionStrategy) -> _Recorder:
    """A recorder that goes by the wrapped strategy's name in Inspect's events."""
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
    """Play the history through a compactor, a round after each segment.

    Args:
        episode: the staged conversation; its trigger is not touched.
        strategy: the compactor.
        model: the agent's model.
        by_size: compact where the strategy's threshold says so, instead of
            after every segment.
        wrap: what a defense puts around the compactor.

    Raises:
        EpisodeError: a compaction that was due did not run or changed nothing.
    """
    inner = _recorded(strategy)
    outer = _recorded(wrap(inner))
    opening = opening_messages(episode)
    tools = tool_infos(episode.tools)
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
            # A defense may compact by itself; then it is the compactor.
            ran, at = (inner, given[1]) if len(inner.shown) > given[1] else (outer, given[0])
            rounds.append(_round(len(rounds) + 1, (ran, at), context, episode))
        elif not by_size:
            raise EpisodeError(f"compaction round {len(rounds) + 1} did not run")
    if not rounds:
        raise EpisodeError(
            "compaction did not run: the history stayed below compact_at;"
            " give a larger context_tokens or a smaller compact_at"
        )
    held = survival(after_opening(context), episode.policy, episode.variant.slots).kept
    return Compacted(context=context, rounds=rounds, degenerate=not held)


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
    """What a context says behind the opening, which a framework protects."""
    return message_texts(m for m in context if m.source != "input")
