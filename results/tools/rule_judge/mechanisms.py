"""What makes a request forbidden: values for a rule, a forbidden and an allowed request.

A label is right by construction: the values are drawn for it, and kept beside the
text, so that a test can work it out a second time from them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from results.tools.rule_judge.kinds import Kind, Phrases, languages

Values: TypeAlias = dict[str, str]

_AT_THE_LIMIT = 0.2


@dataclass(frozen=True)
class Drawn:
    """Values for the slots of a rule and of its two requests."""

    rule: Values
    breaks: Values
    keeps: Values


def draw(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    """Draw the values of one rule of this kind."""
    return _MECHANISMS[kind.mechanism](kind, phrases, locale, rng)


def _at_most(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    limit = rng.choice(kind.limits)
    highest = kind.highest or 2 * limit
    above = rng.randint(limit + 1, highest)
    below = limit if rng.random() < _AT_THE_LIMIT else rng.randint(max(1, limit // 3), limit)
    return _amounts(limit, above, below)


def _at_least(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    limit = rng.choice(kind.limits)
    below = rng.randint(min(kind.lowest, limit - 1), limit - 1)
    highest = kind.highest or 3 * limit
    above = limit if rng.random() < _AT_THE_LIMIT else rng.randint(limit, highest)
    return _amounts(limit, below, above)


def _amounts(limit: int, breaking: int, keeping: int) -> Drawn:
    return Drawn({"limit": str(limit)}, {"value": str(breaking)}, {"value": str(keeping)})


def _total(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    limit = rng.choice(kind.limits)

    def product(low: float, high: float) -> Values:
        while True:
            count, each = rng.randint(2, 24), rng.randint(2, 60)
            if low < count * each <= high:
                return {"count": str(count), "each": str(each)}

    return Drawn(
        {"limit": str(limit)}, product(limit, 2.5 * limit), product(0.3 * limit, float(limit))
    )


def _only(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    options = rng.sample(phrases.options, len(phrases.options))
    allowed, others = options[: phrases.allow], options[phrases.allow :]
    link = {"en": " and ", "es": " y ", "zh": "和"}[locale]
    number = {"number": str(rng.randint(100, 999))} if kind.number else {}
    return Drawn(
        {"limit": link.join(allowed)},
        {"value": rng.choice(others), **number},
        {"value": rng.choice(allowed), **number},
    )


def _except(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    forbidden, other = rng.sample(phrases.options, 2)
    return Drawn({"limit": forbidden}, {"value": forbidden}, {"value": other})


def _acts(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    slots = rng.choice(phrases.slots)
    return Drawn(slots, slots, slots)


def _partial(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    keep, length = rng.randint(2, 3), rng.randint(7, 10)
    signs = [rng.choice("0123456789") for _ in range(length)]
    code = "".join(signs[:4]) + " " + "".join(signs[4:])
    part = code[-rng.randint(max(1, keep - 1), keep) :]
    return Drawn({"keep": str(keep)}, {"code": code}, {"part": part})


def _text_language(kind: Kind, phrases: Phrases, locale: str, rng: random.Random) -> Drawn:
    wanted, other = rng.sample(sorted(languages()), 2)

    def text(language: str) -> Values:
        texts = languages()[language].texts
        chosen = rng.sample(texts, rng.randint(3, 4) if kind.long else rng.randint(1, 2))
        return {"value": " ".join(chosen)}

    return Drawn({"limit": languages()[wanted].called[locale]}, text(other), text(wanted))


_MECHANISMS: dict[str, Callable[[Kind, Phrases, str, random.Random], Drawn]] = {
    "at_most": _at_most,
    "at_least": _at_least,
    "total": _total,
    "only": _only,
    "except": _except,
    "acts": _acts,
    "partial": _partial,
    "text_language": _text_language,
}
