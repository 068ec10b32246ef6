"""The checks of every scenario, built in or a user's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from constraintrot.authoring import check_itself, check_requests, check_texts, check_variety
from constraintrot.errors import ConstraintRotError
from constraintrot.scenario.files import folders
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.standing_rules import listed
from constraintrot.scenario.user_files import Fault, inspected

Check: TypeAlias = Callable[[Scenario, Sequence[Variant]], Iterator[Fault]]

CHECKS: tuple[Check, ...] = (
    check_variety.names_are_usable,
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
    check_variety.history_is_apart,
    check_variety.variants_are_distinct,
    check_variety.phrasings_are_many,
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
