"""The default harness: a scripted history, Inspect's compaction, one terminal call.

The history is replayed, and compacted if the condition requires it. Then the trigger is
appended and the agent is asked once, and again after each look-up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, Model, ModelOutput, get_model

from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import Compacted, compact, diff
from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import conversation_messages, trigger_messages
from constraintrot.evaluation.defense import assembled
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played, harness
from constraintrot.harnesses.agent_call import (
    Approvals,
    Reading,
    answered,
    check_trigger,
    config_for,
    offered,
    only_looks_up,
    read_output,
)
from constraintrot.harnesses.cost import Clock, costs, prefix
from constraintrot.harnesses.review import Reviewer


@harness("replay")
def replay(mode: str, live: bool) -> Harness:
    """Replay the scripted history and ask for the terminal call."""
    return play


async def play(episode: Episode, settings: PlaySettings) -> Played:
    """Play an episode.

    Raises:
        EpisodeError: a due compaction did not run, or the last model input does
            not hold the whole trigger.
    """
    model = get_model(role="agent")
    defense = settings.defense.make(episode.declared)
    clock = Clock()
    compacted = await _compacted(episode, settings, model, defense)
    clock.lap("seconds_compaction")
    if compacted is None:
        context = conversation_messages(episode)
    else:
        context = compacted.context
        transcript().info(diff(episode, context), source="compaction diff")
    clock.lap("seconds_staging")
    agent = Agent(episode, settings, model, defense, clock)
    asked = await agent.act(context)
    return agent.played(asked, compacted, await prefix(defense, context, asked[0].messages))


@dataclass(frozen=True)
class Asked:
    """A call of the agent's model: its input, its answer, and the parsed answer."""

    messages: list[ChatMessage]
    output: ModelOutput
    read: Reading


class Agent:
    """The agent after the trigger; it may look things up until it acts, refuses or has no steps."""

    def __init__(
        self, episode: Episode, settings: PlaySettings, model: Model, defense: Defense, clock: Clock
    ) -> None:
        self.episode, self.settings, self.model = episode, settings, model
        self.defense, self.clock = defense, clock
        self.tools = offered(episode, settings.scaffold)
        self.approvals = Approvals(defense, episode.variant.lookups)
        self.reviewer = Reviewer(episode, settings.scaffold, model)

    async def act(self, context: Sequence[ChatMessage]) -> list[Asked]:
        """Ask for the answer to the trigger, also after look-ups; return all model calls."""
        looked: list[ChatMessage] = []
        asked: list[Asked] = []
        while True:
            asked.append(await self.ask([*context, *trigger_messages(self.episode), *looked]))
            last = asked[-1]
            if len(asked) == self.settings.steps or not only_looks_up(self.episode, last.read):
                await self.approvals.ask(last.read.calls)
                self.clock.lap("seconds_defense")
                return asked
            looked += await answered(self.episode, last.output, last.read, self.approvals)
            self.clock.lap("seconds_defense")

    async def ask(self, messages: list[ChatMessage]) -> Asked:
        scaffold = self.settings.scaffold
        sent = await assembled(self.defense, messages)
        self.clock.lap("seconds_defense")
        check_trigger(self.episode, sent)
        refused = await self.reviewer.refusal(sent, self.tools)
        if refused is not None:
            self.clock.lap("seconds_agent")
            return Asked(sent, refused, Reading(prose=refused.completion))
        config = config_for(self.model, scaffold, self.tools)
        output = await self.model.generate(
            sent, tools=self.tools, tool_choice="auto", config=config
        )
        self.clock.lap("seconds_agent")
        return Asked(sent, output, read_output(output, self.tools, scaffold))

    def played(
        self, asked: Sequence[Asked], compacted: Compacted | None, facts: Mapping[str, Any]
    ) -> Played:
        last = asked[-1]
        calls, blocked = self.approvals.graded()
        return Played(
            calls=calls,
            last_input=tuple(last.messages),
            output=last.output,
            compacted=compacted,
            recalled=self.reviewer.recalled(one.read.recalled for one in asked),
            fault=last.read.fault,
            prose=last.read.prose,
            blocked=blocked,
            facts={
                "steps_taken": len(asked),
                **self.reviewer.facts,
                **self.clock.seconds,
                **costs(last.messages),
                **facts,
            },
        )


async def _compacted(
    episode: Episode, settings: PlaySettings, model: Model, defense: Defense
) -> Compacted | None:
    if not settings.condition.compacts:
        return None
    compacted = await compact(
        episode,
        settings.compactor.make(),
        model,
        by_size=settings.compactor.settings.compact_at is not None,
        wrap=defense.wrap,
        share_as=None if defense.touches_summarizer else settings.share_as,
    )
    if settings.condition.edit is not None:
        compacted = edited(compacted, episode, settings.condition.edit)
    return compacted
