"""The functions that the expressions of a history template may call.

Some draw (``pick``, ``int``, ``day``): the functions of one draw share one source of
randomness. The others are pure.
"""

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from hashlib import blake2b
from random import Random
from typing import Any

from constraintrot.errors import ScenarioError
from constraintrot.scenario.days import Clock, Day
from constraintrot.scenario.template import show

# An autumn without holidays on which all offices of a country would be closed.
_FIRST_DAY = date(2025, 10, 13)
_WORKING_DAYS = 38
_TRIES = 1000
# Thousands and decimal marks; four digits take no mark in Spanish, and one in German.
_MARKS = {"en": (",", "."), "es": (".", ","), "zh": (",", "."), "de": (".", ",")}


@cache
def today(key: str, locale: str) -> Day:
    """Return the working day on which a history is played, the same for the same key."""
    return Day(_FIRST_DAY, locale).work(Random(f"{key}/today").randrange(_WORKING_DAYS))


@dataclass
class Draws:
    """The state that the drawing functions of one draw share.

    Attributes:
        used: number of earlier draws of this template in this history.
        deck: key of the order in which the template's subjects are dealt.
        world: key of the history's facts.
        numbers: the references given so far in this history.
        phrase: index of the phrasing to take; ``subject`` changes it.
    """

    random: Random
    today: Day
    used: int = 0
    deck: str = ""
    world: str = ""
    numbers: set[int] = field(default_factory=set[int])
    phrase: int = 0

    def functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "subject": self.subject,
            "ref": self.ref,
            "fact": self.fact,
            "facts": self.facts,
            "fixed": self.fixed,
            "pick": self.pick,
            "int": self.whole,
            "ints": self.wholes,
            "real": self.real,
            "chance": lambda share: self.random.random() < share,
            "parts": self.parts,
            "shuffled": lambda items: self.random.sample(list(items), len(items)),
            "day": lambda low, high: self.today.work(self.random.randint(low, high)),
            "time": self.time,
            "hex": lambda digits: f"{self.random.getrandbits(4 * digits):0{digits}x}",
        }

    def subject(self, pool: Sequence[Any]) -> Any:
        """The next entry of a pool; an entry repeats only after all were dealt."""
        order = list(range(len(pool)))
        Random(self.deck).shuffle(order)
        rounds, at = divmod(self.used, len(pool))
        # Changes with each round, so that a repeated subject gets another phrasing.
        self.phrase = order[at] + rounds
        return pool[order[at]]

    def ref(self, low: int, high: int) -> int:
        """Return a number that no earlier reference of this history has."""
        number = self.random.randint(low, high)
        for attempt in range(_TRIES):
            if number not in self.numbers:
                break
            # The upper bound grows when the range is nearly used up.
            number = self.random.randint(low, high + (high - low + 1) * (2 ** (attempt // 40) - 1))
        self.numbers.add(number)
        return number

    def fact(self, low: int, high: int, *about: Any) -> int:
        """Return a whole number, the same for the same history and arguments."""
        key = "/".join([self.world, *map(show, about)])
        digest = blake2b(key.encode(), digest_size=8).digest()
        return low + int.from_bytes(digest, "big") % (high - low + 1)

    def facts(self, count: int, low: int, high: int, *about: Any) -> list[int]:
        """Return several different numbers as ``fact``, unordered."""
        key = "/".join([self.world, *map(show, about)])
        return Random(key).sample(range(low, high + 1), count)

    def fixed(self, pool: Sequence[Any], *about: Any) -> Any:
        """Return an entry of a pool, the same for the same history and arguments."""
        return pool[self.fact(0, len(pool) - 1, *about)]

    def pick(self, pool: Sequence[Any], count: int | None = None) -> Any:
        """Return an entry of a pool, or a list of ``count`` different ones."""
        if count is None:
            return pool[self.random.randrange(len(pool))]
        if count > len(pool):
            raise ScenarioError(f"{count} of a pool of {len(pool)} are asked for")
        return self.random.sample(list(pool), count)

    def whole(self, low: int, high: int, step: int = 1) -> int:
        """A whole number, both bounds included."""
        return self.random.randrange(low, high + 1, step)

    def wholes(self, count: int, low: int, high: int) -> list[int]:
        return self.random.sample(range(low, high + 1), count)

    def real(self, low: float, high: float, digits: int = 1) -> float:
        return round(self.random.uniform(low, high), digits)

    def parts(self, total: int, count: int) -> list[int]:
        """Return positive whole numbers that add up to a total, unordered."""
        cuts = sorted(self.random.sample(range(1, total), count - 1))
        return [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]

    def time(self, low: str, high: str, step: int = 5) -> Clock:
        """Return a time of day, both bounds included, in steps of so many minutes."""
        first, last = Clock.parse(low), Clock.parse(high)
        return first + self.whole(0, (last.minutes - first.minutes) // step) * step


def pure(locale: str) -> dict[str, Callable[..., Any]]:
    """Return the pure functions by name."""
    thousands, decimal = _MARKS[locale]

    def num(value: float, digits: int = 0) -> str:
        """Return a number as the locale writes it."""
        plain = f"{value:,.{digits}f}"
        if locale == "es" and abs(value) < 10000:
            plain = plain.replace(",", "")
        return plain.translate(str.maketrans(",.", thousands + decimal))

    return {
        "num": num,
        "dec": lambda value: show(value).replace(".", decimal),
        "de": lambda noun: _contracted("de", noun),
        "a": lambda noun: _contracted("a", noun),
        "workday": lambda day, days: day.work(days),
        "clock": Clock.parse,
        **_PURE,
    }


def _contracted(preposition: str, noun: str) -> str:
    """Return a Spanish preposition and a noun; ``del`` and ``al`` if the article is ``el``."""
    if noun.startswith("el "):
        return {"de": "del", "a": "al"}[preposition] + noun[2:]
    return f"{preposition} {noun}"


def _best(rows: Sequence[Any], key: str, *, largest: bool) -> Any:
    return (max if largest else min)(rows, key=lambda row: row[key])


def _by(rows: Iterable[Any], key: str, descending: int = 0) -> list[Any]:
    return sorted(rows, key=lambda row: row[key], reverse=bool(descending))


def _join(separator: str, items: Iterable[Any], last: str | None = None) -> str:
    """Join items; ``last`` is the separator before the last one ("a, b and c")."""
    texts = [show(item) for item in items]
    if last is None or len(texts) < 2:
        return separator.join(texts)
    return separator.join(texts[:-1]) + last + texts[-1]


_PURE: dict[str, Callable[..., Any]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "len": len,
    "all": all,
    "any": any,
    "abs": abs,
    "round": round,
    "sorted": lambda items: sorted(items),
    "reversed": lambda items: list(items)[::-1],
    "range": lambda *bounds: list(range(*bounds)),
    "by": _by,
    "most": lambda rows, key: _best(rows, key, largest=True),
    "least": lambda rows, key: _best(rows, key, largest=False),
    "median": lambda numbers: round(statistics.median(numbers), 4),
    "mean": lambda numbers, digits=1: round(statistics.fmean(numbers), digits),
    "percent": lambda part, whole: round(100 * part / whole),
    "row": lambda **cells: cells,
    "join": _join,
    "lines": lambda items: _join("\n", items),
    "enumerate": lambda items: [{"at": at, "it": it} for at, it in enumerate(items, 1)],
    "both": lambda one, other: [{"a": a, "b": b} for a, b in zip(one, other, strict=True)],
    "index": lambda items, item: list(items).index(item),
    "text": show,
    "cap": lambda words: words[:1].upper() + words[1:],
    "upper": lambda words: words.upper(),
    "lower": lambda words: words.lower(),
    "json": lambda node, indent=None: json.dumps(
        node, ensure_ascii=False, indent=indent, default=show
    ),
}
