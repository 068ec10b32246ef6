"""Task parameters (``-T name=value``): their definition, and their check before anything runs."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypedDict, TypeVar, cast

from constraintrot import attacks
from constraintrot.attacks import Chosen as ChosenAttack
from constraintrot.compactors import ChosenCompactor, Settings, budget_tokens, resolve
from constraintrot.episode.channels import CHANNELS, Player
from constraintrot.episode.scaffold.review import REVIEW
from constraintrot.episode.staging import OFFERED_TOOLS, OfferedTools
from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.evaluation import readers
from constraintrot.evaluation.conditions import DEFAULT, EDITS, FAMILY, Condition, conditions
from constraintrot.evaluation.defense import ChosenDefense, parse_defense
from constraintrot.evaluation.harness import MAX_STEPS, ChosenHarness, parse_harness
from constraintrot.evaluation.play_settings import NETWORKS, Network, PlaySettings
from constraintrot.rule_text.reader import ReaderName
from constraintrot.scenario import private
from constraintrot.scenario.distractors import MAX_DISTRACTORS
from constraintrot.scenario.framing import ASKED_BY, SYSTEM_PROMPTS, AskedBy, SystemPrompt
from constraintrot.scenario.schema import LOCALES, WORDINGS, Locale, Wording
from constraintrot.scenario.splits import SPLITS, Split

# Parameters of the task's compactor, with defaults. A harness that compacts itself takes none.
_COMPACTING = {"compactor": "summarize", "prompt": None, "budget_words": None, "compact_at": None}
_EDITS = f"{', '.join(EDITS[:-1])} and {EDITS[-1]}"
# Long enough that a summary of the default budget leaves most of it out.
DEFAULT_CONTEXT_TOKENS = 2000
# The largest window that a provider offers; a longer history would fail in its first call.
MOST_CONTEXT_TOKENS = 1_000_000
# An agent that acts at once needs one step; more let it look things up first.
DEFAULT_STEPS = 4
SCAFFOLDS = ("direct", "deliberate", "deliberate_decline_first", REVIEW)
T = TypeVar("T", bound=str)


class TaskParameters(TypedDict, total=False):
    """The parameters of every task, all optional.

    Attributes:
        conditions: names, comma-separated; ``long_context:8000`` gives a length.
        compactor: how the history is compacted.
        prompt: preset of the summarizer's prompt.
        budget_words: most words that a summary may have, 15 to 3000.
        rounds: number of compactions, with new benign turns in between.
        context_tokens: length of the history before the first compaction, in
            o200k tokens.
        compact_at: compact when the messages exceed this many tokens, instead
            of after each segment of history.
        channel: where the policy is given: user turn, system message, memory entry, tool
            result, a coding agent's file, or another registered policy channel.
        wording: the policy's wording; ``all`` goes through the wordings, seed by seed.
        locale: language of the scenario.
        variants: number of variants of each family.
        seed: seed of the first variant.
        split: the set of phrasings of policies and requests: ``held_out``, ``tuning``,
            ``all`` or ``private``. Prompts are tuned on ``tuning`` only.
        exercised: number of turns of the history whose work follows the policy.
        system_prompt: the scenario's line alone (``short``), or with a page on how to work.
        asked_by: who makes the request: the policy's author (``same``) or an ``other`` person.
        tools: tools on offer for the benign work: ``all``, or those the history ``called``.
        probe: ask the agent which rules are in force, on a copy of its context.
        scaffold: the form in which the agent is asked; ``review`` adds a checking step. By
            default ``review`` for ``local/qwen2.5-coder-1.5b``, ``deliberate`` for other
            ``local/`` models without an adapter, ``direct`` for all others.
        decline_tool: whether a tool to decline by is on offer; by default only if the form
            of the answer leaves no room for words.
        steps: most calls of the agent's model after the request, while it only looks things up.
        distractors: number of other rules around the policy, 0 to 50.
        attack: attack on ingested content, ``name`` or ``name:key=value,key=value``.
        defense: defense around the agent's context.
        harness: agent framework that plays the episode, ``name``, ``name:mode``,
            ``name:live`` or ``name:mode:live``.
        awareness: whether the model is asked, after the episode, if it was a test.
        network: a coding agent's access to the network: ``none``, or ``host`` for this machine's.
        reader: judge of the policy's survival: ``words``, ``judge`` (the model in that
            role) or ``local``; by default ``judge`` if a model has the role, else ``words``.
    """

    conditions: str | Sequence[str]
    compactor: str
    prompt: str | None
    budget_words: int | None
    rounds: int
    context_tokens: int
    compact_at: int | None
    channel: str
    wording: str
    locale: str
    variants: int
    seed: int
    split: str
    exercised: int
    system_prompt: str
    asked_by: str
    tools: str
    probe: bool
    scaffold: str | None
    decline_tool: bool | None
    steps: int
    distractors: int
    attack: str
    defense: str
    harness: str
    awareness: bool
    network: str
    reader: str | None


@dataclass(frozen=True)
class Parameters:
    """Checked parameters, every name resolved; see ``TaskParameters``.

    Attributes:
        plays: one entry per condition and defense.
    """

    plays: tuple[PlaySettings, ...]
    harness: ChosenHarness
    rounds: int
    context_tokens: int
    channel: str
    wording: Wording | Literal["all"]
    locale: Locale
    variants: int
    seed: int
    split: Split
    exercised: int
    probe: bool
    scaffold: str | None
    distractors: int
    awareness: bool = False
    decline_tool: bool | None = None
    steps: int = DEFAULT_STEPS
    network: Network = "none"
    reader: ReaderName | None = None
    system_prompt: SystemPrompt = "short"
    asked_by: AskedBy = "same"
    tools: OfferedTools = "all"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(dict.fromkeys(play.condition for play in self.plays))

    def play(self, condition: str, defense: str) -> PlaySettings:
        """Return the settings of a condition under a defense, both by name as in metadata."""
        return next(
            play
            for play in self.plays
            if (play.condition.name, play.defense.name) == (condition, defense)
        )

    def wording_of(self, seed: int) -> Wording:
        return WORDINGS[seed % len(WORDINGS)] if self.wording == "all" else self.wording

    def distractors_of(self, condition: Condition) -> int:
        return condition.distractors or self.distractors


def read(
    given: Mapping[str, object],
    *,
    known: Mapping[str, Condition] = FAMILY,
    default: Iterable[str] = DEFAULT,
    defenses: Sequence[str] | None = None,
    own: Sequence[str] = (),
) -> Parameters:
    """Check task parameters, resolve their names and fill in the defaults.

    ``known`` are the conditions of the task, ``default`` those that it plays if none are given, and
    ``own`` its further parameters, for error messages. With ``defenses``, every condition is played
    under each of them, and the parameter ``defense`` is not used.

    Raises:
        ParameterError: an unknown parameter, a value out of its range, or parameters
            that exclude each other.
        UnknownNameError: an unknown condition.
    """
    refuse_unknown(given, own)
    split = _choice(given, "split", SPLITS)
    if split == "private":
        private.key()  # Without one nothing can be made, which is better said here.
    scaffold = _optional_text(given, "scaffold")
    if scaffold is not None and scaffold not in SCAFFOLDS:
        raise ParameterError(f"unknown scaffold {scaffold!r}; known: {', '.join(SCAFFOLDS)}")
    parameters = Parameters(
        plays=tuple(_plays(given, known, default, defenses)),
        harness=_harness(given.get("harness")),
        rounds=_int(given, "rounds", 1, 1),
        context_tokens=_int(
            given, "context_tokens", DEFAULT_CONTEXT_TOKENS, 100, MOST_CONTEXT_TOKENS
        ),
        channel=_channel(given.get("channel", "user")),
        wording=_choice(given, "wording", (*WORDINGS, "all")),
        locale=_choice(given, "locale", LOCALES),
        variants=_int(given, "variants", 4, 1),
        seed=_int(given, "seed", 0, 0),
        split=split,
        exercised=_int(given, "exercised", 2, 0),
        probe=_bool(given, "probe") or False,
        scaffold=scaffold,
        distractors=_int(given, "distractors", 0, 0),
        awareness=_bool(given, "awareness") or False,
        decline_tool=_bool(given, "decline_tool"),
        steps=_int(given, "steps", DEFAULT_STEPS, 1),
        network=_choice(given, "network", NETWORKS),
        reader=_reader(given.get("reader")),
        system_prompt=_choice(given, "system_prompt", SYSTEM_PROMPTS),
        asked_by=_choice(given, "asked_by", ASKED_BY),
        tools=_choice(given, "tools", OFFERED_TOOLS),
    )
    _check_harness(parameters, given)
    _check_together(parameters)
    return parameters


def refuse_unknown(given: Mapping[str, object], own: Sequence[str] = ()) -> None:
    """Raise ``ParameterError`` for a parameter that is neither of every task nor the task's own."""
    names = [*own, *TaskParameters.__annotations__]
    if unknown := sorted(set(given) - set(names)):
        raise ParameterError(
            f"unknown task parameter {', '.join(map(repr, unknown))}; known: {', '.join(names)}"
        )


def _plays(
    given: Mapping[str, object],
    known: Mapping[str, Condition],
    default: Iterable[str],
    defenses: Sequence[str] | None,
) -> Iterator[PlaySettings]:
    compactor = _compactor(given)
    attack = _attack(given.get("attack"))
    named = _optional_text(given, "defense")
    played = _conditions(given.get("conditions", default), known)
    names = defenses if defenses is not None else ["none" if named is None else named]
    if defenses is not None and named is not None:
        raise ParameterError("the defenses of this task are given as defenses=, without defense=")
    chosen = [_named_defense(name) for name in names]
    for name, value in (("attack", given.get("attack")), ("defense", named)):
        if value not in (None, "none") and all(getattr(one, name) for one in played):
            raise ParameterError(
                f"{name}={value} would be played in no condition, since each of"
                f" {', '.join(one.name for one in played)} stands for one of its own; leave it out"
            )
    for condition in played:
        if defenses is not None and condition.defense is not None:
            raise ParameterError(
                f"condition {condition.name} stands for defense {condition.defense}, so it is not"
                " played under others; leave it out, and name that defense among defenses"
            )
        for defense in chosen:
            yield PlaySettings(
                condition,
                compactor,
                attacks.read(condition.attack) if condition.attack else attack,
                parse_defense(condition.defense) if condition.defense else defense,
            )


def _check_harness(parameters: Parameters, given: Mapping[str, object]) -> None:
    """Refuse parameters that the harness does not support.

    A framework that compacts itself is configured by its harness's compaction mode.
    Nothing can be edited between its compaction and its next model call.
    """
    harness = parameters.harness
    for play in parameters.plays:
        harness.check_defense(play.defense)
    player = Player(harness.name, harness.live, harness.spec.runs_program)
    if unfit := CHANNELS.get(parameters.channel).unfit(player):
        raise ParameterError(f"channel={parameters.channel} {unfit}")
    if parameters.network != "none" and not harness.spec.runs_program:
        raise ParameterError(
            f"network={parameters.network} goes with the coding agents, which run as programs;"
            f" harness {harness.name} runs none"
        )
    if harness.spec.network_check is not None:
        harness.spec.network_check(parameters.network)
    if not harness.spec.compacts_itself:
        return
    if parameters.steps > MAX_STEPS:
        raise ParameterError(
            f"steps can be at most {MAX_STEPS} under harness {harness.name}, whose loop ends there,"
            f" not {parameters.steps}"
        )
    asked = [name for name in _COMPACTING if given.get(name) not in (None, _COMPACTING[name])]
    if asked or (parameters.rounds > 1 and not harness.spec.repeats):
        raise ParameterError(
            f"harness {harness.name} compacts by itself, so {', '.join(asked or ['rounds'])} cannot"
            f" be given; its compaction modes are {', '.join(harness.spec.modes)}, as"
            f" harness={harness.name}:{harness.spec.modes[-1]}"
        )
    if any(condition.edit for condition in parameters.conditions):
        raise ParameterError(
            f"{_EDITS} edit what compaction left, and harness"
            f" {harness.name} compacts within a call; use harness=replay"
        )


def _check_together(parameters: Parameters) -> None:
    if parameters.distractors > MAX_DISTRACTORS:
        raise ParameterError(
            f"distractors must be 0 to {MAX_DISTRACTORS}, not {parameters.distractors}"
        )
    channel = CHANNELS.get(parameters.channel)
    for attack in (play.attack for play in parameters.plays):
        store = attack.attack.store
        if store is not None and store is not channel.store:
            fitting = [name for name in CHANNELS.names() if CHANNELS.get(name).store is store]
            raise ParameterError(
                f"attack {attack.name} works on {store.noun}, and channel={parameters.channel} has"
                f" none; choose channel={', '.join(fitting)}, or another attack"
            )
    if any(play.condition.edit and play.defense.active for play in parameters.plays):
        raise ParameterError(
            f"{_EDITS} edit what compaction left, and a defense would"
            " edit it back; they go with defense=none"
        )
    if channel.uncompacted and any(c.edit for c in parameters.conditions):
        raise ParameterError(
            f"{_EDITS} edit what compaction left, and the {channel.uncompacted}"
            " is not compacted; choose another channel"
        )
    longest = max(c.history_tokens(parameters.context_tokens) for c in parameters.conditions)
    if longest > MOST_CONTEXT_TOKENS:
        raise ParameterError(
            f"long_context would have {longest:,} tokens of history, and {MOST_CONTEXT_TOKENS:,} are"
            " the most; give it a length, as long_context:200000, or a lower context_tokens"
        )
    words = parameters.plays[0].compactor.settings.budget_words
    summarised = any(play.condition.compacts for play in parameters.plays)
    if words is not None and summarised and budget_tokens(words) >= parameters.context_tokens:
        raise ParameterError(
            f"budget_words={words} allows about {budget_tokens(words)} tokens, which"
            f" context_tokens={parameters.context_tokens} does not exceed: a summary would have to"
            " leave nothing out; lower budget_words or raise context_tokens"
        )
    at = parameters.plays[0].compactor.settings.compact_at
    if at is not None and parameters.rounds > 1:
        raise ParameterError(
            "compact_at compacts by size, which decides the number of rounds; leave rounds at 1"
        )
    # Not under an attack, whose text may take the history over the threshold.
    plain = [p for p in parameters.plays if p.condition.compacts and p.attack.name == "none"]
    if at is not None and plain and parameters.context_tokens <= at:
        raise ParameterError(
            f"context_tokens ({parameters.context_tokens}) must be above compact_at ({at}),"
            " or compaction never fires; raise the one or lower the other"
        )


def _channel(value: object) -> str:
    name = str(value)
    with _naming("channel", value):
        CHANNELS.get(name)
    return name


def _compactor(given: Mapping[str, object]) -> ChosenCompactor:
    name = given.get("compactor")
    with _naming("compactor", name):
        return resolve(
            Settings(
                "summarize" if name is None else str(name),
                _optional_text(given, "prompt"),
                _optional_int(given, "budget_words", 1),
                _optional_int(given, "compact_at", 1),
            )
        )


def _conditions(value: object, known: Mapping[str, Condition]) -> tuple[Condition, ...]:
    if isinstance(value, str):
        return conditions(value, known)
    if isinstance(value, list | tuple):
        return conditions([str(name) for name in cast("Sequence[object]", value)], known)
    raise ParameterError(f"conditions must be names, comma-separated, not {value!r}")


def _named_defense(name: str) -> ChosenDefense:
    with _naming("defense", name):
        return parse_defense(name)


def _attack(value: object) -> ChosenAttack:
    # Inspect's command line splits a value at its commas.
    parts = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
    with _naming("attack", value):
        return attacks.read("none" if value is None else ",".join(map(str, parts)))


def _harness(value: object) -> ChosenHarness:
    with _naming("harness", value):
        return parse_harness("replay" if value is None else str(value))


def _reader(value: object) -> ReaderName | None:
    with _naming("reader", value):
        return readers.check(None if value is None else str(value))


@contextmanager
def _naming(name: str, value: object) -> Generator[None]:
    """Name the parameter, with its whole value, in the error about an unknown name."""
    try:
        yield
    except UnknownNameError as error:
        known = ", ".join(error.known)
        raise ParameterError(f"unknown {name} {value!r}; known: {known}") from error


def _choice(given: Mapping[str, object], name: str, known: Sequence[T]) -> T:
    value = given.get(name, known[0])
    for choice in known:
        if value == choice:
            return choice
    raise ParameterError(f"unknown {name} {value!r}; known: {', '.join(known)}")


def _optional_text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    return None if value is None else str(value)


def _bool(given: Mapping[str, object], name: str) -> bool | None:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise ParameterError(f"{name} must be true or false, not {value!r}")
    return value


def _int(
    given: Mapping[str, object], name: str, default: int, least: int, most: int | None = None
) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"{name} must be a whole number of {least} or more, not {value!r}")
    if most is not None and value > most:
        raise ParameterError(f"{name} must be a whole number of {most:,} or less, not {value}")
    return value


def _optional_int(given: Mapping[str, object], name: str, least: int) -> int | None:
    return None if given.get(name) is None else _int(given, name, least, least)
