"""The default harness: a scripted history, Inspect's compaction, one terminal call.

The history is replayed, compacted where the condition says so, and only then
the trigger is appended and the agent asked, once.
"""

from __future__ import annotations

from inspect_ai.log import transcript
from inspect_ai.model import Model, get_model

from constraintrot.compaction import context_cache
from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import Compacted, compact, diff
from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import trigger_messages
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played, harness, scripted_history
from constraintrot.harnesses.agent_call import (
    approved,
    check_trigger,
    config_for,
    offered,
    read_output,
)
from constraintrot.harnesses.cost import Clock, costs, prefix


@harness("replay")
def replay(mode: str, live: bool) -> Harness:
    """Replay the scripted history and ask for the terminal call."""
    return play


async def play(episode: Episode, settings: PlaySettings) -> Played:
    """Play an episode.

    Raises:
        EpisodeError: a compaction that was due did not run, or the trigger
            is not whole in the last model input.
    """
    model = get_model(role="agent")
    defense = settings.defense.make(episode.declared)
    clock = Clock()
    compacted, made = await _compacted(episode, settings, model, defense)
    clock.lap("seconds_compaction")
    if compacted is None:
        context = scripted_history.history(episode)
    else:
        context = compacted.context
        transcript().info(diff(episode, context), source="compaction diff")
    clock.lap("seconds_staging")
    messages = await defense.assemble([*context, *trigger_messages(episode)])
    clock.lap("seconds_defense")
    check_trigger(episode, messages)
    tools = offered(episode, settings.scaffold)
    output = await model.generate(
        messages, tools=tools, tool_choice="auto", config=config_for(model, settings.scaffold)
    )
    read = read_output(output, tools, settings.scaffold)
    clock.lap("seconds_agent")
    calls, blocked = await approved(defense, read.calls)
    clock.lap("seconds_defense")
    return Played(
        calls=calls,
        last_input=tuple(messages),
        output=output,
        compacted=compacted,
        recalled=read.recalled,
        fault=read.fault,
        prose=read.prose,
        blocked=blocked,
        facts={
            "summary_made_here": made,
            **clock.seconds,
            **costs(messages),
            **await prefix(defense, context, messages),
        },
    )


async def _compacted(
    episode: Episode, settings: PlaySettings, model: Model, defense: Defense
) -> tuple[Compacted | None, bool]:
    if not settings.condition.compacts:
        return None, False

    async def run() -> Compacted:
        return await compact(
            episode,
            settings.compactor.make(),
            model,
            by_size=settings.compactor.settings.compact_at is not None,
            wrap=defense.wrap,
        )

    # A defense may keep state while the history is compacted, so its runs share nothing.
    if settings.share_as is None or settings.defense.active:
        compacted, made = await run(), True
    else:
        compacted, made = await context_cache.shared(context_cache.run_id(), settings.share_as, run)
    if settings.condition.edit is not None:
        compacted = edited(compacted, episode, restored=settings.condition.edit == "restored")
    return compacted, made
