"""Examples for the local reader: a text or a message, and questions about rules in it.

::

    python -m results.tools.rule_reader.generator train --seed 1 --count 400

writes one JSON object a line. Equal arguments give equal bytes. A label follows from the list
that a clause was drawn from; ``texts.*.yaml`` has a list for each state and form of rule.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click
import yaml

from constraintrot.rule_text.rule_reader.prompt import NO, YES

Split: TypeAlias = Literal["train", "held_out"]
Task: TypeAlias = Literal["state", "standing"]
Phrases: TypeAlias = Mapping[str, Any]

LABELS = {
    "restated": YES, "weakened": "weak", "lifted": "free", "scoped": "else",
    "attributed": "others", "partial": "part", "deeds": "done", "lost": NO,
    "standing": YES, "other": NO,
}  # fmt: skip
"""The labels as answers of the reader."""

HERE = Path(__file__).parent
LOCALES = {"en": 7, "de": 1, "es": 1, "zh": 1}
# How often a rule of a text has each state.
_STATES = {
    "restated": 44, "weakened": 9, "lifted": 12, "scoped": 12, "attributed": 10, "partial": 6,
    "deeds": 7,
}  # fmt: skip
_SHAPES = ("bullets", "labels", "prose", "tags", "json", "numbers", "merged")
_STANDING = 0.2
_VERBATIM = 0.12
_BESIDE = 0.15
_HELD_OUT_EVERY = 5


@dataclass(frozen=True)
class Question:
    """One rule and what became of it, or one sentence and whether it instructs for good.

    Attributes:
        asked: the rule, or the sentence.
        label: the state, or ``standing`` or ``other``.
        kind: name of the rule that it was made of; empty for a neutral sentence.
    """

    asked: str
    label: str
    kind: str


@dataclass(frozen=True)
class Example:
    """A text with its questions.

    Attributes:
        task: ``state`` asks what became of rules, ``standing`` what a sentence is.
        locale: language of text and rules.
        text: the text, or the message with the sentences in it.
        speaker: who says the message; empty for a text.
        questions: they are asked apart from each other.
    """

    task: Task
    locale: str
    text: str
    speaker: str
    questions: tuple[Question, ...]


@cache
def rules(locale: str, split: Split) -> Mapping[str, Phrases]:
    """The rules of a language by name, those of one split."""
    told = _read(HERE / "rules" / f"{locale}.yaml")
    wanted = split == "held_out"
    return {name: rule for name, rule in told.items() if ("held_out" in rule) is wanted}


@cache
def texts(locale: str) -> Phrases:
    """The templates of a language."""
    return _read(HERE / f"texts.{locale}.yaml")


def _read(path: Path) -> Phrases:
    # All values are text: a rule may have a part called "no".
    told: Phrases = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return told


def of_split(templates: Sequence[str], split: Split) -> Sequence[str]:
    """The templates of a list that a split may use; a list of less than five is of both."""
    if len(templates) < _HELD_OUT_EVERY:
        return templates
    last = _HELD_OUT_EVERY - 1
    held_out = split == "held_out"
    return [t for at, t in enumerate(templates) if (at % _HELD_OUT_EVERY == last) is held_out]


def examples(split: Split, seed: int, count: int) -> list[Example]:
    """Generate texts with their questions."""
    rng = random.Random(f"rule-reader {split} {seed}")
    return [Maker(split, rng).example() for _ in range(count)]


def digest(lines: Iterable[Example]) -> str:
    """SHA-256 of the examples as they are written."""
    return hashlib.sha256("".join(map(to_line, lines)).encode()).hexdigest()


def to_line(example: Example) -> str:
    """One example as a line of JSON."""
    return json.dumps(asdict(example), ensure_ascii=False) + "\n"


class Maker:
    """One example of a split; each gets a language of its own."""

    def __init__(self, split: Split, rng: random.Random) -> None:
        self._split, self._rng = split, rng
        self._locale = rng.choices(list(LOCALES), list(LOCALES.values()))[0]
        self._rules, self._texts = rules(self._locale, split), texts(self._locale)
        self._gap = "" if self._locale == "zh" else " "

    def example(self) -> Example:
        return self._message() if self._rng.random() < _STANDING else self._text()

    def _text(self) -> Example:
        rng = self._rng
        names = rng.sample(sorted(self._rules), min(rng.randint(4, 6), len(self._rules)))
        here = names[: max(1, len(names) - rng.choice((0, 1, 1, 2)))]
        states = rng.choices(list(_STATES), list(_STATES.values()), k=len(here))
        questions, clauses, beside = list[Question](), list[tuple[str, str]](), list[str]()
        for name, state in zip(here, states, strict=True):
            given = self._fill("said", name)
            first = self._clause(state, name, given)
            clauses.append((name, first))
            beside += self._same_rule(state, name, given)
            questions.append(Question(given, state, name))
        for name in names[len(here) :]:
            if rng.random() < 0.5:
                beside.append(self._fill("lost", name))
            questions.append(Question(self._fill("said", name), "lost", name))
        rng.shuffle(questions)
        return Example("state", self._locale, self._layout(clauses, beside), "", tuple(questions))

    def _clause(self, state: str, name: str, given: str) -> str:
        """What a text says of a rule; a clause of any state may hold the rule's own words."""
        rule = self._rules[name]
        rng = self._rng
        if state == "restated" and rng.random() < _VERBATIM:
            return given
        own = {"restated": rule.get("also"), "partial": rule.get("part")}.get(state)
        if own and rng.random() < (0.25 if state == "restated" else 0.6):
            return str(rng.choice(own))
        if state == "partial" and rule.get("tail") and rng.random() < 0.7:
            return self._fill("restated", name, given="", tail="")
        return self._fill(state, name, given)

    def _same_rule(self, state: str, name: str, given: str) -> list[str]:
        """Another sentence about the same rule that takes nothing from its state."""
        if self._rng.random() > _BESIDE:
            return []
        if state == "restated":
            return [self._fill(self._rng.choice(("deeds", "lost")), name)]
        if state in ("scoped", "attributed", "deeds"):
            return [self._fill("lost", name)]
        return []

    def _layout(self, clauses: list[tuple[str, str]], beside: list[str]) -> str:
        rng, shape = self._rng, self._rng.choice(_SHAPES)
        rng.shuffle(clauses)
        noise = rng.sample(self._texts["noise"], rng.randint(1, 4)) + beside
        rng.shuffle(noise)
        said = [text for _, text in clauses]
        head = rng.choice(self._texts["heads"])
        if shape == "prose":
            parts = [*said, *noise]
            if rng.random() < 0.5:
                rng.shuffle(parts)
            return self._gap.join(parts)
        if shape == "json":
            return json.dumps({"notes": said, "progress": noise}, ensure_ascii=False)
        if shape == "tags":
            tag = rng.choice(self._texts["tags"])
            return f"<{tag}>\n" + "\n".join([*said, *noise]) + f"\n</{tag}>"
        if shape == "labels":
            said = [self._label(name) + text for name, text in clauses]
        if shape == "merged":
            said = [_merged(said[at : at + 2], self._locale) for at in range(0, len(said), 2)]
        if shape == "numbers":
            lines = [f"{at}. {text}" for at, text in enumerate(said, start=1)]
        else:
            lines = [f"- {text}" for text in said]
        done = [rng.choice(self._texts["tasks"]), *(f"- {text}" for text in noise)]
        blocks = ["\n".join([head, *lines]), "\n".join(done)]
        if rng.random() < 0.5:
            blocks.reverse()
        return "\n\n".join(blocks)

    def _label(self, name: str) -> str:
        label = str(self._rng.choice(self._texts["labels"]))
        return label.format_map(self._values(name, ""))

    def _message(self) -> Example:
        rng = self._rng
        names = rng.sample(sorted(self._rules), min(rng.randint(2, 4), len(self._rules)))
        questions = list[Question]()
        for name in names:
            if rng.random() < 0.5:
                key = rng.choice(("said", "said", "standing"))
                questions.append(Question(self._fill(key, name), "standing", name))
            else:
                questions.append(Question(self._fill("other", name), "other", name))
        neutral = [*self._texts["oneoff"], *self._texts["noise"]]
        questions += [Question(text, "other", "") for text in rng.sample(neutral, 2)]
        rng.shuffle(questions)
        text = rng.choice((self._gap, "\n", "\n- ")).join(one.asked for one in questions)
        speaker = rng.choice(("user", "user", "user", "project file", "system"))
        return Example("standing", self._locale, text, speaker, tuple(questions))

    def _fill(self, key: str, name: str, given: str = "", tail: str | None = None) -> str:
        templates = self._texts[key]
        found = templates.get(self._rules[name]["form"]) or templates["any"]
        some = of_split(found, self._split)
        if not given:
            some = [one for one in some if "{said}" not in one]
        values = self._values(name, given)
        if tail is not None:
            values["tail"] = tail
        return str(self._rng.choice(some)).format_map(values)

    def _values(self, name: str, given: str) -> dict[str, str]:
        rule, rng = self._rules[name], self._rng
        values = {key: value for key, value in rule.items() if isinstance(value, str)}
        if rule["form"] == "choice":
            chosen = f"{rule['use']} for {rule['for']}"
            values |= {"do": f"use {chosen}", "ing": f"using {chosen}", "done": f"used {chosen}"}
        values |= {key: rng.choice(some) for key, some in self._texts["pools"].items()}
        values |= {"said": given, "tail": rule.get("tail", "")}
        values["mention"] = rng.choice(rule["mention"])
        for key, value in list(values.items()):
            values[key.capitalize()] = value[:1].upper() + value[1:]
        return values


def _merged(said: Sequence[str], locale: str) -> str:
    """Two clauses as one; quoted ones stay as they are."""
    if len(said) < 2 or any('"' in one or "“" in one for one in said):
        return " ".join(said)
    stop, link = ("。", "；") if locale == "zh" else (".", "; ")
    return said[0].removesuffix(stop) + link + said[1]


@click.command()
@click.argument("split", type=click.Choice(["train", "held_out"]))
@click.option("--seed", default=1, show_default=True)
@click.option("--count", default=400, show_default=True)
def main(split: Split, seed: int, count: int) -> None:
    """Write examples, one a line."""
    lines: Iterator[str] = map(to_line, examples(split, seed, count))
    click.echo("".join(lines), nl=False)


if __name__ == "__main__":
    main()
