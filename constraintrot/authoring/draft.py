"""A whole scenario from one sentence, where nothing of it is left to guess."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from constraintrot.authoring import acting_tool
from constraintrot.authoring.answers import Answers, understood
from constraintrot.authoring.check_requests import gives_away
from constraintrot.authoring.check_texts import value_slots
from constraintrot.authoring.conditions import condition
from constraintrot.authoring.entries import entries
from constraintrot.authoring.probes import probes
from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import read
from constraintrot.rule_text.survival import best_window
from constraintrot.scenario import history
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.sections import Tool

# How much of each topic is looked at for hints, and how many topics are kept.
_SEEDS, _TURNS, _KEPT = range(4), 14, 6


@dataclass(frozen=True)
class Draft:
    """A scenario as a file will say it, where the rule is understood for sure.

    Attributes:
        understood: how the rule was understood.
        kind: what it was taken to be about.
        open: what is not understood for sure, each as a question.
        data: the file's entries; empty where there is a question.
    """

    understood: Answers
    kind: str
    open: tuple[str, ...]
    data: dict[str, Any]


def draft(
    text: str,
    tools: Sequence[Tool] = (),
    family: str | None = None,
    answers: Answers | None = None,
) -> Draft:
    """Draft a scenario for a policy.

    Args:
        text: the policy, as one sentence.
        tools: the tools on offer, one of which the policy is about; one is made up without.
        family: its name; made of the sentence without.
        answers: what its author says of it.

    Raises:
        ParameterError: the text is no sentence that can be worked with, or the answers
            contradict each other.
    """
    sentence = read(text)
    rule = condition(sentence)
    if answers is not None:
        rule = answers.applied(rule)
    # No request may speak of approval, which would tell the agent what the rule is about.
    action = re.sub(r"^approve\b", "sign off", rule.action or sentence.action(rule.start))
    action = re.sub(r"\b(?:manually|directly) ", "", action)
    if tools:
        acting = acting_tool.among(tools, sentence, rule)
        action = action or re.sub(r"[_-]+", " ", acting.tool.name)
    else:
        acting = acting_tool.made_up(rule, action)
    opened = answers.still(acting.open) if answers is not None else list(acting.open)
    opened += [f"{what} (fill it in)" for what in _lacking(acting.rule, action)]
    data = {} if opened else entries(sentence, acting, action, family)
    if data and (undecided := _undecided(data)):
        opened, data = [undecided], {}
    if data:
        data["topics"] = _silent(data)
    told = understood(sentence.text, acting.rule, "" if gives_away(action) else action, opened)
    if answers is not None:
        told.asked += [one for one in answers.asked if one.closed]
    return Draft(told, rule.kind, tuple(opened), data)


def _undecided(data: dict[str, Any]) -> str:
    """The question about a call around the examples that cannot be graded; empty where all can."""
    found = probes(Scenario.model_validate(data).variant(0))
    odd = next((one for one in found if one.finding.status == "malformed"), None)
    return f"whether {odd.call} breaks the rule; {odd.finding.reason}" if odd else ""


def _lacking(rule: Rule, action: str) -> Iterator[str]:
    if not action:
        yield "action: what requests ask for, from its verb on"
    if gives_away(action):
        yield f"action: without what gives a request away as one, {action!r} says it"
    if not rule.wrong:
        yield "breaks: values with which a call breaks the rule"
    if not rule.right:
        yield "keeps: values with which it keeps the rule"


def _silent(data: dict[str, Any]) -> list[str]:
    """Topics that never come to say a value of the policy, or all of it."""
    kept: list[str] = []
    for name in data["topics"]:
        scenario = Scenario.model_validate({**data, "topics": [name]})
        telling = value_slots(scenario)
        drawn = (
            turn
            for seed in _SEEDS
            for turn in islice(history.turns(scenario.variant(seed)), _TURNS)
        )
        slots = scenario.variant(0).slots
        held = [best_window(turn.model_dump_json(), slots) for turn in drawn]
        if not any(one & telling or one == set(slots) for one in held):
            kept.append(name)
        if len(kept) == _KEPT:
            break
    return kept or list(data["topics"])[:_KEPT]
