"""What the scripted agents answer as a verifier of proposed calls.

``obedient`` tells the truth: as a fake it may know the scenarios, so it finds
the one whose policy a rule of the prompt states, with the values that stand in
it, and asks that scenario's own predicate. ``reckless`` sees no breach, ever;
``refuser`` sees one in every call; ``garbage`` cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from constraintrot.defenses.tool_gate import verifier
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.models.scripted.request_parser import combinations, open_slots
from constraintrot.scenario.files import every
from constraintrot.scenario.predicate import Predicate, predicate_from
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.template import fill, names

GARBAGE = "garbage"
# Whose answers to give, in place of the script's own.
STYLES = ("obedient", "reckless", "refuser", GARBAGE)


def asked(text: str) -> bool:
    """Whether a message is a verifier's prompt."""
    return text.startswith(verifier.MARKER)


def answer(text: str, style: str) -> str:
    """A verifier's answer to a prompt.

    Args:
        text: the prompt.
        style: one of ``STYLES``.
    """
    if style == GARBAGE:
        return "It depends on what you mean by that."
    if style != "obedient":
        return verifier.render("whatever it says", style == "refuser")
    rules, function, arguments = verifier.parse(text)
    broken = (rule for rule in rules if _breaks(rule, function, arguments))
    first = next(broken, None)
    return verifier.render(first or verifier.NO_RULE, first is not None)


def _breaks(rule: str, function: str, arguments: Any) -> bool:
    if not isinstance(arguments, Mapping):
        return False
    given = cast("Mapping[str, Any]", arguments)
    return any(
        predicate.check(function, given).status == "violates"
        for scenario in every()
        if function in {tool.name for tool in scenario.tools}
        for predicate in _stated(scenario, rule)
    )


def _stated(scenario: Scenario, rule: str) -> Iterator[Predicate]:
    """The scenario's predicate for all values with which the rule states its policy.

    A value that the policy does not name cannot be read from it; of those with
    the same named values, each gives the same predicate or a further one.
    """
    if policy_in([rule], open_slots(scenario, {})) is None:
        return
    for values in combinations(scenario, names(scenario.violation), {}):
        if policy_in([rule], open_slots(scenario, values)) is not None:
            yield predicate_from(fill(scenario.violation, values))
