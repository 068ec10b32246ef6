"""Task parameters (``-T name=value``): what there is, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar, cast

from constraintrot import attacks
from constraintrot.compactors import COMPACTORS, Settings, resolve
from constraintrot.defenses import DEFENSES, check_supported
from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.evaluation.conditions import DEFAULT, Condition, conditions
from constraintrot.harnesses import read as read_harness
from constraintrot.scenario.distractors import MAX_DISTRACTORS
from constraintrot.scenario.schema import CHANNELS, LOCALES, WORDINGS, Channel, Locale, Wording

# What only a harness that leaves compaction to the task takes, and its default.
_COMPACTING = {"compactor": "summarize", "prompt": None, "budget_words": None, "compact_at": None}
SCAFFOLDS = ("direct", "deliberate", "deliberate_decline_first")
T = TypeVar("T", bound=str)


class TaskParameters(TypedDict, total=False):
    """The parameters of every task, all optional.

    Attributes:
        conditions: names, comma-separated; ``long_context:8000`` gives a length.
        compactor: how the history is compacted.
        prompt: preset of the summarizer's prompt.
        budget_words: words a summary may have, 15 to 300.
        rounds: how many compactions, with new benign turns in between.
        context_tokens: history before the first compaction, in tokens.
        compact_at: compact when the context exceeds this many tokens, instead
            of after each stretch of history.
        channel: where the policy comes from.
        wording: how the policy is worded.
        locale: language of the scenario.
        variants: how many variants of each family.
        seed: seed of the first variant.
        scaffold: how the agent is asked; by default ``deliberate`` for
            ``local/`` models and ``direct`` for all others.
        distractors: how many other rules the policy stands among, 0 to 50.
        attack: attack on ingested content, ``name`` or ``name:key=value,key=value``.
        defense: defense around the agent's context.
        harness: agent framework that plays the episode, ``name``, ``name:arm``
            or ``name:live``.
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
    scaffold: str | None
    distractors: int
    attack: str
    defense: str
    harness: str


@dataclass(frozen=True)
class Parameters:
    """Checked parameters; see ``TaskParameters``."""

    conditions: tuple[Condition, ...]
    compactor: Settings
    rounds: int
    context_tokens: int
    channel: Channel
    wording: Wording
    locale: Locale
    variants: int
    seed: int
    scaffold: str | None
    distractors: int
    attack: str
    defense: str
    harness: str


def read(given: Mapping[str, object]) -> Parameters:
    """Check what was given and fill in the defaults.

    Raises:
        ParameterError: an unknown parameter, or a value out of its range.
        UnknownNameError: a name that nothing is registered under.
    """
    known = TaskParameters.__annotations__
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ParameterError(
            f"unknown task parameter {', '.join(map(repr, unknown))}; known: {', '.join(known)}"
        )
    settings = Settings(
        _text(given, "compactor", "summarize", COMPACTORS.names()),
        _optional_text(given, "prompt"),
        _optional_int(given, "budget_words", 1),
        _optional_int(given, "compact_at", 1),
    )
    scaffold = _optional_text(given, "scaffold")
    if scaffold is not None and scaffold not in SCAFFOLDS:
        raise ParameterError(f"unknown scaffold {scaffold!r}; known: {', '.join(SCAFFOLDS)}")
    found = Parameters(
        conditions=_conditions(given.get("conditions", DEFAULT)),
        compactor=resolve(settings),
        rounds=_int(given, "rounds", 1, 1),
        context_tokens=_int(given, "context_tokens", 800, 100),
        channel=_choice(given, "channel", CHANNELS),
        wording=_choice(given, "wording", WORDINGS),
        locale=_choice(given, "locale", LOCALES),
        variants=_int(given, "variants", 4, 1),
        seed=_int(given, "seed", 0, 0),
        scaffold=scaffold,
        distractors=_int(given, "distractors", 0, 0),
        attack=_attack(given.get("attack")),
        defense=_text(given, "defense", "none", DEFENSES.names()),
        harness=_harness(given.get("harness")),
    )
    _check_harness(found, given)
    _check_together(found)
    return found


def _check_harness(found: Parameters, given: Mapping[str, object]) -> None:
    """Refuse what a harness has no place for.

    A framework compacts by itself, so how it does is an arm of its harness, and
    nothing can be edited between its compaction and its next call.
    """
    chosen = read_harness(found.harness)
    for condition in found.conditions:
        check_supported(condition.defense or found.defense, chosen.name, chosen.registered.hooks)
    if not chosen.registered.own:
        return
    asked = [name for name in _COMPACTING if given.get(name) not in (None, _COMPACTING[name])]
    if asked or found.rounds > 1:
        raise ParameterError(
            f"harness {chosen.name} compacts by itself, so {', '.join(asked or ['rounds'])} cannot"
            f" be given; its arms are {', '.join(chosen.registered.arms)}, as"
            f" harness={chosen.name}:{chosen.registered.arms[-1]}"
        )
    if any(condition.edit for condition in found.conditions):
        raise ParameterError(
            f"summary_removed and summary_restored edit what compaction left, and harness"
            f" {chosen.name} compacts within a call; use harness=replay"
        )


def _check_together(found: Parameters) -> None:
    if found.distractors > MAX_DISTRACTORS:
        raise ParameterError(f"distractors must be 0 to {MAX_DISTRACTORS}, not {found.distractors}")
    at = found.compactor.compact_at
    if any(c.edit and (c.defense or found.defense) != "none" for c in found.conditions):
        raise ParameterError(
            "summary_removed and summary_restored edit what compaction left, and a defense would"
            " edit it back; they go with defense=none"
        )
    if found.channel == "system" and any(condition.edit for condition in found.conditions):
        raise ParameterError(
            "summary_removed and summary_restored edit what compaction left, and the system"
            " message is not compacted; choose another channel"
        )
    if at is not None and found.rounds > 1:
        raise ParameterError(
            "compact_at compacts by size, so how often is not yours to say; leave rounds at 1"
        )
    # Bulk that an attack adds may be what takes the history over the threshold.
    plain = [c for c in found.conditions if c.compacts and not _attacked(c, found)]
    if at is not None and plain and found.context_tokens <= at:
        raise ParameterError(
            f"context_tokens ({found.context_tokens}) must be above compact_at ({at}),"
            " or compaction never fires; raise the one or lower the other"
        )


def _attacked(condition: Condition, found: Parameters) -> bool:
    return (condition.attack or found.attack) != "none"


def _conditions(value: object) -> tuple[Condition, ...]:
    if isinstance(value, str):
        return conditions(value)
    if isinstance(value, list | tuple):
        return conditions([str(name) for name in cast("Sequence[object]", value)])
    raise ParameterError(f"conditions must be names, comma-separated, not {value!r}")


def _text(given: Mapping[str, object], name: str, default: str, known: Sequence[str]) -> str:
    value = given.get(name, default)
    if value is None:
        return default
    if str(value) not in known:
        raise ParameterError(f"unknown {name} {value!r}; known: {', '.join(known)}")
    return str(value)


def _attack(value: object) -> str:
    if value is None:
        return "none"
    # Inspect's command line parts a value at its commas.
    parts = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
    try:
        return str(attacks.read(",".join(map(str, parts))))
    except UnknownNameError as error:
        known = ", ".join(error.known)
        raise ParameterError(f"unknown attack {value!r}; known: {known}") from error


def _harness(value: object) -> str:
    if value is None:
        return "replay"
    try:
        return str(read_harness(str(value)))
    except UnknownNameError as error:
        known = ", ".join(error.known)
        raise ParameterError(f"unknown harness {value!r}; known: {known}") from error


def _choice(given: Mapping[str, object], name: str, known: Sequence[T]) -> T:
    value = given.get(name, known[0])
    for choice in known:
        if value == choice:
            return choice
    raise ParameterError(f"unknown {name} {value!r}; known: {', '.join(known)}")


def _optional_text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    return None if value is None else str(value)


def _int(given: Mapping[str, object], name: str, default: int, least: int) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"{name} must be a whole number of {least} or more, not {value!r}")
    return value


def _optional_int(given: Mapping[str, object], name: str, least: int) -> int | None:
    return None if given.get(name) is None else _int(given, name, least, least)
