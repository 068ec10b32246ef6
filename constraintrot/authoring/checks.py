"""The checks of every scenario, built in or a user's."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from constraintrot.authoring import check_itself, check_requests, check_texts
from constraintrot.authoring.probes import listed_names, parts
from constraintrot.documents import Place
from constraintrot.errors import ConstraintRotError
from constraintrot.scenario import history
from constraintrot.scenario.files import folders
from constraintrot.scenario.schema import WORDINGS, Scenario, Variant
from constraintrot.scenario.template import PLACEHOLDER
from constraintrot.scenario.user_files import Fault, inspected, listed

LEAST_VARIANTS = 30
LEAST_PHRASINGS = 8
LEAST_EXERCISES = 4
_LEAST_TOOLS = 10
_CONSECUTIVE = range(61)
FAMILY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def names_are_usable(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """The family can be a task's name, the predicate lists the aliases, a pool gives ``org``."""
    if not FAMILY.fullmatch(scenario.family):
        advice = "Use small letters, digits and _, as in mail_retention."
        yield Fault("names", f"{scenario.family!r} cannot be a name in ids", advice, ("family",))
    known = {
        name.casefold() for part in parts(variants[0].violation) for name in listed_names(part)
    }
    for name in scenario.aliases:
        if name.casefold() not in known:
            advice = "Write it as the predicate does, or take it out."
            yield Fault(
                "names", f"{name!r} is in no list of the predicate", advice, ("aliases", name)
            )
    if not any("org" in entries[0] for entries in scenario.pools.values()):
        advice = "Add a pool with org in each entry, as {org: Pellmoor Software}."
        yield Fault("names", "no pool gives org, which the benign work names", advice, ("pools",))


def variants_are_distinct(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """There are enough variants, and no two are the same."""
    for name, entries in scenario.pools.items():
        first = dict[str, int]()
        for at, entry in enumerate(entries):
            key = json.dumps(entry, sort_keys=True)
            if key in first:
                said = f"is entry {first[key]} again, so that variants repeat"
                yield Fault("variants", said, "Take it out.", ("pools", name, at))
            first.setdefault(key, at)
    if scenario.variants < LEAST_VARIANTS:
        yield Fault.weak(
            "variants",
            f"{scenario.variants} variants, which leaves wide intervals",
            f"Add entries to the pools, for {LEAST_VARIANTS} or more.",
            ("pools",),
        )
    asked = {scenario.variant(seed, "held_out").request() for seed in _CONSECUTIVE}
    if len(asked) < LEAST_VARIANTS:
        yield Fault.weak(
            "variants",
            f"{len(asked)} different requests in {len(_CONSECUTIVE)} consecutive seeds",
            "Add phrasings under trigger, or entries to the pools whose values they hold.",
            ("trigger",),
        )


def phrasings_are_many(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """Requests and wordings come in several phrasings, of different lengths."""
    if len(scenario.trigger) < LEAST_PHRASINGS:
        yield Fault.weak(
            "phrasings",
            f"{len(scenario.trigger)} phrasings of the request",
            f"Give {LEAST_PHRASINGS}, or a result may hang on one sentence.",
            ("trigger",),
        )
    lengths = [len(PLACEHOLDER.sub("", text)) for text in scenario.trigger]
    if len(lengths) > 1 and max(lengths) < 1.5 * min(lengths):
        advice = "Word some short and some long, as people do."
        yield Fault.weak("phrasings", "the requests are all of one length", advice, ("trigger",))
    texts = [text for wording in WORDINGS for text in scenario.policy[wording]]
    if len(set(texts)) != len(texts):
        yield Fault("phrasings", "a policy text stands twice", "Word one otherwise.", ("policy",))
    for wording in WORDINGS:
        if len(scenario.policy[wording]) < 2:
            advice = "Give two, one of which prompts may be tuned on."
            yield Fault.weak("phrasings", "one phrasing", advice, ("policy", wording))
    if len(scenario.exercise) < LEAST_EXERCISES:
        yield Fault.weak(
            "exercise",
            f"{len(scenario.exercise)} turns that follow the policy",
            f"Give {LEAST_EXERCISES}, so that -T exercised=4 can be played.",
            ("exercise",) if scenario.exercise else (),
        )


def history_is_apart(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """The benign work has tools of its own, and can be staged for each variant."""
    where: Place = ("history",) if scenario.history else ("topics",)
    offered = {tool.name for tool in variants[0].tools} | {scenario.channels.tool.function}
    used = {tool.name for tool in history.tools(variants[0])}
    for name in sorted(used & offered):
        at = next(
            (at for at, topic in enumerate(scenario.topics)
             if name in {tool.name for tool in scenario.work[topic].tools}), None,
        )  # fmt: skip
        place: Place = where if at is None else ("topics", at)
        advice = "Rename the tool, or take this topic out."
        yield Fault("history", f"uses {name}, a tool of the scenario", advice, place)
    if len(used) <= _LEAST_TOOLS and not scenario.recorded:
        advice = "Add a topic, so that the history does not repeat itself."
        yield Fault.weak("history", f"{len(used)} tools in the benign work", advice, where)
    for variant in variants:
        try:
            next(history.turns(variant))
        except (ConstraintRotError, KeyError) as error:
            yield Fault(
                "history",
                f"cannot be told for seed {variant.seed}: {error}",
                "Take the topic out, or give the value that it names in a pool.",
                where,
            )
            return


Check: TypeAlias = Callable[[Scenario, Sequence[Variant]], Iterator[Fault]]

CHECKS: tuple[Check, ...] = (
    names_are_usable,
    check_requests.ground_truth_is_told_apart,
    check_itself.predicate_does_what_the_sentence_says,
    check_itself.wordings_say_the_same_rule,
    check_requests.calls_fit_their_tools,
    check_texts.wordings_hold_the_slots,
    check_texts.channels_hold_the_policy,
    check_texts.floor_holds_no_hint,
    check_requests.requests_do_not_tell_the_policy,
    check_requests.pairs_differ_in_the_policy_only,
    check_requests.requests_give_nothing_away,
    check_requests.exercises_follow_the_policy,
    history_is_apart,
    variants_are_distinct,
    phrasings_are_many,
    check_texts.neutral_text_is_as_long,
    check_texts.policies_are_short,
    check_requests.addresses_are_reserved,
)
# Seeds for the checks of a user's file: enough for each entry of most pools.
DEFAULT_SEEDS = range(12)


def of_scenario(scenario: Scenario, seeds: Sequence[int] = DEFAULT_SEEDS) -> list[Fault]:
    """Return all faults of a scenario, one per check and place, severe ones first."""
    seen: dict[tuple[object, ...], Fault] = {}
    variants = [scenario.variant(seed, "all") for seed in seeds if seed < scenario.variants]
    for check in CHECKS:
        try:
            for fault in check(scenario, variants):
                seen.setdefault((fault.check, fault.place), fault)
        except (ConstraintRotError, ValidationError) as error:
            name = check.__name__.replace("_", " ")
            advice = "Correct the value that some seed draws from the pools."
            seen[name, ()] = Fault(name, str(error), advice, ("pools",))
    return sorted(seen.values(), key=lambda fault: not fault.severe)


def of_file(
    path: Path, seeds: Sequence[int] = DEFAULT_SEEDS
) -> tuple[Scenario | None, list[Fault]]:
    """Return the scenario in a file, or None if it is incomplete, and its faults with lines.

    For a file that lists rules, return the scenario of the first rule and the faults of all rules.
    """
    if rules := listed(path):
        each = [(one, *of_file(one, seeds)) for one in rules]
        told = [
            replace(fault, said=f"{one.name}: {fault.said}")
            for one, _, wrong in each
            for fault in wrong
        ]
        return each[0][1], told
    found, scenario, faults = inspected(path)
    if scenario is not None and not faults:
        faults = [*_taken(path, scenario), *of_scenario(scenario, seeds)]
    placed = [
        replace(fault, line=found.line(fault.place)) if fault.place else fault for fault in faults
    ]
    return scenario, sorted(placed, key=lambda fault: (not fault.severe, fault.line))


def _taken(path: Path, scenario: Scenario) -> Iterator[Fault]:
    """The family is none of this package's or an installed one's, unless this is its file."""
    folder = folders().get(scenario.family)
    if folder is not None and folder.resolve() != path.resolve().parent:
        said = f"family {scenario.family} is there already"
        yield Fault("names", said, "Choose another name.", ("family",))
