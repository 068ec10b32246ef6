"""A context pipeline plays an episode: every request goes through all of its layers.

The history is sent segment by segment, as a client sends all of it with every request, and is
compacted after each segment if the condition compacts. Then the trigger comes. A pinning defense
gives the pipeline its pins; others wrap the compactor and assemble the messages after the layers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, CompactionStrategy, GenerateConfig, Model, get_model
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.context_cache import SharedDraws
from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import Compacted, Round, after_opening, diff, round_of
from constraintrot.compaction.strategy_wrapper import SummaryCheck
from constraintrot.components import returned
from constraintrot.defenses.pinning.pins import Pins
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import (
    before_trigger,
    history_segments,
    message_texts,
    opening_messages,
    standing_messages,
    trigger_messages,
)
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.defense import assembled
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.agent_call import check_trigger, config_for, offered, read_output
from constraintrot.harnesses.cost import Clock
from constraintrot.harnesses.input_checks import framework_pins
from constraintrot.harnesses.replay import Agent, Asked
from constraintrot.memory.pipeline import Pipeline, Prepared, Trace
from constraintrot.memory.pipeline.cache import replayed
from constraintrot.memory.pipeline.context import DEFAULT, Compaction, Session
from constraintrot.memory.pipeline.history import HANDOFF_AFTER, THRESHOLD
from constraintrot.memory.pipeline.pipeline import settings_of
from constraintrot.memory.pipeline.profiles import Profile, layers
from constraintrot.rule_text.survival import mentions

COMPACTING: Final = frozenset({"compaction", "handoff"})


class PolicyWatch:
    """A watch that names the layer which removed the policy's words from a request.

    ``Pipeline.prepare`` calls it with each layer's name and the messages as the layer leaves them.

    Attributes:
        lost_at: the layer that lost the policy; None while the words are present.
    """

    def __init__(self, episode: Episode, session: Session) -> None:
        self._episode, self._session = episode, session
        self._held = False
        self.lost_at: str | None = None

    def start(self, messages: Sequence[ChatMessage]) -> None:
        self._held = self.holds(messages)

    def __call__(self, layer: str, messages: Sequence[ChatMessage]) -> None:
        holds = self.holds(messages)
        if self._held and not holds:
            self.lost_at = self.lost_at or self._loser(layer)
        elif holds:
            self.lost_at = None
        self._held = holds

    def _loser(self, layer: str) -> str:
        """Return the layer, or the one of the two compacting layers that dropped the policy."""
        if layer not in COMPACTING:
            return layer
        history = self._session.history
        left_out = (r.kind for r in history if self.holds(r.shown) and not self.holds(r.kept))
        return next(left_out, layer)

    def holds(self, messages: Sequence[ChatMessage]) -> bool:
        """Return whether the policy's words are in the messages, the request left out."""
        episode = self._episode
        texts = message_texts(before_trigger(messages, episode.trigger.messages[-1].text))
        return mentions(texts, episode.policy, episode.variant.slots).kept


SESSION = "episode"


def pipeline(mode: str, live: bool) -> Harness:
    """Play an episode through all layers of the profile ``kept``."""
    return play


@dataclass(frozen=True)
class Stack:
    """The layers that an episode is played through."""

    profile: Profile = "kept"
    only: frozenset[str] | None = None  # names of the enabled layers; None for all
    extra_tools: tuple[ToolInfo, ...] = field(default=())  # further tools, for the pruning layer
    # Whether the same request was answered before, in a conversation of the same tenant without the
    # policy, so that the caches hold that answer.
    primed: bool = False
    # Whether the tools that the agent acts with are never pruned. Without them the agent is silent,
    # and only the pruning layer is measured.
    core: bool = True


async def play(episode: Episode, settings: PlaySettings) -> Played:
    """Play an episode through all layers."""
    return await Run(episode, settings, Stack()).played()


class Run:
    def __init__(self, episode: Episode, settings: PlaySettings, stack: Stack) -> None:
        self.episode, self.settings, self.stack = episode, settings, stack
        self.model: Model = get_model(role="agent")
        self.defense = settings.defense.make(episode.declared)
        pins = framework_pins(self.defense)
        assert pins is None or isinstance(pins, Pins), "the package's own pins know Inspect"
        self.pins = pins
        self.draws: SharedDraws | None = None
        self.tools = [*offered(episode, settings.scaffold), *stack.extra_tools]
        self.pipeline = self._pipeline()
        self.clock = Clock()
        session = self.pipeline.sessions.get("", SESSION)
        self.watch = PolicyWatch(episode, session)

    def _pipeline(self) -> Pipeline:
        settings = self.settings
        strategy: CompactionStrategy = SummaryCheck(settings.compactor.make())
        if settings.share_as is not None and not self.defense.touches_summarizer:
            strategy = self.draws = SharedDraws(strategy, settings.share_as)
        if self.pins is None:
            wrapped = self.defense.wrap(strategy)
            strategy = returned(self.defense, "wrap", wrapped, CompactionStrategy)
        at = settings.compactor.settings.compact_at
        threshold = THRESHOLD if at is None else min(1.0, at / DEFAULT.total)
        every = layers(
            strategy,
            self.stack.profile,
            threshold=threshold,
            # Alone it would never be due, because it comes after compactions.
            handoff_after=0 if self.stack.only == frozenset({"handoff"}) else HANDOFF_AFTER,
            core=[tool.name for tool in self.episode.variant.tools] if self.stack.core else (),
        )
        off = frozenset[str]() if settings.condition.compacts else COMPACTING
        only = self.stack.only
        on = [one for one in every if one.name not in off and (only is None or one.name in only)]
        return Pipeline(on, pins=self.pins)

    async def played(self) -> Played:
        if self.stack.primed:
            await self._prime()
        history = await self._history()
        self.clock.lap("seconds_compaction")
        compacted = self._compacted()
        if compacted is not None:
            transcript().info(diff(self.episode, compacted.context), source="compaction diff")
        agent = _Agent(self)
        return agent.played(await agent.act(history), compacted, {})

    async def _history(self) -> list[ChatMessage]:
        """Send the history by segments, and return it uncompacted, as the client keeps it."""
        history = [*opening_messages(self.episode), *standing_messages(self.episode)]
        by_size = self.settings.compactor.settings.compact_at is not None
        for segment in history_segments(self.episode):
            history += segment
            if self.settings.condition.compacts:
                await self.prepare(history, compact_now=not by_size)
        return history

    async def prepare(
        self, messages: Sequence[ChatMessage], *, compact_now: bool = False
    ) -> Prepared:
        self.watch.start(messages)
        return await self.pipeline.prepare(
            messages, self.tools, session=SESSION, model=self.model, compact_now=compact_now,
            settings=settings_of("auto", self._config()), watch=self.watch,
        )  # fmt: skip

    def _config(self) -> GenerateConfig:
        return config_for(self.model, self.settings.scaffold, self.tools)

    async def _prime(self) -> None:
        """Have the request answered once in a conversation without the policy, for the caches."""
        opening = opening_messages(self.episode)
        await self.pipeline.unpinned().generate(
            self.model, [*opening, *trigger_messages(self.episode)], self.tools,
            session="before", tool_choice="auto", config=self._config(),
        )  # fmt: skip

    def _compacted(self) -> Compacted | None:
        session = self.pipeline.sessions.get("", SESSION)
        on = {layer.name for layer in self.pipeline.layers}
        if not on & COMPACTING:
            return None
        if session.compacted is None:
            if "compaction" not in on and self.stack.only != frozenset({"handoff"}):
                # A hand-off comes after compactions.
                return None
            raise EpisodeError(
                "compaction did not run, or changed nothing: the history is too short for this"
                " compactor, or stayed below compact_at; give a larger context_tokens"
            )
        context = list(session.compacted)
        held = mentions(after_opening(context), self.episode.policy, self.episode.variant.slots)
        made = Compacted(
            context=context,
            rounds=[self._round(at, ran) for at, ran in enumerate(session.history, start=1)],
            made_here=self.draws is None or self.draws.made,
            degenerate=None if held.kept else "no_policy",
        )
        if self.settings.condition.edit is not None:
            made = edited(made, self.episode, self.settings.condition.edit)
            session.compacted = list(made.context)
        return made

    def _round(self, number: int, ran: Compaction) -> Round:
        shown, kept = message_texts(ran.shown), message_texts(ran.kept)
        return round_of(number, shown, kept, self.episode.policy, ran.summary)


class _Agent(Agent):
    """The agent after the trigger; each of its requests goes through the layers."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.episode, run.settings, run.model, run.defense, run.clock)
        self._run = run
        self._traces: tuple[Trace, ...] = ()

    async def ask(self, messages: list[ChatMessage]) -> Asked:
        """Ask the agent's model once, unless a cache or the reviewer answers."""
        run, scaffold = self._run, self.settings.scaffold
        prepared = await run.prepare(messages)
        sent = prepared.messages
        if run.pins is None:
            sent = await assembled(self.defense, sent)
        self.clock.lap("seconds_staging")
        check_trigger(self.episode, prepared.revealed(sent))
        output = prepared.answer or await self.reviewer.refusal(sent, prepared.tools)
        if output is None:
            config = config_for(self.model, scaffold, prepared.tools)
            output = await self.model.generate(
                sent, tools=prepared.tools, tool_choice="auto", config=config
            )
        output = prepared.answered(output)
        self.clock.lap("seconds_agent")
        self._traces = prepared.traces
        return Asked(sent, output, read_output(output, run.tools, scaffold))

    def played(
        self, asked: Sequence[Asked], compacted: Compacted | None, facts: Mapping[str, Any]
    ) -> Played:
        """Return the result, with the layer that lost the policy and each layer's trace."""
        session = self._run.pipeline.sessions.get("", SESSION)
        layers = [
            {"layer": one.layer, "changed": one.changed, "tokens": one.tokens_after, **one.notes}
            for one in self._traces
        ]
        found = {
            "lost_at": self._run.watch.lost_at,
            "replayed": replayed(asked[-1].output),
            "handoffs": session.handoffs,
            "layers": layers,
        }
        return super().played(asked, compacted, {**facts, **found})
