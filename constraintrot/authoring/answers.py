"""The understanding of a rule, as a short file that its author corrects and completes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from constraintrot.authoring.rule import Rule, alone
from constraintrot.documents import read_text, yaml_data
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.scenario.predicate import aliased, predicate_from
from constraintrot.scenario.sections import Scalar
from constraintrot.scenario.template import Value, fill

_LEAST = 3
# A plain value, unlike text or code, whose signs have meaning.
_PLAIN = re.compile(r"[\w .:@#/-]+")
_SAYS = {"violates": "breaks the rule", "clear": "keeps it", "malformed": "cannot be read"}
_HEAD = """\
# How the rule is understood. Correct what is wrong and fill in what is empty. A question doubts what
# stands here: answer "yes" if it is right all the same. Then:
#   {command}
# breaks, keeps: values of the argument, three or more together. violation: a predicate of
# docs/your-policy.md, without its argument; left empty, the values under breaks are what is forbidden.
# words: of these, one must stand in every summary that keeps the rule. says: {{value}} is the value.
# aliases: other names of what the predicate lists, as {{production: [prd, live]}}.
# anew: true drops all that was understood and is not here.
# first: what has to be done before ("ask the user"); without breaks and keeps, before every such act.
"""


class Question(BaseModel):
    """A question about the rule, and the author's answer."""

    model_config = ConfigDict(extra="forbid")

    question: str
    answer: str | bool | None = None

    @property
    def closed(self) -> bool:
        return self.answer is True or str(self.answer).strip().casefold() in ("yes", "y", "ok")


class Answers(BaseModel):
    """An author's corrections of a rule; empty fields stay as the draft understood them."""

    model_config = ConfigDict(extra="forbid")

    rule: str
    action: str = ""
    argument: str = ""
    says: str = ""
    breaks: list[Scalar] = []
    keeps: list[Scalar] = []
    violation: dict[str, Any] = {}
    words: list[Scalar] = []
    first: str = ""
    aliases: dict[str, list[str]] = {}
    anew: bool = False
    asked: list[Question] = []

    def applied(self, rule: Rule) -> Rule:
        """Return a rule with the answers in it."""
        if self.first and not (self.breaks or self.keeps or rule.predicate):
            act = alone()
            return replace(act, action=self.action or rule.action, first=self.first)
        wrong, right = self.breaks or list(rule.wrong), self.keeps or list(rule.right)
        spec = {
            key: one for key, one in self.violation.items() if key not in ("function", "argument")
        }
        if rule.predicate and spec == fill(dict(rule.predicate), dict(rule.values)):
            spec = dict(rule.predicate)
        elif not spec and self.breaks and not rule.predicate:
            spec = _forbidding([str(one) for one in wrong], [str(one) for one in right])
        spec = spec or dict(rule.predicate)
        if (self.breaks or self.keeps or self.violation) and spec:
            if (self.breaks or self.keeps) and len({*wrong, *right}) < _LEAST:
                raise ParameterError(
                    f"breaks, keeps: give {_LEAST} values or more together, not {[*wrong, *right]};"
                    " typed ones have ; between"
                )
            _told_apart(aliased(fill(spec, dict(rule.values)), self.aliases), wrong, right)
        count = max(len(wrong), len(right))
        return replace(
            rule,
            predicate=spec,
            action=self.action or rule.action,
            argument=self.argument or rule.argument,
            says=self.says or rule.says,
            wrong=_cycled(wrong, count),
            right=_cycled(right, count),
            phrases=self.words or rule.phrases,
            first=self.first,
            aliases=self.aliases,
            other="" if self.breaks else rule.other,
            asks=rule.asks if wrong == list(dict.fromkeys(rule.wrong)) else (),
        )

    def still(self, open: Sequence[str]) -> list[str]:
        closed = {one.question for one in self.asked if one.closed}
        return [one for one in open if one not in closed]

    def questions(self, more: Iterable[str]) -> Answers:
        """Return the answers with further questions that were not answered yes."""
        closed = {one.question for one in self.asked if one.closed}
        new = [Question(question=one) for one in more if one not in closed]
        return self.model_copy(update={"asked": [*self.asked, *new]})

    def text(self, command: str) -> str:
        data = self.model_dump()
        dumped = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10_000)
        return _HEAD.format(command=command) + dumped


def understood(text: str, rule: Rule, action: str, open: Sequence[str]) -> Answers:
    spec = fill(dict(rule.predicate), dict(rule.values)) if rule.predicate else {}
    told = bool(spec) or not (rule.first or rule.other)
    return Answers(
        rule=text,
        action=action,
        argument=rule.argument,
        says=rule.says,
        breaks=list(dict.fromkeys(rule.wrong)) if told else [],
        keeps=list(dict.fromkeys(rule.right)) if told else [],
        violation=spec,
        words=[] if rule.values else list(rule.phrases),
        first=rule.first,
        asked=[Question(question=one) for one in open],
    )


def read(text: str, where: str) -> Answers:
    """Parse the text of a file of answers; errors name the file."""
    data = yaml_data(text, where, ParameterError)
    try:
        return Answers.model_validate(data)
    except ValidationError as error:
        said = re.sub(r"\s+", " ", str(error))[:400]
        raise ParameterError(f"{where}: {said}") from error


def read_file(path: Path) -> Answers:
    return read(read_text(path, error=ParameterError), str(path))


def _forbidding(wrong: Sequence[str], right: Sequence[str]) -> dict[str, Any]:
    """Return a predicate that forbids some examples, case-sensitive if the others need it."""
    cased = not {one.casefold() for one in wrong}.isdisjoint(one.casefold() for one in right)
    if not cased and all(map(_PLAIN.fullmatch, [*wrong, *right])):
        return {"type": "value_outside", "forbidden": list(wrong)}
    either = "|".join(map(re.escape, wrong))
    return {"type": "text_matching", "forbidden": rf"^\s*(?{'-i' if cased else ''}:{either})\s*$"}


def _told_apart(spec: dict[str, Any], wrong: Sequence[Value], right: Sequence[Value]) -> None:
    try:
        predicate = predicate_from({**spec, "argument": "value", "function": "call"})
    except (ValidationError, ConstraintRotError) as error:
        said = re.sub(r"\s+", " ", str(error))[:300]
        raise ParameterError(f"violation: {said}") from error
    for name, values, status in (("breaks", wrong, "violates"), ("keeps", right, "clear")):
        for value in values:
            found = predicate.check("call", {"value": value})
            if found.status != status:
                raise ParameterError(
                    f"{name}: by the predicate {spec.get('type')}, {value!r} {_SAYS[found.status]}:"
                    f" {found.reason} Correct the value, or the predicate under violation"
                )


def _cycled(values: Sequence[Value], count: int) -> list[Value]:
    return [values[at % len(values)] for at in range(count)] if values else []
