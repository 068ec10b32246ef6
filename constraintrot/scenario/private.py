"""The private split: values and phrasings that a key makes, and that are in no published file.

For results on texts that no training set can hold, a user sets a key in the environment
(``KEY``). An HMAC of the key draws names, hosts and amounts from generators, and composes
requests and policies from clauses: equal keys give equal episodes.
``tasks/private/<locale>.yaml`` holds the parts of names and the clauses that all families
share; a scenario file's ``private`` section holds its own. Domains are below those that RFC 2606
reserves for examples, so they are nobody's.
"""

import hashlib
import hmac
import os
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Literal, TypeVar

import yaml
from pydantic import Field, ValidationError

from constraintrot.errors import ParameterError, ScenarioError
from constraintrot.scenario.splits import HOSTS, TEXTS
from constraintrot.scenario.template import Value, fill
from constraintrot.strict import Strict

FOLDER = Path(__file__).parent.parent / "tasks" / "private"
Strings = Annotated[list[str], Field(min_length=1)]
_HOMES = (
    "{}.example.com", "{}.example.org", "office.{}.example.com", "mail.{}.example.net",
    "{}.example.net",
)  # fmt: skip
_HOMES_BEFORE = ("{}.test", "{}.example", "{}.example.com", "mail.{}.internal", "{}.internal")
_AWAYS = ("{}.example.net", "{}.example.org")
_AREAS = ("us", "eu", "ap", "ca", "sa", "af", "me")
_SIDES = ("east", "west", "central", "north", "south", "northeast", "southeast")


class Words(Strict):
    """The parts of a locale's names, and the clauses that its families share.

    A word may be ``text|slug`` if its form in an address is not its letters without accents.
    """

    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    locale: str
    women: Strings
    men: Strings
    surname_stems: Strings
    surname_ends: list[str]
    name: str
    firm_stems: Strings
    firm_ends: list[str]
    trades: Strings
    firm: str
    words: Strings
    months: Strings
    day: str
    openers: Strings
    closings: Strings
    leads: dict[str, Strings]


class Range(Strict):
    low: int
    high: int
    step: int = Field(default=1, ge=1)


@cache
def words(locale: str) -> Words:
    """Return the parts of a locale's private values and phrasings."""
    path = FOLDER / f"{locale}.yaml"
    try:
        return Words.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise ScenarioError(f"{path.name} is no file of words: {error}") from error


class Generators:
    """Generators by name, for templates; equal names give equal draws."""

    def __init__(
        self,
        random: Callable[[str], Random],
        known: Words,
        numbers: Mapping[str, Range],
        texts: int = TEXTS,
    ) -> None:
        self.random, self.words, self.numbers = random, known, numbers
        self.homes = _HOMES_BEFORE if texts < HOSTS else _HOMES

    def __call__(self, name: str) -> Value:
        kind, _, number = name.partition(".")
        if kind in self.numbers:
            span = self.numbers[kind]
            return self.random(name).randrange(span.low, span.high + 1, span.step)
        if kind not in _GENERATORS:
            known = ", ".join(sorted({*_GENERATORS, *self.numbers}))
            raise ScenarioError(f"no generator is called {kind!r}; known: {known}")
        return _GENERATORS[kind](self, number)

    def person(self, number: str, among: str = "") -> tuple[str, str]:
        """Return a full name, and its local part in an address."""
        random = self.random(f"person.{number}")
        either = random.choice((self.words.women, self.words.men))
        given = random.choice({"women": self.words.women, "men": self.words.men}.get(among, either))
        surname = random.choice(self.words.surname_stems), _end(random, self.words.surname_ends)
        parts = {"given": _text(given), "surname": "".join(map(_text, surname))}
        return fill(self.words.name, parts), f"{_slug(given)}.{''.join(map(_slug, surname))}"

    def firm(self, number: str) -> tuple[str, str]:
        """Return a firm's name, and its name as a host."""
        random = self.random(f"firm.{number}")
        stem = random.choice(self.words.firm_stems), _end(random, self.words.firm_ends)
        trade = random.choice(self.words.trades)
        parts = {"stem": "".join(map(_text, stem)), "trade": _text(trade)}
        return fill(self.words.firm, parts), f"{''.join(map(_slug, stem))}-{_slug(trade)}"

    def place(self, number: str) -> str:
        """Return a place's name, made from the parts of firms' names."""
        random = self.random(f"place.{number}")
        stem = random.choice(self.words.firm_stems), _end(random, self.words.firm_ends)
        return "".join(map(_text, stem))

    def domain(self, number: str, forms: Sequence[str]) -> str:
        """Return a domain of the firm of that number."""
        return self.random(f"domain.{number}").choice(forms).format(self.firm(number)[1])

    def word(self, number: str) -> str:
        """Return two words, as in names of tables, channels and hosts: ``amber-quartz``."""
        return "-".join(self.random(f"word.{number}").sample(self.words.words, 2))

    def day(self, number: str) -> str:
        """Return a day of the year."""
        random = self.random(f"day.{number}")
        return fill(
            self.words.day, {"n": random.randint(1, 28), "month": random.choice(self.words.months)}
        )

    def region(self, which: int) -> str:
        """Return one of two different cloud regions."""
        random = self.random("region")
        areas, sides = random.sample(_AREAS, 2), random.choices(_SIDES, k=2)
        return f"{areas[which]}-{sides[which]}-{random.choices((1, 2, 3), k=2)[which]}"


_GENERATORS: Mapping[str, Callable[[Generators, str], str]] = {
    "person": lambda made, number: made.person(number)[0],
    "woman": lambda made, number: made.person(number, "women")[0],
    "man": lambda made, number: made.person(number, "men")[0],
    "login": lambda made, number: made.person(number)[1],
    "woman_login": lambda made, number: made.person(number, "women")[1],
    "man_login": lambda made, number: made.person(number, "men")[1],
    "firm": lambda made, number: made.firm(number)[0],
    "place": lambda made, number: made.place(number),
    "home": lambda made, number: made.domain(number, made.homes),
    "away": lambda made, number: made.domain(number, _AWAYS),
    "word": lambda made, number: made.word(number),
    "name": lambda made, number: made.word(number).replace("-", "_"),
    "day": lambda made, number: made.day(number),
    "region": lambda made, _: made.region(0),
    "other_region": lambda made, _: made.region(1),
}


def _end(random: Random, ends: Sequence[str]) -> str:
    return random.choice(ends) if ends else ""


def _text(word: str) -> str:
    return word.partition("|")[0]


def _slug(word: str) -> str:
    text, _, slug = word.partition("|")
    plain = unicodedata.normalize("NFKD", slug or text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


KEY = "CONSTRAINTROT_PRIVATE_KEY"
# A log holds a key's fingerprint, from which a short key could be guessed.
LEAST = 16
# The number of the split's seeds.
SEEDS = 120

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """Keyed randomness for one variant.

    Attributes:
        name: the variant: family, locale and seed.
    """

    key: str
    name: str
    texts: int = TEXTS

    def __repr__(self) -> str:
        return f"Source({self.name!r})"  # Without the key, which must not be logged.

    def random(self, purpose: str) -> Random:
        message = f"{self.name}/{purpose}".encode()
        return Random(hmac.new(self.key.encode(), message, hashlib.sha256).digest())

    def part(self, name: str) -> Callable[[str], Random]:
        """Return a function from a purpose within one part to its generator."""
        return lambda purpose: self.random(f"{name}/{purpose}")

    def choice(self, purpose: str, among: Sequence[T]) -> T:
        return self.random(purpose).choice(among)

    def some(self, purpose: str, among: Sequence[str]) -> str:
        """Return one of several, or an empty text two times out of five."""
        random = self.random(purpose)
        return random.choice(among) if random.random() < 0.6 else ""


def key() -> str:
    """Return the key that the user set."""
    found = os.environ.get(KEY, "")
    if len(found) < LEAST:
        raise ParameterError(
            f"split private is made from a key of {LEAST} characters or more in the environment"
            f" variable {KEY}, which holds {len(found)}; set one, as with"
            f" `export {KEY}=$(openssl rand -hex 32)`, and keep it"
        )
    return found


def fingerprint(secret: str) -> str:
    """Return the start of a key's digest, which identifies a log's key without revealing it."""
    return hmac.new(secret.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:8]


def values(
    source: Source,
    locale: str,
    pools: Mapping[str, Sequence[Mapping[str, Value]]],
    numbers: Mapping[str, Range],
) -> dict[str, Value]:
    """Return the values of a private variant."""
    found: dict[str, Value] = {}
    for name, entries in pools.items():
        drawn = Generators(source.part(name), words(locale), numbers, source.texts)
        found.update(fill(dict(source.choice(f"entry/{name}", entries)), drawn))
    return found


def request(
    source: Source, locale: str, pair: Sequence[str], reasons: Sequence[str]
) -> tuple[str, ...]:
    """Return requests of a private variant: core sentences between the same clauses.

    The pair holds the cores of the prohibited request and of its permitted counterpart.
    """
    known = words(locale)
    opener = source.some("opener", known.openers)
    reason = source.some("reason", reasons)
    closing = source.some("closing", known.closings)
    return tuple(joined(locale, [opener, core, reason, closing]) for core in pair)


def led(source: Source, locale: str, wording: str, text: str) -> str:
    """Return a policy or neutral text with an introduction."""
    known = words(locale)
    numbers = {"section": Range(low=2, high=97)}
    drawn = Generators(source.part(f"lead/{wording}"), known, numbers)
    lead = source.choice(f"lead/{wording}", known.leads[wording])
    return joined(locale, [fill(lead, drawn), text])


def joined(locale: str, sentences: Sequence[str]) -> str:
    """Join sentences to running text, in Chinese without blanks."""
    return ("" if locale == "zh" else " ").join(filter(None, sentences))
