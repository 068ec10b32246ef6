"""The private split: values and phrasings that a key makes, and no published file holds.

Who wants results that no training set can have seen sets a key in the
environment (``KEY``). Names, hosts, amounts and the rest are drawn from
generators, and requests and policies are put together from clauses, by an HMAC
of the key: the same key gives the same episodes, and another key others.

``tasks/private/<locale>.yaml`` holds what names are made of and the clauses that
all families share; a scenario file's ``private`` section holds its own.
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
# A log tells enough of a key to know it again; a short key could be guessed from that.
LEAST = 16
# How many seeds the split has: whoever knows the key can tell all of its requests.
SEEDS = 120

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """Chance that a key decides, for one variant.

    Attributes:
        key: the user's.
        name: which variant: family, locale and seed.
        texts: the version of the texts.
    """

    key: str
    name: str
    texts: int = TEXTS

    def __repr__(self) -> str:
        return f"Source({self.name!r})"  # A key is written nowhere.

    def random(self, purpose: str) -> Random:
        """Chance for one purpose: the same for the same key, variant and purpose."""
        message = f"{self.name}/{purpose}".encode()
        return Random(hmac.new(self.key.encode(), message, hashlib.sha256).digest())

    def part(self, name: str) -> Callable[[str], Random]:
        """Chance for the purposes of one part: those of two parts are apart."""
        return lambda purpose: self.random(f"{name}/{purpose}")

    def choice(self, purpose: str, among: Sequence[T]) -> T:
        """One of several."""
        return self.random(purpose).choice(among)

    def some(self, purpose: str, among: Sequence[str]) -> str:
        """One of several, or nothing two times out of five."""
        random = self.random(purpose)
        return random.choice(among) if random.random() < 0.6 else ""


def key() -> str:
    """The key that the user set.

    Raises:
        ParameterError: none is set, or one that is too short.
    """
    found = os.environ.get(KEY, "")
    if len(found) < LEAST:
        raise ParameterError(
            f"split private is made from a key of {LEAST} characters or more in the environment"
            f" variable {KEY}, which holds {len(found)}; set one, as with"
            f" `export {KEY}=$(openssl rand -hex 32)`, and keep it"
        )
    return found


def fingerprint(secret: str) -> str:
    """The start of a key's digest, by which a log's key is known again without being told."""
    return hmac.new(secret.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:8]


def values(
    source: Source,
    locale: str,
    pools: Mapping[str, Sequence[Mapping[str, Value]]],
    numbers: Mapping[str, Range],
) -> dict[str, Value]:
    """The values of a private variant.

    Args:
        source: its chance.
        locale: of its scenario.
        pools: by name, entries whose values may be templates over generators:
            ``{{person}}``, ``{{login}}``, ``{{firm}}``, ``{{home}}`` and so on
            (``Generators``); the same name with the same ``.2`` is the same draw.
        numbers: further generators, each a range.
    """
    found: dict[str, Value] = {}
    for name, entries in pools.items():
        drawn = Generators(source.part(name), words(locale), numbers, source.texts)
        found.update(fill(dict(source.choice(f"entry/{name}", entries)), drawn))
    return found


def request(
    source: Source, locale: str, pair: Sequence[str], reasons: Sequence[str]
) -> tuple[str, ...]:
    """Requests of a private variant: core sentences between the same clauses.

    The pair is the core of the prohibited request and that of its permitted counterpart.
    """
    known = words(locale)
    opener = source.some("opener", known.openers)
    reason = source.some("reason", reasons)
    closing = source.some("closing", known.closings)
    return tuple(joined(locale, [opener, core, reason, closing]) for core in pair)


def led(source: Source, locale: str, wording: str, text: str) -> str:
    """A policy or neutral text with what introduces it."""
    known = words(locale)
    numbers = {"section": Range(low=2, high=97)}
    drawn = Generators(source.part(f"lead/{wording}"), known, numbers)
    lead = source.choice(f"lead/{wording}", known.leads[wording])
    return joined(locale, [fill(lead, drawn), text])


def joined(locale: str, sentences: Sequence[str]) -> str:
    """Sentences as running text; Chinese parts them by nothing."""
    return ("" if locale == "zh" else " ").join(filter(None, sentences))
