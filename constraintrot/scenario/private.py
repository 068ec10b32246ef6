"""The private split: values and phrasings that a key makes, and that are in no published file.

For results on texts that no training set can hold, a user sets a key in the environment
(``KEY``). An HMAC of the key draws names, hosts and amounts from generators, and composes
requests and policies from clauses: equal keys give equal episodes.
``tasks/private/<locale>.yaml`` holds the parts of names and the clauses that all families
share; a scenario file's ``private`` section holds its own.
"""

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from constraintrot.errors import ParameterError
from constraintrot.scenario.generators import Generators, Range, words
from constraintrot.scenario.splits import TEXTS
from constraintrot.scenario.template import Value, fill

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
