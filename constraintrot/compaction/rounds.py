"""Compaction of an episode's history, round by round.

Inspect (``inspect_ai.model.compaction``) compacts. This module feeds it the
history, records each round, and raises if a compaction did not run.
"""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    Model,
    compaction,
)
from inspect_ai.tool import ToolInfo
from pydantic import Field

from constraintrot.compaction.context_cache import SharedDraws, digest
from constraintrot.compaction.strategy_wrapper import SummaryCheck, WrappedStrategy
from constraintrot.compactors.turns import CUT, RETRIES, SUMMARIZER_OVERFLOWED
from constraintrot.components import returned
from constraintrot.episode.episode import Episode, Message
from constraintrot.episode.messages import (
    history_segments,
    message_texts,
    opening_messages,
    standing_messages,
    tool_infos,
)
from constraintrot.errors import EpisodeError
from constraintrot.rule_text.survival import mentions
from constraintrot.strict import Strict
from constraintrot.tokens import count

Degenerate: TypeAlias = Literal["no_policy", "nothing_left", "no_match"]


class Round(Strict):
    """One compaction that ran.

    Attributes:
        tokens_before: o200k tokens of the messages given to the compactor.
        tokens_after: o200k tokens of the context after the round.
        shown_verbatim: whether the compactor was shown the policy's text verbatim.
        retries: number of blank summaries before it.
        cut: number of its texts that the summarizer's token limit cut off.
    """

    number: int
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    shown_verbatim: bool
    summary: str | None = None
    retries: int = 0
    cut: int = 0


class Compacted(Strict):
    """A compacted context (without the trigger), and the rounds that made it.

    Attributes:
        removed: clauses that a counterfactual deleted.
        removed_characters: their share of what the compactor wrote, 0 to 1.
        made_here: whether the compactor was asked for this episode, and not for
            another one that shows it the same messages.
        draw: hash of the compactor's output in all rounds, without a defense's additions;
            None if it was not asked. Two conditions that start from one summary share it.
        degenerate: why the policy's removal can show nothing: ``no_policy`` in the context,
            ``nothing_left`` without it, or ``no_match`` for the sham; None if it can.
    """

    context: list[ChatMessage]
    rounds: list[Round]
    removed: list[str] = Field(default_factory=list)
    removed_characters: float = 0.0
    removed_tokens: float = 0.0
    made_here: bool = True
    draw: str | None = None
    degenerate: Degenerate | None = None


class _Recorder(WrappedStrategy):
    """Records the inputs and outputs of the wrapped strategy; changes nothing."""

    def __init__(self, inner: CompactionStrategy) -> None:
        super().__init__(inner)
        self.shown: list[list[ChatMessage]] = []
        self.kept: list[list[ChatMessage]] = []
        self.summaries: list[ChatMessageUser] = []

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        # The outcome is passed on unchanged, because it tells Inspect which strategy ran.
        # Merged messages are not split here, because the measure is of what Inspect does.
        self.shown.append(list(messages))
        outcome = await self.inner.compact_outcome(model, messages, tools)
        self.kept.append(list(outcome.input))
        if outcome.message is not None:
            self.summaries.append(outcome.message)
        return outcome


def _recorded(inner: CompactionStrategy, name: str) -> _Recorder:
    """A recorder that has a strategy's name in Inspect's events."""
    kind: type[_Recorder] = type(name, (_Recorder,), {})
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
    share_as: str | None = None,
) -> Compacted:
    """Play the history through a compactor, one round after each segment.

    With ``by_size`` it compacts when the messages, without the tools' definitions, exceed the
    strategy's threshold. Episodes of the run that show the compactor the same messages share its
    output under the key ``share_as``.
    """
    asked: CompactionStrategy = SummaryCheck(strategy)
    draws = SharedDraws(asked, share_as) if share_as is not None else None
    inner = _recorded(draws or asked, type(strategy).__name__)
    wrapped = returned(getattr(wrap, "__self__", wrap), "wrap", wrap(inner), CompactionStrategy)
    outer = _recorded(wrapped, type(wrapped).__name__)
    tools = tool_infos(episode.tools)
    if by_size:
        # Inspect adds the tools' definitions to the size; no compactor makes those shorter.
        outer.threshold += await model.count_tool_tokens(tools)
    opening = opening_messages(episode)
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
            raise EpisodeError(_too_long(str(error), by_size=by_size)) from error
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
    held = mentions(after_opening(context), episode.policy, episode.variant.slots).kept
    given_back = [message_texts(messages) for messages in inner.kept]
    return Compacted(
        context=context,
        rounds=rounds,
        made_here=draws is None or draws.made,
        draw=digest({"given back": given_back}) if given_back else None,
        degenerate=None if held else "no_policy",
    )


def _too_long(error: str, *, by_size: bool) -> str:
    if "summary generation" in error:
        return SUMMARIZER_OVERFLOWED
    limit = "compact_at; raise compact_at, or" if by_size else "what the agent's window holds;"
    return f"the compacted context is still above {limit} choose a compactor that keeps less"


def _round(
    number: int,
    ran: tuple[_Recorder, int],
    context: list[ChatMessage],
    episode: Episode,
) -> Round:
    recorder, at = ran
    before = message_texts(recorder.shown[at])
    if before == message_texts(recorder.kept[-1]):
        raise EpisodeError(
            f"compaction round {number} changed nothing: the history is too short for this"
            " compactor; give a larger context_tokens"
        )
    summary = recorder.summaries[-1] if recorder.summaries else None
    return round_of(number, before, message_texts(context), episode.policy, summary)


def round_of(
    number: int,
    before: Sequence[str],
    after: Sequence[str],
    policy: str,
    summary: ChatMessage | None,
) -> Round:
    marks = {} if summary is None else summary.metadata or {}
    return Round(
        number=number,
        tokens_before=sum(map(count, before)),
        tokens_after=sum(map(count, after)),
        messages_before=len(before),
        messages_after=len(after),
        shown_verbatim=mentions(before, policy, {}).verbatim,
        summary=None if summary is None else summary.text,
        retries=int(marks.get(RETRIES, 0)),
        cut=int(marks.get(CUT, 0)),
    )


def diff(episode: Episode, after: Sequence[ChatMessage]) -> str:
    """Return the history before and after compaction as a unified diff in Markdown."""
    before = [*episode.opening.messages]
    before += [m for turn in episode.standing for m in turn.messages]
    before += [m for segment in episode.segments for turn in segment for m in turn.messages]
    shown = [
        (message.role, text) for message, text in zip(after, message_texts(after), strict=True)
    ]
    lines = difflib.unified_diff(
        # The texts as they were staged: chat messages of a whole history cost as much as the diff.
        _lines((message.role, _text(message)) for message in before),
        _lines(shown),
        "before compaction",
        "after compaction",
        lineterm="",
        n=1,
    )
    body = "\n".join(lines).replace("```", "'''")
    return f"### History before and after compaction\n\n```diff\n{body}\n```"


def _text(message: Message) -> str:
    """Return a staged message's text as ``message_texts`` gives that of its chat message."""
    call = message.call if message.role == "assistant" else None
    values = call.arguments.values() if call else ()
    return "\n".join(part for part in (message.text, *map(str, values)) if part)


def _lines(messages: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{role}: {line}" for role, text in messages for line in text.splitlines()]


def after_opening(context: Sequence[ChatMessage]) -> list[str]:
    """Return the texts of a context's messages, without the protected opening."""
    return message_texts(m for m in context if m.source != "input")
