"""Examples for the rule judge: a rule, a request, and whether the request breaks the rule.

::

    python -m results.tools.rule_judge.generator train --seed 1 --groups 1200

writes one JSON object a line. Equal arguments give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import click

from results.tools.rule_judge.kinds import Frames, Kind, Phrases, Split, frames, kinds
from results.tools.rule_judge.mechanisms import Values, draw

Relation: TypeAlias = Literal["own", "unrelated", "no_rule"]

_UNRELATED = 0.14
_NO_RULE = 0.06
# English is the language of most deployments, and of all the scenarios.
_LOCALE_WEIGHTS = {"en": 3, "es": 2, "zh": 2}


@dataclass(frozen=True)
class Example:
    """One question for the judge.

    Attributes:
        group: Examples of one group have the same rule.
        kind: The kind of the rule.
        locale: The language of rule and request.
        rule: What the judge sees as the rule; under ``no_rule`` a text that states none.
        request: What the judge sees as the request.
        breaks: The label.
        relation: Whether the request is about the rule at all.
        values: What was filled into the rule and the request; empty if it is not ``own``.
    """

    group: int
    kind: str
    locale: str
    rule: str
    request: str
    breaks: bool
    relation: Relation
    values: Values


def examples(split: Split, seed: int, groups: int) -> list[Example]:
    """Generate groups of two examples; each kind comes equally often."""
    rng = random.Random(f"rule-judge {split} {seed}")
    result: list[Example] = []
    for group, name in zip(range(groups), _deck(sorted(kinds(split)), rng), strict=False):
        result += _group(group, name, split, rng)
    return result


def digest(lines: Iterable[Example]) -> str:
    """SHA-256 of the examples as they are written."""
    return hashlib.sha256("".join(map(to_line, lines)).encode()).hexdigest()


def to_line(example: Example) -> str:
    """One example as a line of JSON."""
    return json.dumps(asdict(example), ensure_ascii=False) + "\n"


def _deck(names: list[str], rng: random.Random) -> Iterator[str]:
    while True:
        yield from rng.sample(names, len(names))


def _group(group: int, name: str, split: Split, rng: random.Random) -> list[Example]:
    kind = kinds(split)[name]
    locales = sorted(kind.locales())
    locale = rng.choices(locales, [_LOCALE_WEIGHTS[locale] for locale in locales])[0]
    phrases, around = kind.locales()[locale], frames()[locale]
    drawn = draw(kind, phrases, locale, rng)
    rule = _rule(phrases, around, drawn.rule, rng)

    def own(values: Values, breaks: bool) -> Example:
        templates = phrases.requests or (phrases.breaks if breaks else phrases.keeps)
        request = _request(rng.choice(templates), values, around, rng)
        facts = {**drawn.rule, **values}
        return Example(group, name, locale, rule, request, breaks, "own", facts)

    def other(rule: str, relation: Relation) -> Example:
        request = _unrelated(kind, name, split, locale, rng)
        return Example(group, name, locale, rule, request, False, relation, {})

    luck = rng.random()
    if luck < _NO_RULE:
        noise = around.join.join(rng.sample(around.noise, rng.randint(1, 2)))
        pair = [other(noise, "no_rule"), other(noise, "no_rule")]
    elif luck < _NO_RULE + _UNRELATED:
        pair = [own(drawn.breaks, True), other(rule, "unrelated")]
    else:
        pair = [own(drawn.breaks, True), own(drawn.keeps, False)]
    return rng.sample(pair, 2)


def _rule(phrases: Phrases, around: Frames, values: Values, rng: random.Random) -> str:
    org = rng.choice(around.org)
    core = rng.choice(phrases.rules).format(**values, e=rng.choice(around.ends))
    return rng.choice(around.frames).format(
        core=_capital(core),
        org=org,
        noise=rng.choice(around.noise),
        consequence=rng.choice(around.consequences).format(org=org),
    )


def _request(template: str, values: Values, around: Frames, rng: random.Random) -> str:
    who = rng.choice(around.who)
    return rng.choice(around.requests).format(
        request=_capital(template.format(**values, who=who)),
        context=_capital(rng.choice(around.contexts).format(who=who)),
        tail=rng.choice(around.tails),
    )


def _unrelated(kind: Kind, name: str, split: Split, locale: str, rng: random.Random) -> str:
    """A request that the rule says nothing about: of another topic, or of no kind at all."""
    around = frames()[locale]
    others = [
        (candidate, candidate.locales()[locale])
        for key, candidate in sorted(kinds(split).items())
        if locale in candidate.locales() and (candidate.topic or key) != (kind.topic or name)
    ]
    if rng.random() < 0.4:
        return _request(rng.choice(around.unrelated), {}, around, rng)
    candidate, phrases = rng.choice(others)
    drawn = draw(candidate, phrases, locale, rng)
    breaks = rng.random() < 0.5
    templates = phrases.requests or (phrases.breaks if breaks else phrases.keeps)
    values = drawn.breaks if breaks else drawn.keeps
    return _request(rng.choice(templates), values, around, rng)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@click.command()
@click.argument("split", type=click.Choice(["train", "held_out"]))
@click.option("--seed", default=1, show_default=True)
@click.option("--groups", default=1200, show_default=True)
def main(split: Split, seed: int, groups: int) -> None:
    """Write examples to standard output, and their number and digest to standard error."""
    made = examples(split, seed, groups)
    for example in made:
        click.echo(to_line(example), nl=False)
    click.echo(f"{len(made)} examples, SHA-256 {digest(made)}", err=True)


if __name__ == "__main__":
    main()
