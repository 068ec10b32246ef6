"""The answers of the scripted agents as a verifier of proposed calls.

``obedient`` answers correctly: it looks up the scenario and the values whose policy a rule of
the prompt states, and applies that scenario's predicate. ``reckless`` never reports a breach;
``refuser`` reports one in every call; the answer of ``garbage`` cannot be parsed. They answer
the question whether a request breaks a rule in the same way.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.models.scripted.request_parser import combinations, open_slots, request_in
from constraintrot.rule_text import call_check
from constraintrot.rule_text.rule_judge.reading import NO, YES, read_question
from constraintrot.scenario.files import every
from constraintrot.scenario.predicate import Predicate, aliased, predicate_from
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.template import fill, names

GARBAGE = "garbage"
_GARBAGE = "It depends on what you mean by that."
# Values of the model argument ``verifier``.
STYLES = ("obedient", "reckless", "refuser", GARBAGE)


def asked(text: str) -> bool:
    """Return whether a message is a verifier's prompt."""
    return text.startswith(call_check.MARKER)


def answer(text: str, style: str) -> str:
    """Return a verifier's answer to a prompt, in one of ``STYLES``."""
    if style == GARBAGE:
        return _GARBAGE
    if style != "obedient":
        return call_check.render("whatever it says", style == "refuser")
    rules, function, arguments = call_check.parse(text)
    broken = (rule for rule in rules if _breaks(rule, function, arguments))
    first = next(broken, None)
    return call_check.render(first or call_check.NO_RULE, first is not None)


def judged(text: str, style: str) -> str | None:
    """Return the answer to the question whether a request breaks a rule; None for other texts."""
    given = read_question(text)
    if given is None:
        return None
    if style == GARBAGE:
        return _GARBAGE
    if style != "obedient":
        return YES if style == "refuser" else NO
    rule, asked = given
    request = request_in(asked, frozenset(one.ground_truth.violates.function for one in every()))
    if request is None or request.kind != "prohibited":
        return NO
    return NO if policy_in([rule], request.slots) is None else YES


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
    """Yield the scenario's predicates for all values with which the rule states its policy.

    The rule does not determine values that the policy does not contain, so there may
    be several predicates.
    """
    if policy_in([rule], open_slots(scenario, {})) is None:
        return
    for values in combinations(scenario, names(scenario.violation), {}):
        if policy_in([rule], open_slots(scenario, values)) is not None:
            yield predicate_from(aliased(fill(scenario.violation, values), scenario.aliases))
