"""The second stage of training: texts and messages of sentences that were written one by one.

::

    python -m results.tools.rule_reader.written train --seed 1 --count 400

writes one JSON object a line, as ``generator`` does. A card of ``cards/cards.*.yaml`` is a rule
with clauses for each state, ``cards/sentences.*.yaml`` has sentences by topic, and
``cards/long.en.yaml`` has what stands around rules in a summary of 280 to 540 tokens. A sixth of
the examples are the generator's, so that the second stage does not forget the first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import click
import yaml

from results.tools.rule_reader.generator import (
    LOCALES,
    Example,
    Maker,
    Question,
    Split,
    Task,
    texts,
    to_line,
)

Lists: TypeAlias = Mapping[str, Sequence[str]]

FOLDER = Path(__file__).parent / "cards"
_STATES = {
    "restated": 42, "weakened": 8, "lifted": 12, "scoped": 11, "attributed": 9, "partial": 11,
    "deeds": 6, "lost": 3,
}  # fmt: skip
_SHAPES = {"sentences": 36, "short": 28, "long": 20, "templates": 16}
# Of a rule that binds, these say nothing that takes it back.
_HARMLESS = ("deeds", "lost", "attributed")
_VERBATIM, _BESIDE, _TOLD_FIRST, _BACK, _MERGED = 0.2, 0.25, 0.5, 0.06, 0.12
_NOT_ORDERED = ("assistant", "tool")
# Not the seed that a checkpoint is chosen by, so that the choice is not scored on the same texts.
SEED = 2000
SENTENCES, RULES = 125, 160
_POOL = 600


@cache
def cards(locale: str, split: Split) -> Mapping[str, Lists]:
    """The rules of a language with their clauses, those of one split."""
    return _read("cards", locale, split)


@cache
def topics(locale: str, split: Split) -> Mapping[str, Lists]:
    """The sentences of a language by topic, those of one split."""
    return _read("sentences", locale, split)


def _read(name: str, locale: str, split: Split) -> Mapping[str, Lists]:
    told = yaml.load((FOLDER / f"{name}.{locale}.yaml").read_text("utf-8"), yaml.BaseLoader)
    wanted = split == "held_out"
    return {name: lists for name, lists in told.items() if ("held_out" in lists) is wanted}


@cache
def _around() -> Lists:
    text = (FOLDER / "long.en.yaml").read_text("utf-8")
    told: Lists = yaml.load(text, yaml.BaseLoader)
    return told


def examples(split: Split, seed: int, count: int) -> list[Example]:
    """Generate texts and messages with their questions."""
    rng = random.Random(f"rule-reader written {split} {seed}")
    return [_example(split, rng) for _ in range(count)]


def held_out(seed: int = SEED, sentences: int = SENTENCES, rules: int = RULES) -> list[Example]:
    """Examples of held-out rules and sentences, until there are so many questions of each task."""
    left: dict[Task, int] = {"standing": sentences, "state": rules}
    found = list[Example]()
    for example in examples("held_out", seed, _POOL):
        if left[example.task] > 0:
            left[example.task] -= len(example.questions)
            found.append(example)
    return found


def _example(split: Split, rng: random.Random) -> Example:
    shape = rng.choices(list(_SHAPES), list(_SHAPES.values()))[0]
    if shape == "templates":
        return Maker(split, rng).example()
    locale = "en" if shape == "long" else rng.choices(list(LOCALES), list(LOCALES.values()))[0]
    if shape == "sentences":
        return _message(split, locale, rng)
    return (
        _Text(split, locale, rng).long() if shape == "long" else _Text(split, locale, rng).short()
    )


def _message(split: Split, locale: str, rng: random.Random) -> Example:
    """A message of one to five sentences, each asked about."""
    pool = topics(locale, split)
    speaker = rng.choice(("user",) * 5 + ("project file", "project file", "system", *_NOT_ORDERED))
    asked = dict[str, Question]()
    for topic in rng.sample(sorted(pool), min(len(pool), rng.choice((1, 1, 2)))):
        for _ in range(rng.randint(1, 3)):
            label = "standing" if rng.random() < 0.46 and speaker not in _NOT_ORDERED else "other"
            text = rng.choice(pool[topic][label])
            asked[text] = Question(text, label, topic)
    if rng.random() < 0.3:
        name = rng.choice(sorted(cards(locale, split)))
        key = rng.choice(("given", "given", "attributed", "deeds", "lost"))
        label = "standing" if key == "given" and speaker not in _NOT_ORDERED else "other"
        if key != "given" or label == "standing":
            text = rng.choice(cards(locale, split)[name][key])
            asked[text] = Question(text, label, name)
    questions = rng.sample(list(asked.values()), len(asked))
    gap = rng.choice(("" if locale == "zh" else " ", "\n", "\n- "))
    text = gap.join(one.asked for one in questions)
    return Example("standing", locale, text, speaker, tuple(questions))


class _Text:
    """A text of clauses about some rules."""

    def __init__(self, split: Split, locale: str, rng: random.Random) -> None:
        self._rng, self._locale = rng, locale
        self._cards = cards(locale, split)
        self._noise: Sequence[str] = texts(locale)["noise"]

    def short(self) -> Example:
        """A list or some prose, as a note of 60 to 250 tokens."""
        rng, questions, parts = self._rng, list[Question](), list[str]()
        for first, said, question in self._drawn(rng.randint(3, 6)):
            parts += [part for part in (*first, *said) if part]
            questions.append(question)
        if rng.random() < 0.6 and not any(one.label == "lifted" for one in questions):
            rng.shuffle(parts)
        noise = rng.sample(self._noise, rng.randint(1, 4))
        told = texts(self._locale)
        if rng.random() < 0.35:
            text = ("" if self._locale == "zh" else " ").join([*noise[:1], *parts, *noise[1:]])
        else:
            mark = rng.choice(("- ", "* ", "", "• "))
            blocks = [
                "\n".join([rng.choice(told["heads"]), *(mark + part for part in parts)]),
                "\n".join([rng.choice(told["tasks"]), *(mark + part for part in noise)]),
            ]
            text = "\n\n".join(blocks if rng.random() < 0.6 else blocks[::-1])
        return self._made(text, questions)

    def long(self) -> Example:
        """A summary with headings, its rules early, late, merged, or in the middle of prose."""
        rng, told = self._rng, _around()
        prose = rng.sample(told["prose"], rng.randint(3, 7))
        lines = rng.sample(told["lines"], rng.randint(5, 12))
        early, rules, late, questions = list[str](), list[str](), list[str](), list[Question]()
        for first, said, question in self._drawn(rng.randint(6, 9)):
            early += first
            for clause in said:
                where = rng.random()
                if question.label == "lifted" and first:
                    late.append(clause)
                elif where < 0.2:
                    at = rng.randrange(len(prose))
                    pair = [prose[at], clause] if rng.random() < 0.7 else [clause, prose[at]]
                    prose[at] = " ".join(pair)
                else:
                    (late if where < 0.35 else rules).append(clause)
            questions.append(question)
        for some in (early, rules, late):
            rng.shuffle(some)
        half = len(prose) // 2
        cut = rng.randrange(len(lines))
        blocks = [
            self._section("goal", [*prose[:half], *early], ""),
            self._section("background", prose[half:], ""),
            self._section("rules", self._merged(rules), rng.choice(("- ", "* ", ""))),
            self._section("done", [f"- {line}" for line in lines[:cut]], ""),
        ]
        middle = rng.sample(blocks[1:], 3)
        blocks = [rng.choice(told["head"]), blocks[0], *middle, self._section("later", late, "- ")]
        blocks.append(self._section("next", [f"- {line}" for line in lines[cut:]], ""))
        return self._made("\n\n".join(block for block in blocks if block), questions)

    def _section(self, name: str, parts: Sequence[str], mark: str) -> str:
        if not parts:
            return ""
        return "\n".join([self._rng.choice(_around()[name]), *(mark + part for part in parts)])

    def _merged(self, clauses: Sequence[str]) -> list[str]:
        merged = list[str]()
        for clause in clauses:
            if merged and self._rng.random() < _MERGED:
                merged[-1] += f" {clause}"
            else:
                merged.append(clause)
        return merged

    def _drawn(self, count: int) -> Iterator[tuple[list[str], list[str], Question]]:
        """Of each rule what is told first, what is said later, and the question."""
        rng = self._rng
        names = rng.sample(sorted(self._cards), min(count, len(self._cards)))
        for name in names:
            card = self._cards[name]
            state = rng.choices(list(_STATES), list(_STATES.values()))[0]
            given = rng.choice(card["given"])
            first, said = self._said(state, card)
            yield first, said, Question(given, state, name)

    def _said(self, state: str, card: Lists) -> tuple[list[str], list[str]]:
        rng = self._rng
        if state == "lost":
            return [], [rng.choice(card["lost"])] if rng.random() < 0.6 else []
        clause = rng.choice(card[state])
        if state == "lifted":
            told = [self._told_first(card)] if rng.random() < _TOLD_FIRST else []
            return told, [clause]
        if state != "restated":
            return [], [clause, rng.choice(card["lost"])] if rng.random() < 0.1 else [clause]
        if rng.random() < _VERBATIM:
            clause = rng.choice(card["given"])
        if self._locale == "en" and rng.random() < _BACK:
            clause = rng.choice(_around()["back"]).format(clause)
        beside = [rng.choice(card[rng.choice(_HARMLESS)])] if rng.random() < _BESIDE else []
        if self._locale == "en" and rng.random() < 0.15:
            return [self._told_first(card)], beside
        return [], rng.sample([clause, *beside], 1 + len(beside))

    def _told_first(self, card: Lists) -> str:
        given = self._rng.choice(card["given"])
        if self._locale != "en":
            return given
        return self._rng.choice(_around()["early_told"]).format(given)

    def _made(self, text: str, questions: list[Question]) -> Example:
        self._rng.shuffle(questions)
        return Example("state", self._locale, text, "", tuple(questions))


@click.command()
@click.argument("split", type=click.Choice(["train", "held_out"]))
@click.option("--seed", default=1, show_default=True)
@click.option("--count", default=400, show_default=True)
def main(split: Split, seed: int, count: int) -> None:
    """Write examples, one a line."""
    click.echo("".join(map(to_line, examples(split, seed, count))), nl=False)


if __name__ == "__main__":
    main()
