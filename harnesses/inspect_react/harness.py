"""Inspect's own react() agent, with each of Inspect's compaction strategies.

All of a conversation is one run of the agent, whose ``on_continue`` gives it the
next request. Inspect never compacts its input, here the neutral opening request,
so the policy is what comes after it.
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

# How much of the history there is when a compaction is due, where it may fire more than once.
_TRIMMED = 0.5
# A live agent writes as much as it likes; its history may fall short of the script's.
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
            # Inspect's words about tools are in no other harness's prompt.
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
            # Raised out here, a group would wrap it.
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
    """Tokens of the scripted conversation, by the counter that react() goes by.

    What is due at a call is counted as that call is, and not as a sum, from which it
    differs by a few tokens.

    Attributes:
        base: tools and system message.
        history: what comes after them, before the trigger.
        at_last_call: at the history's last call. A summary replaces all that was said,
            the latest request included, so it is due here: at the trigger's call it
            would swallow the trigger.
        at_trigger: at the trigger's call, where what evicts may compact.
        trigger: the trigger.
    """

    base: int
    history: int
    at_last_call: int
    at_trigger: int
    trigger: int

    def part(self, share: float) -> int:
        """Return the tokens at which a part of the history is there."""
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
    """The strategy at half of the history, or where a huge message keeps it from getting there."""
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
    """The strategy with Inspect's three results kept, or fewer of a short history.

    Raises:
        EpisodeError: what tools returned is too little for any clearing to do.
    """
    played = [*_played_messages(session), ChatMessageUser(content=session.trigger)]
    for keep in (3, 2, 1, 0):
        left, _ = await CompactionEdit(keep_tool_uses=keep).compact(model, played, [])
        needed = sizes.base + await model.count_tokens(left) + _pin_allowance(session)
        if needed < sizes.at_trigger:
            # A live agent may never come as far as the script; less than this is too little.
            limit = needed if session.live else sizes.at_trigger - 1
            return CompactionEdit(threshold=limit, keep_tool_uses=keep)
    raise EpisodeError(
        "what tools returned before the trigger is too short for inspect_react:edit to make room"
        " by clearing it; give a larger context_tokens"
    )


def _pin_allowance(session: Session) -> int:
    """Tokens for the pins, as many without them, so that the two are compared on the same terms."""
    return count(session.episode.policy) + _PIN_FRAME


def _played_messages(session: Session) -> Iterator[ChatMessage]:
    """The history as react() plays it, the system message left out."""
    for exchange in session.script:
        yield exchange.user
        results = iter(exchange.results)
        for reply in exchange.replies:
            yield reply
            for _ in reply.tool_calls or ():
                yield next(results)
