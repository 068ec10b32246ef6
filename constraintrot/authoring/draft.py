"""A whole scenario from one sentence; without a question if its reading is certain."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import ValidationError

from constraintrot.authoring import acting_tool
from constraintrot.authoring.answers import Answers, understood
from constraintrot.authoring.certain import certain
from constraintrot.authoring.check_requests import gives_away
from constraintrot.authoring.check_texts import value_slots
from constraintrot.authoring.conditions import condition, telling
from constraintrot.authoring.entries import entries
from constraintrot.authoring.probes import Probe, probes
from constraintrot.authoring.rule import Rule, unknown
from constraintrot.authoring.sentence import Sentence, read
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.rule_text.survival import best_window
from constraintrot.scenario import history
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.sections import Tool

# Seeds and turns of each topic that are searched for hints, and the number of topics kept.
_SEEDS, _TURNS, _KEPT = range(4), 14, 6
_DIGITS = re.compile(r"\d+")
CONFIRM = "whether calls break and keep the rule as listed, and nothing of it is left out"


@dataclass(frozen=True)
class Draft:
    """A drafted scenario file, or the questions to answer before there is one.

    Attributes:
        open: the unsure parts, each as a question.
        data: the file's entries; empty if there is a question.
        examples: calls that break the rule and calls that keep it, as far as it is understood.
    """

    understood: Answers
    kind: str
    open: tuple[str, ...]
    data: dict[str, Any]
    examples: Sequence[Probe] = ()


def draft(
    text: str,
    tools: Sequence[Tool] = (),
    family: str | None = None,
    answers: Answers | None = None,
    called: str = "",
) -> Draft:
    """Draft a scenario for a policy, which is one sentence.

    Without tools, one is made up for the policy; without a family, its name is made of the tool's.
    ``called`` has the arguments of recorded calls, as ``Sentence`` has them.
    """
    sentence = replace(read(text), called=called)
    anew = answers is not None and answers.anew
    rule = unknown(telling(sentence)) if anew else condition(sentence)
    sure = certain(sentence, rule)
    if answers is not None:
        sure = sure or any(one.closed for one in answers.asked)
        rule = answers.applied(rule)
    # A request that mentions approval would tell the agent the rule's subject.
    action = re.sub(r"^approve\b", "sign off", rule.action or sentence.action(rule.start))
    action = re.sub(r"\b(?:manually|directly) ", "", action)
    if tools:
        acting = acting_tool.among(tools, sentence, rule)
        action = action or re.sub(r"[_-]+", " ", acting.tool.name)
    else:
        acting = acting_tool.made_up(rule, action)
    doubts = list(acting.open) or ([] if sure else [CONFIRM])
    opened = answers.still(doubts) if answers is not None else doubts
    lacking = [f"{what} (fill it in)" for what in _lacking(acting.rule, action)]
    data, found = ({}, []) if lacking else _played(sentence, acting, action, family, bool(opened))
    opened += lacking
    opened += [
        f"whether {one.call} breaks the rule; {one.finding.reason}"
        for one in found
        if one.finding.status == "malformed"
    ][:1]
    told = understood(sentence.text, acting.rule, "" if gives_away(action) else action, opened)
    if answers is not None:
        told.asked += [one for one in answers.asked if one.closed]
    if opened:
        return Draft(told, rule.kind, tuple(opened), {}, found)
    return Draft(told, rule.kind, (), {**data, "topics": _silent(data)}, found)


def _played(
    sentence: Sentence, acting: acting_tool.Acting, action: str, family: str | None, guessed: bool
) -> tuple[dict[str, Any], list[Probe]]:
    """Return a file's entries and the calls around its examples; empty for an unplayable guess."""
    try:
        data = entries(sentence, acting, action, family)
        return data, probes(Scenario.model_validate(data).variant(0))
    except (ConstraintRotError, ValidationError) as error:
        if guessed:
            return {}, []
        if isinstance(error, ValidationError):
            said = re.sub(r"\s+", " ", str(error))[:300]
            raise ParameterError(
                "this rule comes to no scenario; say it in other words, or answer it in a file"
                f" (--answers): {said}"
            ) from error
        raise


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
    """Return topics that cannot state the policy or a value of it, or the first if none is such."""
    silent = (name for name in data["topics"] if not _hints(data, name))
    return list(islice(silent, _KEPT)) or list(data["topics"])[:_KEPT]


def _hints(data: dict[str, Any], topic: str) -> bool:
    """Return whether a topic's turns can state the policy or a value of it.

    A topic draws its numbers anew for each seed: where it says "40 days", it may say "30 days".
    """
    scenario = Scenario.model_validate({**data, "topics": [topic]})
    telling, slots = value_slots(scenario), scenario.variant(0).slots
    masked = {
        name: [_DIGITS.sub("0", one) for one in map(str, some) if not one.isdecimal()]
        for name, some in slots.items()
    }
    for seed in _SEEDS:
        for turn in islice(history.turns(scenario.variant(seed)), _TURNS):
            text = turn.model_dump_json()
            held = best_window(text, slots) | best_window(_DIGITS.sub("0", text), masked)
            if held & telling or held == set(slots):
                return True
    return False
