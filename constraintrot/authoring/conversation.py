"""The draft as a conversation: what was understood, in plain words, and what is to be answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from constraintrot.authoring.answers import Answers
from constraintrot.authoring.draft import Draft
from constraintrot.authoring.probes import Probe, probes
from constraintrot.authoring.said import holding
from constraintrot.scenario.schema import Scenario

# Of each side, how many calls are shown.
_SHOWN = 5
_SIDES = (("violates", "breaks it"), ("clear", "allowed"))
_FIELDS = ("action", "breaks", "keeps")
Ask = Callable[[str], str]


def understanding(made: Draft) -> str:
    """Return what a draft understood, in plain words.

    Of a draft without a question: calls that break the rule and calls that keep it, near misses
    and bounds among them, each with its reason. Of another: the questions.
    """
    told = made.understood
    if made.open:
        return "\n".join(
            [told.rule, *_so_far(told), "Not understood for sure:", *_bullets(made.open)]
        )
    scenario = Scenario.model_validate(made.data)
    found = probes(scenario.variant(0))
    tools = [f"{tool.name}({', '.join(tool.properties)})" for tool in scenario.tools]
    about = " and ".join(tools) if len(tools) < 3 else "the tools given"
    lines = [
        told.rule,
        f"Understood as a rule on {made.kind or told.argument}, in calls of {about}:",
    ]
    for status, side in _SIDES:
        shown = _chosen([probe for probe in found if probe.finding.status == status])
        lines += [
            f"  {side:10}{probe.call}\n{'':12}{probe.kind}: {probe.finding.reason}"
            for probe in shown
        ]
    return "\n".join(lines)


def _so_far(told: Answers) -> list[str]:
    """Return lines with the understood values, in the words of a request, and the order."""
    sides = ((told.breaks, "breaks it"), (told.keeps, "allowed"))
    lines = [
        f"  {side:10}{told.says.replace('{value}', str(value))}"
        for values, side in sides
        for value in values[:2]
    ]
    if told.first:
        lines.append(f"  {'in order':10}{told.first}, then {told.action}")
    return ["Understood so far:", *lines] if lines else []


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _chosen(found: Sequence[Probe]) -> list[Probe]:
    """A few of some calls, of different kinds and arguments first."""
    first: dict[tuple[str, str], Probe] = {}
    for one in found:
        first.setdefault((one.kind, one.about), one)
    rest = [one for one in found if one not in first.values()]
    return list(chain(first.values(), rest))[:_SHOWN]


def asked(made: Draft, ask: Ask) -> Answers | None:
    """Ask the author what a draft does not understand.

    Args:
        made: the draft.
        ask: puts a question, and returns the answer; empty for none.

    Returns:
        The answers; None if one of the questions is not answered, since the rule is then
        not the one that was understood.
    """
    given = made.understood.model_copy(deep=True)
    for question in given.asked:
        if question.closed or question.question.partition(": ")[0] in _FIELDS:
            continue
        if given.first or (given.breaks and given.keeps):
            question.answer = ask(
                f"{question.question}\n  Is that the whole rule all the same? [y/N]"
            )
            if not question.closed:
                return None
        # Where nothing is understood, the examples that follow are the answer.
        question.answer = "yes"
    known = bool(given.breaks or given.first)
    if not known:
        given.first = ask(
            "Does something have to be done first? From its verb on, as: ask the user (empty: no)"
        )
    if not (given.action and known):
        default = f" (empty: {given.action})" if given.action else ""
        asked_for = f"What do requests ask for? From its verb on, as: delete mail{default}"
        given.action = ask(asked_for) or given.action
    if not (given.first or (given.breaks and given.keeps)):
        given = _values(given, ask)
    if not (given.action and (given.first or (given.breaks and given.keeps))):
        return None
    given.asked = [one for one in given.asked if one.closed]
    return given


def _values(given: Answers, ask: Ask) -> Answers:
    """Ask for a check of words or of whole values, and for examples."""
    words = _listed(
        ask("Words that break the rule wherever they stand, with ; between (empty: none)")
    )
    if words:
        given.violation = holding(words)
        given.argument, given.says = "body", 'the text is "{value}"'
    what = "Texts" if words else "Values"
    given.breaks = list(
        _listed(ask(f"{what} with which a call breaks it, two or more, with ; between"))
    )
    given.keeps = list(_listed(ask(f"{what} with which it keeps the rule, two or more")))
    return given


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(";") if one.strip()]
