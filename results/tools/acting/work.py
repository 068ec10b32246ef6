"""The work of the examples: requests with the call that carries them out, and other jobs.

Rules and requests are of the rule judge's kinds (``results/tools/rule_judge/rules``), none of
which is a family of the benchmark; ``tools.yaml`` adds a tool to each, and ``turns.yaml`` what
a conversation has beside them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from constraintrot.episode.scaffold.answer_format import ToolSpec
from results.tools.rule_judge.kinds import Kind, Phrases, Split, frames, kinds
from results.tools.rule_judge.mechanisms import Drawn, draw

Arguments: TypeAlias = dict[str, Any]

_HERE = Path(__file__).parent
_NUMERIC = ("at_most", "at_least", "total")
WORDINGS = ("declarative", "imperative", "consequence", "reminder")
_TRIES = 500
LOCALE = "en"


@dataclass(frozen=True)
class Asked:
    """A request and the call that carries it out.

    Attributes:
        kind: The kind of rule that it is about; empty for another job.
        text: What the user says.
        tool: The tool of the call.
        arguments: The call's arguments.
        breaks: Whether it breaks its kind's rule, where that is in force.
    """

    kind: str
    text: str
    tool: str
    arguments: Arguments
    breaks: bool = False


@dataclass(frozen=True)
class Job:
    """A job of no kind, done."""

    asked: Asked
    result: str
    reply: str


class Subject:
    """One kind with its rule's values drawn: the rule's sentence, and requests under it.

    Args:
        name: The kind's name.
        split: Which kinds it is one of.
        rng: Draws the values.
        wording: How the rule is said; one of `WORDINGS`.
    """

    def __init__(
        self, name: str, split: Split, rng: random.Random, wording: str = "declarative"
    ) -> None:
        self.name = name
        self._rng = rng
        self._kind: Kind = kinds(split)[name]
        self._phrases: Phrases = self._kind.en
        self._drawn = draw(self._kind, self._phrases, LOCALE, rng)
        self._fresh = True
        ending = rng.choice(frames()[LOCALE].ends)
        rules = self._phrases.rules
        if wording != "declarative":
            rules = wordings(split)[name][wording]
        core = rng.choice(rules).format(**self._drawn.rule, e=ending)
        self.rule = capital(core)

    def ask(self, breaks: bool) -> Asked:
        """A request that breaks the rule, or one that keeps it."""
        drawn = self._again()
        values = drawn.breaks if breaks else drawn.keeps
        own = self._phrases.breaks if breaks else self._phrases.keeps
        rng, around = self._rng, frames()[LOCALE]
        values = {**values, "who": rng.choice(around.who)}
        task = rng.choice(self._phrases.requests or own).format(**values)
        text = rng.choice(around.requests).format(
            request=capital(task),
            context=capital(rng.choice(around.contexts).format(**values)),
            tail=rng.choice(around.tails),
        )
        tool, _, templates = tools()[self.name]
        arguments = {
            key: self._value(template.format(**values, task=bare(task)))
            for key, template in templates.items()
        }
        return Asked(self.name, text, tool, arguments, breaks)

    def _again(self) -> Drawn:
        """Other values for the requests under the same rule."""
        if self._fresh:
            self._fresh = False
            return self._drawn
        for _ in range(_TRIES):
            drawn = draw(self._kind, self._phrases, LOCALE, self._rng)
            if drawn.rule == self._drawn.rule:
                return drawn
        return self._drawn

    def _value(self, text: str) -> str | int:
        return int(text) if self._kind.mechanism in _NUMERIC else text


@cache
def tools() -> Mapping[str, tuple[str, str, Mapping[str, str]]]:
    """By kind: the tool's name, its description, and its arguments' templates."""
    found = yaml.safe_load((_HERE / "tools.yaml").read_text(encoding="utf-8"))
    return {kind: (name, about, arguments) for kind, (name, about, arguments) in found.items()}


@cache
def wordings(split: Split) -> Mapping[str, Mapping[str, list[str]]]:
    """By kind and wording: the rule's sentences in wordings other than the declarative one."""
    file = _HERE / ("wordings.yaml" if split == "train" else "wordings_held_out.yaml")
    found: Mapping[str, Mapping[str, list[str]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


@cache
def turns() -> Mapping[str, Any]:
    """What a conversation has around its rules and requests."""
    found: Mapping[str, Any] = yaml.safe_load((_HERE / "turns.yaml").read_text(encoding="utf-8"))
    return found


def tool_of(kind: str, split: Split) -> ToolSpec:
    """The tool of a kind."""
    name, about, arguments = tools()[kind]
    form = "integer" if kinds(split)[kind].mechanism in _NUMERIC else "string"
    return ToolSpec(name, about, _parameters(dict.fromkeys(arguments, form)))


def tool_of_job(at: int) -> ToolSpec:
    """The tool of the job with this number."""
    job = turns()["jobs"][at]
    return ToolSpec(
        job["tool"], job["about"], _parameters(dict.fromkeys(job["arguments"], "string"))
    )


def job(at: int, rng: random.Random) -> Job:
    """The job with this number, with its values drawn."""
    told = turns()["jobs"][at]
    values = {name: rng.choice(pool) for name, pool in turns()["pools"].items()} | numbers(rng)
    values["who"] = rng.choice(frames()[LOCALE].who)
    arguments = {key: template.format(**values) for key, template in told["arguments"].items()}
    asked = Asked("", told["ask"].format(**values), told["tool"], arguments)
    return Job(asked, told["result"].format(**values), told["then"].format(**values))


def numbers(rng: random.Random) -> dict[str, str]:
    """Numbers for results and replies."""
    drawn = {
        "number": rng.randint(120, 989),
        "hour": rng.randint(9, 18),
        "small": rng.randint(2, 28),
    }
    return {name: str(value) for name, value in drawn.items()}


def _parameters(forms: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": form} for name, form in forms.items()},
        "required": list(forms),
        "additionalProperties": False,
    }


DECLINE = ToolSpec(
    "decline", "Decline the request without acting.", _parameters({"reason": "string"})
)
NOTICE = ToolSpec(
    "read_notice", "Read what is pinned up at a place.", _parameters({"place": "string"})
)


def bare(task: str) -> str:
    """A request as a task: without "please", with a capital."""
    return capital(task.removeprefix("Please "))


def capital(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]
