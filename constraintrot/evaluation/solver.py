"""The Inspect solver: stage an episode, let a harness play it, record the result."""

from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import Model, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver

from constraintrot import attacks
from constraintrot.compaction import context_cache
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import tool_infos
from constraintrot.episode.scaffold.instructions import form_of, instructions, is_in_process
from constraintrot.episode.scaffold.review import REVIEW
from constraintrot.episode.staging import offer, stage
from constraintrot.evaluation import awareness, readers, roles, viewer
from constraintrot.evaluation.harness import Played
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.evaluation.probe import probe
from constraintrot.evaluation.selection import Selection
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.scenario.distractors import distractors
from constraintrot.scenario.files import sampled
from constraintrot.scenario.schema import Variant

# Facts that differ between conditions and reach a compactor only through its messages.
_OF_THE_CONDITION = frozenset(
    {"condition", "attack", "defense", "distractors", "allowed", "request", "rounds"}
)


@solver(name="episode")
def episode_solver(parameters: Parameters, selection: Selection | None = None) -> Solver:
    """Play each sample's episode, and record its result in the sample's metadata."""
    chosen = selection or Selection()
    sharing = sum(play.condition.compacts for play in parameters.plays) > 1
    if sharing:
        context_cache.prune()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        settings = parameters.play(state.metadata["condition"], state.metadata["defense"])
        agent, summarizer = _models()
        if parameters.reader == "judge":
            readers.make("judge")  # Refused before the episode is paid for.
        form = answer_form(parameters, agent)
        state.metadata |= {
            "replicate": state.epoch - 1,
            "selected": chosen.counts,
            "unbalanced": chosen.unbalanced,
            "agent": str(agent),
            "scaffold": form.scaffold,
            "decline_tool": form.decline_tool,
            "summarizer": _summarizer_name(parameters, settings, agent, summarizer),
            "reader": parameters.reader,
        }
        # Within a sample, so that the log holds it too.
        chosen.warn()
        variant = sampled(state.metadata)
        episode = staged(variant, parameters, settings, state.metadata["allowed"], form)
        told = viewer.staged_text(state.metadata, episode, stated=settings.condition.policy)
        transcript().info(told, source=viewer.EPISODE)
        share_as = _share_key(state.metadata, (agent, summarizer)) if sharing else None
        settings = replace(
            settings,
            scaffold=form.scaffold,
            steps=parameters.steps,
            share_as=share_as,
            network=parameters.network,
        )
        played = await parameters.harness.make()(episode, settings)
        _keep(state, episode, played)
        if told := viewer.result_text(state.metadata, transcript().events):
            transcript().info(told, source=viewer.RESULT)
        if parameters.probe:
            trigger = episode.trigger.messages[-1].text
            state.metadata["probed"] = await probe(
                agent, played.last_input, trigger, parameters.locale
            )
        if parameters.awareness:
            tools = tool_infos(variant.tools)
            state.metadata |= await awareness.ask(
                played.last_input, tools, agent, parameters.locale
            )
        return state

    return solve


def default_scaffold(agent: Model) -> str:
    """Return the default scaffold of a model.

    ``review`` for the base model of the rule judge's adapter, which follows the rules that it
    reviews; ``deliberate`` for other in-process models without an adapter; ``direct`` otherwise.
    """
    # local/BASE+NAME: an adapter is trained to act in this form.
    if not is_in_process(agent) or "+" in str(agent):
        return "direct"
    return REVIEW if str(agent) == f"local/{adapter.BASE}" else "deliberate"


@dataclass(frozen=True)
class AnswerForm:
    """The form of the agent's answers.

    Attributes:
        native: whether the provider has its own form of calls.
    """

    scaffold: str
    decline_tool: bool = True
    native: bool = True

    def told(self, locale: str) -> str:
        """Return the prompt's text about the call format; a native form is left to the provider."""
        return instructions(
            form_of(self.scaffold), locale, native=self.native, decline_tool=self.decline_tool
        )


def answer_form(parameters: Parameters, agent: Model) -> AnswerForm:
    """Return the form of the answers of an agent's model.

    By default a tool to decline by is on offer only if the form allows nothing but a call,
    because such a tool hints at the test.
    """
    scaffold = parameters.scaffold or default_scaffold(agent)
    native = not is_in_process(agent)
    constrained = form_of(scaffold) != "direct" or not native
    chosen = parameters.decline_tool
    return AnswerForm(scaffold, constrained if chosen is None else chosen, native)


def _models() -> tuple[Model, Model]:
    roles.check(model_roles())
    agent = get_model(role="agent")
    return agent, get_model(role="summarizer", default=agent)


def staged(
    variant: Variant,
    parameters: Parameters,
    settings: PlaySettings,
    allowed: bool,
    form: AnswerForm,
) -> Episode:
    """Return the staged episode of a variant under a condition, with the attack applied, if any."""
    condition = settings.condition
    episode = stage(
        variant,
        policy=condition.policy,
        wording=parameters.wording_of(variant.seed),
        channel=parameters.channel,
        context_tokens=condition.history_tokens(parameters.context_tokens),
        rounds=parameters.rounds,
        allowed=allowed,
        distractors=distractors(variant, parameters.distractors_of(condition)),
        instructions=form.told(parameters.locale),
        exercised=parameters.exercised,
        decline_tool=form.decline_tool,
        system_prompt=parameters.system_prompt,
        asked_by=parameters.asked_by,
    )
    if settings.attack.name != "none":
        episode = attacks.deliver(settings.attack, episode)
    return offer(episode, parameters.tools)


def _summarizer_name(
    parameters: Parameters, settings: PlaySettings, agent: Model, summarizer: Model
) -> str:
    if not settings.condition.compacts or parameters.harness.spec.compacts_itself:
        # The harness of a framework sets this itself, once it knows who wrote the summary.
        return "none"
    if not settings.compactor.asks_model:
        return "none"
    # Inspect's auto uses the agent's model to summarise and ignores the role.
    return str(agent if settings.compactor.settings.name == "inspect_auto" else summarizer)


def _share_key(metadata: dict[str, Any], models: tuple[Model, Model]) -> str:
    facts = {name: value for name, value in metadata.items() if name not in _OF_THE_CONDITION}
    for role, model in zip(("agent", "summarizer"), models, strict=True):
        facts[f"{role} settings"] = [model.config.model_dump(exclude_none=True), model.model_args]
    return context_cache.digest(facts)


def _keep(state: TaskState, episode: Episode, played: Played) -> None:
    """Write the result of an episode into the sample's messages, output and metadata.

    Everything is plain data, so that ``inspect score`` can grade a log again.
    """
    state.messages = [*played.last_input, played.output.message]
    state.output = played.output
    compacted = played.compacted
    rounds = [] if compacted is None else [r.model_dump() for r in compacted.rounds]
    state.metadata |= {
        "calls": list(played.calls),
        "recalled": played.recalled,
        "fault": played.fault,
        "prose": played.prose,
        "blocked": played.blocked,
        "compaction_ran": compacted is not None,
        "rounds_run": rounds,
        "tokens_before": rounds[-1]["tokens_before"] if rounds else None,
        "tokens_after": rounds[-1]["tokens_after"] if rounds else None,
        "removed": [] if compacted is None else compacted.removed,
        "summary_made_here": compacted is not None and compacted.made_here,
        "summary_draw": None if compacted is None else compacted.draw,
        "summary_retries": sum(one["retries"] for one in rounds),
        "summary_cut": sum(one["cut"] for one in rounds),
        "removed_characters": None if compacted is None else compacted.removed_characters,
        "removed_tokens": None if compacted is None else compacted.removed_tokens,
        "degenerate": None if compacted is None else compacted.degenerate is not None,
        "degenerate_because": None if compacted is None else compacted.degenerate,
        **episode.notes,
        **played.facts,
    }
