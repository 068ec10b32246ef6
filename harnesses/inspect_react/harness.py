"""Inspect's own react() agent, with each of Inspect's compaction strategies.

A conversation is one run of the agent, whose ``on_continue`` gives it the next request.
Inspect never compacts the run's input, which is the neutral opening request here; the
policy comes after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import anyio
from inspect_ai.agent import Agent, AgentPrompt, react
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionAuto,
    CompactionEdit,
    CompactionNative,
    CompactionStrategy,
    CompactionSummary,
    CompactionTrim,
    Model,
    ModelAPI,
)

from constraintrot.defenses.pinning import PinnedCompaction, PinnedModel
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.inspect_react.client import (
    ReactSession,
    SessionModel,
    Turns,
    infos,
    tools,
)
from constraintrot.harnesses.session import Session
from constraintrot.tokens import count

# Share of the history at which a compaction is due that may fire more than once.
_TRIMMED = 0.5
# The same for a live agent, whose history may be shorter than the script's.
_LIVE = 0.6
# Inspect itself trims up to four times to get below a threshold.
_PASSES = 3
# Tokens that a pinned policy costs beside its text.
_PIN_FRAME = 40


def inspect_react(mode: str, live: bool) -> Harness:
    """Play an episode in react() with one of Inspect's strategies."""

    async def play(episode: Episode, settings: PlaySettings) -> Played:
        session = ReactSession(episode, settings, live=live, distribution="inspect-ai")
        model = SessionModel(session)
        strategy = await _strategy(mode, session, model) if session.compacts else None
        return await _played(session, model, strategy)

    return play


async def _played(
    session: Session, model: SessionModel, strategy: CompactionStrategy | None
) -> Played:
    asked: Model = model
    if session.pins is not None:
        asked, strategy = _pinned(session, model, strategy)

    def make(on_continue: object) -> Agent:
        return react(
            # Without Inspect's words about tools, which other harnesses' prompts lack.
            prompt=AgentPrompt(instructions=session.system, assistant_prompt=None),
            tools=tools(session),
            model=asked,
            submit=False,
            on_continue=on_continue,  # type: ignore[arg-type]
            compaction=strategy,
        )

    turns = Turns(make)
    fault: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(turns.run)
        try:
            return await session.run(turns.say)
        except Exception as error:
            # Raised outside, because the task group would wrap it.
            fault = error
        finally:
            turns.close()
    assert fault is not None, "else it has returned"
    raise fault


def _pinned(
    session: Session, model: SessionModel, strategy: CompactionStrategy | None
) -> tuple[SessionModel, CompactionStrategy | None]:
    assert session.pins is not None
    registry = session.pins.registry
    asked = PinnedModel(registry, model, heading=session.pins.heading, report=session.pins.report)
    if strategy is not None:
        strategy = PinnedCompaction(strategy, registry, pins=asked.pins)
    return asked, strategy  # type: ignore[return-value]


async def _strategy(mode: str, session: Session, model: SessionModel) -> CompactionStrategy:
    if mode == "native" and type(model.api).compact is ModelAPI.compact:
        raise ParameterError(
            f"{model} has no compaction of its own, which harness inspect_react:native needs;"
            " take inspect_react:auto, which falls back to a summary"
        )
    sizes = await _sizes(session, model)
    session.summarizes = mode in ("summary", "auto")
    if mode == "trim":
        return await _trim(session, model, sizes)
    if mode == "edit":
        return await _edit(session, model, sizes)
    limit = sizes.part(_LIVE) if session.live else sizes.at_last_call - 1
    if mode == "auto":
        return CompactionAuto(threshold=limit)
    if mode == "native":
        return CompactionNative(threshold=limit)
    return CompactionSummary(threshold=limit, model=model)


@dataclass(frozen=True)
class _Sizes:
    """Tokens of the scripted conversation, by react()'s counter.

    The size of a call is counted for the whole call: a sum of parts differs by a few tokens.

    Attributes:
        base: tools and system message.
        history: the messages after them, before the trigger.
        at_last_call: the size of the history's last call. A summary is due here, because it
            replaces the whole conversation and would swallow the trigger at its call.
        at_trigger: the size of the trigger's call, at which evicting strategies may compact.
    """

    base: int
    history: int
    at_last_call: int
    at_trigger: int
    trigger: int

    def part(self, share: float) -> int:
        """Return the size with a share of the history."""
        return self.base + int(share * self.history)


async def _sizes(session: Session, model: SessionModel) -> _Sizes:
    played = list(_played_messages(session))
    system, trigger = list(session.history[:1]), ChatMessageUser(content=session.trigger)
    offered = await model.count_tool_tokens(infos(session))
    return _Sizes(
        base=offered + await model.count_tokens(system),
        history=await model.count_tokens(played),
        at_last_call=offered + await model.count_tokens([*system, *played[:-1]]),
        at_trigger=offered + await model.count_tokens([*system, *played, trigger]),
        trigger=await model.count_tokens([trigger]),
    )


async def _trim(session: Session, model: SessionModel, sizes: _Sizes) -> CompactionStrategy:
    """Return the strategy for half of the history, or more if a huge message requires it."""
    played: list[ChatMessage] = [
        *_played_messages(session),
        ChatMessageUser(content=session.trigger),
    ]
    limit = sizes.part(_TRIMMED) + sizes.trigger
    for at in range(1, len(played) + 1):
        left = played[:at]
        for _ in range(_PASSES):
            left, _ = await CompactionTrim().compact(model, left, [])
        limit = max(limit, sizes.base + await model.count_tokens(left))
    return CompactionTrim(threshold=limit + _pin_allowance(session))


async def _edit(session: Session, model: SessionModel, sizes: _Sizes) -> CompactionStrategy:
    """Return the strategy that keeps Inspect's default of three results, or fewer.

    Raises:
        EpisodeError: the tools' results are too short for clearing to make room.
    """
    played = [*_played_messages(session), ChatMessageUser(content=session.trigger)]
    for keep in (3, 2, 1, 0):
        left, _ = await CompactionEdit(keep_tool_uses=keep).compact(model, played, [])
        needed = sizes.base + await model.count_tokens(left) + _pin_allowance(session)
        if needed < sizes.at_trigger:
            # A live agent's history may be shorter than the script's, so the least possible limit.
            limit = needed if session.live else sizes.at_trigger - 1
            return CompactionEdit(threshold=limit, keep_tool_uses=keep)
    raise EpisodeError(
        "what tools returned before the trigger is too short for inspect_react:edit to make room"
        " by clearing it; give a larger context_tokens"
    )


def _pin_allowance(session: Session) -> int:
    """Return tokens for the pins, added without pins too, so that both runs have the same limit."""
    return count(session.episode.policy) + _PIN_FRAME


def _played_messages(session: Session) -> Iterator[ChatMessage]:
    """Yield the history as react() plays it, without the system message."""
    for exchange in session.script:
        yield exchange.user
        results = iter(exchange.results)
        for reply in exchange.replies:
            yield reply
            for _ in reply.tool_calls or ():
                yield next(results)
