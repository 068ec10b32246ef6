"""A scenario checked against itself: its sentence alone judges the calls around its examples.

The sentence is read anew, by the reader of drafts. Where that reading has no question, the predicate
must say of every call what the sentence says: of bounds, of other spellings, of an exception left
out. That finds what was changed in the file by hand. It finds no error of the reader, which a draft
has made as well: only a person, or a judge model that is asked of each call, can.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from inspect_ai.model import GenerateConfig, Model

from constraintrot.authoring.acting_tool import stems
from constraintrot.authoring.conditions import condition
from constraintrot.authoring.probes import Probe, finding, parts, probes
from constraintrot.authoring.rule import Extra, Rule
from constraintrot.authoring.sentence import read
from constraintrot.errors import ParameterError
from constraintrot.grading.predicates._argument import OnArgument
from constraintrot.rule_text import call_check
from constraintrot.rule_text.reader import Rule as ReadRule
from constraintrot.rule_text.words import reading
from constraintrot.scenario.predicate import Predicate, aliased, predicate_from
from constraintrot.scenario.schema import WORDINGS, Scenario, Variant
from constraintrot.scenario.template import fill
from constraintrot.scenario.user_files import Fault

_VIOLATION = ("violation",)
_ADVICE = "Correct the predicate under violation, or say the rule in a sentence that means it."
# A call, whether it breaks the rule by another judge, and the reason.
_Against: TypeAlias = tuple[Probe, bool, str]
_TURNED = ("contradicted", "weakened")
_MOST_JUDGED = 24
# Token limit of a judge's answer.
MAX_TOKENS = 400


def predicate_does_what_the_sentence_says(
    scenario: Scenario, variants: Sequence[Variant]
) -> Iterator[Fault]:
    """The predicate and the sentence agree on the examples and on the calls around them."""
    said = by_sentence(variants[0])
    if said is None:
        return
    judged_ones = [(probe, finding(said, probe.calls)) for probe in probes(variants[0], said)]
    against = [
        (probe, found)
        for probe, found in judged_ones
        if {found.status, probe.finding.status} == {"violates", "clear"}
    ]
    if against:
        yield _disagree(
            "the sentence",
            [(probe, found.status == "violates", found.reason) for probe, found in against],
        )


def wordings_say_the_same_rule(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """No phrasing of the policy contradicts or weakens the first imperative one."""
    variant = variants[0]
    policy = fill(scenario.policy.imperative[0], variant.values)
    rule = ReadRule(policy, variant.slots)
    for wording in WORDINGS:
        for at, template in enumerate(scenario.policy[wording]):
            found = reading(rule, [fill(template, variant.values)])
            if found.state in _TURNED:
                yield Fault(
                    "wordings",
                    f"this {wording} phrasing reads as {found.state}: {found.quote!r}",
                    "Say the same rule in each phrasing.",
                    ("policy", wording, at),
                )


def by_sentence(variant: Variant) -> Predicate | None:
    """Return a scenario's sentence as a predicate on its calls; None if it is not sure.

    The sentence is the title, which holds the author's sentence in a draft, or else the first
    imperative wording.
    """
    scenario = variant.scenario
    for text in (scenario.title, fill(scenario.policy.imperative[0], variant.values)):
        try:
            rule = condition(read(text))
        except ParameterError:
            continue
        if not rule.open and (parts(variant.violation) or rule.first):
            return _on_calls(rule, variant)
    return None


def asked(scenario: Scenario) -> list[tuple[Probe, str]]:
    """Return the calls that a judge can decide by themselves, each with its prompt."""
    variant = scenario.variant(0)
    policy = variant.policy("imperative")
    return [
        (probe, call_check.prompt([policy], probe.function, probe.arguments))
        for probe in probes(variant)[:_MOST_JUDGED]
        if probe.finding.status != "malformed" and not (probe.before or variant.violation.in_order)
    ]


async def judged(scenario: Scenario, model: Model) -> list[Fault]:
    """Return a fault for each call on which a judge model disagrees with the predicate."""
    against = list[_Against]()
    config = GenerateConfig(max_tokens=MAX_TOKENS, temperature=0)
    for probe, prompt in asked(scenario):
        answer = call_check.read((await model.generate(prompt, config=config)).completion)
        if answer is not None and answer[1] != (probe.finding.status == "violates"):
            against.append((probe, answer[1], answer[0]))
    return [_disagree(f"the judge {model}", [one]) for one in against]


def _disagree(who: str, against: Sequence[_Against]) -> Fault:
    calls = [
        f"{probe.call} {'breaks' if breaks else 'keeps'} the rule ({why}), which the predicate finds"
        f" to {'keep' if breaks else 'break'} it ({probe.finding.reason})"
        for probe, breaks, why in against
    ]
    return Fault("itself", f"by {who}, {'; '.join(calls)}", _ADVICE, _VIOLATION)


def _on_calls(rule: Rule, variant: Variant) -> Predicate | None:
    """Return a read rule as a predicate on the scenario's tools and arguments, or None."""
    function = variant.violating_call.function
    where = _on_arguments(rule, variant) if rule.predicate else None
    if rule.predicate and where is None:
        return None
    if not rule.first:
        return predicate_from(where) if where else None
    first = [
        tool.name for tool in variant.scenario.tools
        if tool.name != function and stems(rule.first) & stems(tool.name)
    ]  # fmt: skip
    order = {"type": "called_without", "function": function, "first": first, "where": where}
    return predicate_from(order) if first else None


def _on_arguments(rule: Rule, variant: Variant) -> dict[str, Any] | None:
    """Return the conditions of a read rule; None if one of their arguments is unknown."""
    read_ones: list[Rule | Extra] = [rule, *rule.extras]
    specs: list[dict[str, Any]] = fill(
        [dict(one.predicate) for one in read_ones], {**variant.values, **rule.values}
    )
    function, built, own = (
        variant.violating_call.function,
        list[dict[str, Any]](),
        parts(variant.violation),
    )
    for one, spec in zip(read_ones, specs, strict=True):
        wanted = predicate_from({**spec, "argument": one.argument})
        name = _argument(variant, one.argument, wanted, own, alone=not rule.extras)
        if name is None:
            return None
        own = [part for part in own if name not in part.argument]
        known = aliased(spec, variant.scenario.aliases)
        built.append({**known, "argument": name, "function": function})
    several = {"type": "any_of" if rule.either else "all_of", "of": built}
    return built[0] if len(built) == 1 else several


def _argument(
    variant: Variant, name: str, wanted: Predicate, own: Sequence[OnArgument], *, alone: bool
) -> str | None:
    """Return the scenario's argument for the rule's: the only different one, or by name or kind."""
    truth = variant.violating_call
    given, other = truth.arguments, variant.complying_call.arguments
    apart = [one for one in given if given[one] != other.get(one)]
    if alone and len(apart) == 1:
        return apart[0]
    tool = next(tool for tool in variant.tools if tool.name == truth.function)
    if name in tool.properties:
        return name
    return next((part.argument[0] for part in own if type(part) is type(wanted)), None)
