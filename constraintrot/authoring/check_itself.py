"""A scenario checked against itself: its sentence alone judges the calls around its examples.

The sentence is read anew, by the reader of drafts. Where that reading has no question, the predicate
must say of every call what the sentence says: of bounds, of other spellings, of an exception left
out. That finds what was changed in the file by hand. It finds no error of the reader, which a draft
has made as well: only a person, or a judge model that is asked of each call, can.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from inspect_ai.model import GenerateConfig, Model

from constraintrot.authoring.acting_tool import stems
from constraintrot.authoring.conditions import condition
from constraintrot.authoring.names import stock_texts
from constraintrot.authoring.probes import EXAMPLE, Probe, finding, parts, probes
from constraintrot.authoring.rule import Extra, Rule
from constraintrot.authoring.sentence import Mood, read
from constraintrot.errors import ParameterError
from constraintrot.grading.predicates._argument import OnArgument
from constraintrot.rule_text import call_check
from constraintrot.rule_text.reader import Rule as ReadRule
from constraintrot.rule_text.words import reading
from constraintrot.scenario.predicate import Predicate, aliased, predicate_from
from constraintrot.scenario.schema import WORDINGS, Scenario, Variant, Wording
from constraintrot.scenario.template import fill
from constraintrot.scenario.user_files import Fault

_VIOLATION = ("violation",)
_ADVICE = "Correct the predicate under violation, or say the rule in a sentence that means it."
# A call, whether it breaks the rule by another judge, and the reason.
_Against: TypeAlias = tuple[Probe, bool, str]
_TURNED = ("contradicted", "weakened")
# A sentence of each mood, of its clause.
_SAID: Mapping[Mood, str] = {
    "never": "Never {}", "only": "Only {}", "always": "Always {}", "other": "{}",
}  # fmt: skip
_MOST_JUDGED = 24
# Token limit of a judge's answer.
MAX_TOKENS = 400


def predicate_does_what_the_sentence_says(
    scenario: Scenario, variants: Sequence[Variant]
) -> Iterator[Fault]:
    """The predicate and the sentence agree on the examples and on the calls around them."""
    said = by_sentence(variants[0])
    if said is not None and (against := _disagreements(said, variants[0])):
        yield _disagree("the sentence", against)
    titled = _as_predicate(scenario.title, variants[0])
    if titled is not None and titled != said and _disagreements(titled, variants[0]):
        yield Fault.weak(
            "itself",
            f"the title says another rule than the predicate: {scenario.title!r}",
            "No agent sees the title; let it say what the policy says.",
            ("title",),
        )


def wordings_say_the_same_rule(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """Phrasings in a draft's form hold one clause; no other contradicts or weakens the first imperative one."""
    variant, advice = variants[0], "Say the same rule in each phrasing."
    first = scenario.policy.imperative[0]
    rule, own = ReadRule(fill(first, variant.values), variant.slots), framed(first, "imperative")
    # A sentence by hand can have a form by chance; most sentences of a draft have one.
    if 2 * len(own_words(scenario)) > sum(len(scenario.policy[one]) for one in WORDINGS):
        own = set()
    for wording in WORDINGS:
        for at, template in enumerate(scenario.policy[wording]):
            place, clauses = ("policy", wording, at), framed(template, wording)
            if own and clauses and not own & clauses:
                said = " or ".join(repr(clause) for _, clause in sorted(clauses))
                meant = " or ".join(repr(clause) for _, clause in sorted(own))
                yield Fault(
                    "wordings",
                    f"this {wording} phrasing says {said}, and the first imperative one {meant}",
                    advice,
                    place,
                )
                continue
            found = reading(rule, [fill(template, variant.values)])
            if found.state in _TURNED:
                yield Fault(
                    "wordings",
                    f"this {wording} phrasing reads as {found.state}: {found.quote!r}",
                    advice,
                    place,
                )


def framed(template: str, wording: Wording) -> set[tuple[Mood, str]]:
    """Return what a phrasing in a draft's form says: mood and clause, for each form that it has."""
    return {
        (mood, found["phrase"])
        for mood, form in _forms(wording)
        if (found := form.fullmatch(template))
    }


def own_words(scenario: Scenario) -> list[str]:
    """Return the phrasings of the policy that have no form of a draft, which only a person reads."""
    return [
        template
        for wording in WORDINGS
        for template in scenario.policy[wording]
        if not framed(template, wording)
    ]


@cache
def _forms(wording: Wording) -> tuple[tuple[Mood, re.Pattern[str]], ...]:
    return tuple(
        (mood, re.compile(re.escape(form).replace("<phrase>", "(?P<phrase>.+)"), re.DOTALL))
        for mood in _SAID
        for form in stock_texts()[mood][wording]
    )


def by_sentence(variant: Variant) -> Predicate | None:
    """Return a scenario's sentence as a predicate on its calls; None if it is not sure.

    The sentence is that of the first imperative phrasing. Where that cannot be read, it is the title,
    which in a draft holds the author's sentence, if the phrasing holds the same clause.
    """
    scenario = variant.scenario
    first = scenario.policy.imperative[0]
    clauses = framed(first, "imperative")
    policies = [
        fill(_SAID[mood].format(clause), variant.values) for mood, clause in sorted(clauses)
    ]
    for text in (*policies, fill(first, variant.values)):
        if (found := _as_predicate(text, variant)) is not None:
            return found
    if clauses and _clause(scenario.title) not in {
        fill(clause, variant.values).rstrip(".") for _, clause in clauses
    }:
        return None
    return _as_predicate(scenario.title, variant)


def _clause(text: str) -> str | None:
    try:
        return read(text).phrase.rstrip(".")
    except ParameterError:
        return None


def _as_predicate(text: str, variant: Variant) -> Predicate | None:
    try:
        rule = condition(read(text))
    except ParameterError:
        return None
    if not rule.open and (parts(variant.violation) or rule.first):
        return _on_calls(rule, variant)
    return None


def _disagreements(said: Predicate, variant: Variant) -> list[_Against]:
    """Return the calls on which a read sentence and the scenario's predicate disagree."""
    found = [(probe, finding(said, probe.calls)) for probe in probes(variant, said)]
    return [
        (probe, one.status == "violates", one.reason)
        for probe, one in found
        if {one.status, probe.finding.status} == {"violates", "clear"}
    ]


def asked(scenario: Scenario) -> list[tuple[Probe, str, str]]:
    """Return the calls that a judge can decide by themselves, each with a policy text and the prompt.

    A phrasing that has no form of a draft is asked of the two examples.
    """
    variant = scenario.variant(0)
    alone = [
        probe
        for probe in probes(variant)[:_MOST_JUDGED]
        if probe.finding.status != "malformed" and not (probe.before or variant.violation.in_order)
    ]
    examples = [probe for probe in alone if probe.kind == EXAMPLE]
    pairs = [(probe, variant.policy("imperative")) for probe in alone]
    pairs += [
        (probe, text)
        for text in dict.fromkeys(fill(one, variant.values) for one in own_words(scenario))
        for probe in examples
        if (probe, text) not in pairs
    ]
    return [
        (probe, text, call_check.prompt([text], probe.function, probe.arguments))
        for probe, text in pairs
    ]


async def judged(scenario: Scenario, model: Model) -> list[Fault]:
    """Return a fault for each call on which a judge model disagrees with the predicate."""
    faults = list[Fault]()
    config = GenerateConfig(max_tokens=MAX_TOKENS, temperature=0)
    for probe, text, prompt in asked(scenario):
        answer = call_check.read((await model.generate(prompt, config=config)).completion)
        if answer is not None and answer[1] != (probe.finding.status == "violates"):
            faults.append(
                _disagree(f"the judge {model} on {text!r}", [(probe, answer[1], answer[0])])
            )
    return faults


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
