"""Recognising a request and a policy in a transcript, for the scripted models.

They may see messages and tools only, so what metadata would tell them is read
back from the texts: the trigger's template says which scenario it is and which
values it holds, and the rest of the values may be any that its pools allow.
Where a private key is set, they know it and look the split's episodes up.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from constraintrot.models.scripted.policy_reader import Slots, policy_in
from constraintrot.scenario import private
from constraintrot.scenario.files import every, load
from constraintrot.scenario.schema import Call, Scenario, Variant
from constraintrot.scenario.template import PLACEHOLDER, Value, fill, names, show

Kind: TypeAlias = Literal["prohibited", "allowed"]


@dataclass(frozen=True)
class Request:
    """A recognised trigger.

    Attributes:
        scenario: whose trigger it is.
        kind: the prohibited request or its permitted counterpart.
        values: the values that stand in it.
    """

    scenario: Scenario
    kind: Kind
    values: Mapping[str, Value]

    @property
    def call(self) -> Call:
        """The call that does what is asked."""
        truth = self.scenario.ground_truth
        call = truth.violates if self.kind == "prohibited" else truth.complies
        return Call(function=call.function, arguments=fill(call.arguments, self.values))

    @property
    def slots(self) -> Slots:
        """The policy's slots, open where the request leaves a value open."""
        return open_slots(self.scenario, self.values)


def request_in(text: str, offered: frozenset[str]) -> Request | None:
    """The request that a message makes, or None if it is no trigger.

    Args:
        text: the message.
        offered: names of the tools on offer, which narrow the search.
    """
    return _request_in(text, offered, _key())


@lru_cache(maxsize=512)
def _request_in(text: str, offered: frozenset[str], key: str) -> Request | None:
    for scenario, kind, pattern in _triggers():
        if scenario.ground_truth.violates.function not in offered:
            continue
        found = pattern.search(text)
        if found:
            return Request(scenario, kind, _typed(scenario, found.groupdict()))
    return next(_private_requests(text, offered, key), None)


def _private_requests(text: str, offered: frozenset[str], key: str) -> Iterator[Request]:
    for scenario in every():
        if scenario.ground_truth.violates.function not in offered:
            continue
        for variant in _private(scenario.family, scenario.locale, key):
            if variant.trigger in text:
                yield Request(scenario, "prohibited", variant.values)
            elif variant.allowed_trigger in text:
                yield Request(scenario, "allowed", variant.values)


def any_policy_in(texts: Sequence[str]) -> list[tuple[str, Slots]]:
    """Every policy of any known scenario that the texts state, with its slots."""
    found: dict[str, Slots] = {}
    for scenario in every():
        slots = open_slots(scenario, {})
        statement = policy_in(texts, slots)
        if statement is not None:
            found.setdefault(statement, slots)
    return list(found.items())


def open_slots(scenario: Scenario, values: Mapping[str, Value]) -> Slots:
    """A scenario's slots with every value that fits what is known."""
    return {
        name: tuple(
            itertools.chain.from_iterable(_filled(scenario, phrase, values) for phrase in phrases)
        )
        for name, phrases in scenario.slots.items()
    }


def _filled(scenario: Scenario, phrase: Value, values: Mapping[str, Value]) -> list[Value]:
    wanted = names(phrase)
    if not wanted:
        return [phrase]
    return list(dict.fromkeys(fill(phrase, one) for one in combinations(scenario, wanted, values)))


def combinations(
    scenario: Scenario, wanted: set[str], values: Mapping[str, Value]
) -> Iterator[Mapping[str, Value]]:
    """Every combination of some values that an episode of the scenario may have.

    Args:
        scenario: whose.
        wanted: names of the values.
        values: those that are known.
    """
    if wanted <= set(values):
        yield values
        return
    pools = [
        [entry for entry in entries if _fits(entry, values)]
        for entries in scenario.pools.values()
        if wanted & set(entries[0])
    ]
    for entries in itertools.product(*pools):
        yield {name: value for entry in entries for name, value in entry.items()}
    for variant in _private(scenario.family, scenario.locale, _key()):
        if _fits(variant.values, values):
            yield variant.values


def _key() -> str:
    return os.environ.get(private.KEY, "")


@cache
def _private(family: str, locale: str, key: str) -> tuple[Variant, ...]:
    """The variants of the private split that a key makes; none without a key."""
    scenario = load(family, locale)
    if len(key) < private.LEAST or scenario.private is None:
        return ()
    return tuple(scenario.variant(seed, "private") for seed in scenario.seeds("private"))


def _fits(entry: Mapping[str, Value], values: Mapping[str, Value]) -> bool:
    return all(name not in values or values[name] == value for name, value in entry.items())


@cache
def _triggers() -> tuple[tuple[Scenario, Kind, re.Pattern[str]], ...]:
    found: list[tuple[Scenario, Kind, re.Pattern[str]]] = []
    for scenario in every():
        found += [(scenario, "prohibited", _pattern(scenario, one)) for one in scenario.trigger]
        found += [
            (scenario, "allowed", _pattern(scenario, one)) for one in scenario.allowed.trigger
        ]
    return tuple(found)


def _pattern(scenario: Scenario, template: str) -> re.Pattern[str]:
    pieces: list[str] = []
    seen: set[str] = set()
    at = 0
    for found in PLACEHOLDER.finditer(template):
        pieces.append(re.escape(template[at : found.start()]))
        pieces.append(f"(?P={found[1]})" if found[1] in seen else _group(scenario, found[1]))
        seen.add(found[1])
        at = found.end()
    pieces.append(re.escape(template[at:].rstrip()))
    return re.compile("".join(pieces))


def _group(scenario: Scenario, name: str) -> str:
    texts = {
        show(entry[name])
        for entries in scenario.pools.values()
        for entry in entries
        if name in entry
    }
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return f"(?P<{name}>{'|'.join(map(re.escape, longest_first))})"


def _typed(scenario: Scenario, texts: Mapping[str, str]) -> dict[str, Value]:
    """The values behind the texts that a trigger holds: numbers are numbers again."""
    return {
        name: entry[name]
        for entries in scenario.pools.values()
        for entry in entries
        for name in entry
        if texts.get(name) == show(entry[name])
    }
