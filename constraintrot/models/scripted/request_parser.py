"""Parse the request and the policy out of a transcript, for the scripted models.

Scripted models see messages and tools only, not metadata. So the scenario is recognised by
the template of its trigger, which also gives some of the values; the other values may be any
of the scenario's pools. If a private key is set, they look the split's episodes up with it.
"""

import itertools
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from constraintrot.models.scripted.policy_reader import Slots, policy_in
from constraintrot.scenario import private, user_files
from constraintrot.scenario.files import every, load
from constraintrot.scenario.schema import Call, Scenario, Variant
from constraintrot.scenario.template import PLACEHOLDER, Value, fill, names, show

Kind: TypeAlias = Literal["prohibited", "allowed"]
# A gateway's placeholders for personal data, which it replaces again in the answer.
_MASKED = re.compile(r"<[A-Z_]+_\d+>|masked-\d+@[\w.-]+")
# An address, possibly of several placeholders; a gateway masks it as one.
_NAME = r"(?:\{\{\s*[a-z][a-z0-9_.]*\s*\}\}|[A-Za-z0-9_+-])"
_ADDRESS = re.compile(rf"{_NAME}(?:\.?{_NAME})*@{_NAME}(?:\.?{_NAME})*")

Patterns: TypeAlias = tuple[tuple[Kind, re.Pattern[str]], ...]
# By a scenario's id(), with the scenario, so that the id is not reused.
_compiled: dict[tuple[int, bool], tuple[Scenario, Patterns]] = {}


@dataclass(frozen=True)
class Request:
    """A recognised trigger.

    Attributes:
        kind: the prohibited request or its permitted counterpart.
        values: the values that the trigger contains, by name.
        words: the trigger as it stands in the message.
        masked: values of which a gateway masked a part, by name.
    """

    scenario: Scenario
    kind: Kind
    values: Mapping[str, Value]
    words: str
    masked: Mapping[str, Value] = field(default_factory=dict[str, Value])

    @property
    def call(self) -> Call:
        """The call that does what is requested."""
        truth = self.scenario.ground_truth
        call = truth.violates if self.kind == "prohibited" else truth.complies
        asked = {
            name: _joined(value, self.masked) if isinstance(value, str) else value
            for name, value in call.arguments.items()
        }
        return Call(function=call.function, arguments=fill(asked, {**self.values, **self.masked}))

    @property
    def slots(self) -> Slots:
        """The policy's slots, with all values of the pools if the request gives none."""
        return open_slots(self.scenario, self.values)


def request_in(text: str, offered: frozenset[str]) -> Request | None:
    """Return the request in a message, or None if it contains no trigger."""
    return _request_in(text, offered, _key(), user_files.version())


@lru_cache(maxsize=512)
def _request_in(text: str, offered: frozenset[str], key: str, version: int) -> Request | None:
    hidden = _MASKED.search(text) is not None
    for scenario in every():
        if scenario.ground_truth.violates.function not in offered:
            continue
        for kind, pattern in _triggers(scenario, hidden):
            found = pattern.search(text)
            if found:
                texts = found.groupdict()
                values = _typed(scenario, texts)
                masked = {name: text for name, text in texts.items() if name not in values}
                return Request(scenario, kind, values, found[0], masked)
    return next(_private_requests(text, offered, key), None)


def _private_requests(text: str, offered: frozenset[str], key: str) -> Iterator[Request]:
    for scenario in every():
        if scenario.ground_truth.violates.function not in offered:
            continue
        for variant in _private(scenario.family, scenario.locale, key):
            if variant.trigger in text:
                yield Request(scenario, "prohibited", variant.values, variant.trigger)
            elif variant.allowed_trigger in text:
                yield Request(scenario, "allowed", variant.values, variant.allowed_trigger)


def any_policy_in(texts: Sequence[str]) -> list[tuple[str, Slots]]:
    """Return the policies of all scenarios in the texts: their sentences and slots."""
    policies: dict[str, Slots] = {}
    for scenario in every():
        slots = open_slots(scenario, {})
        statement = policy_in(texts, slots)
        if statement is not None:
            policies.setdefault(statement, slots)
    return list(policies.items())


def open_slots(scenario: Scenario, values: Mapping[str, Value]) -> Slots:
    """Return a scenario's slots, with every value of its pools that agrees with known ones."""
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
    """Yield every combination of some values that an episode of the scenario may have."""
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
    """Return the variants of the private split for a key; empty without a key."""
    scenario = load(family, locale)
    if len(key) < private.LEAST or scenario.private is None:
        return ()
    return tuple(scenario.variant(seed, "private") for seed in scenario.seeds("private"))


def _fits(entry: Mapping[str, Value], values: Mapping[str, Value]) -> bool:
    return all(name not in values or values[name] == value for name, value in entry.items())


def _triggers(scenario: Scenario, masked: bool) -> Patterns:
    """Return a scenario's triggers as patterns, which allow masked values if ``masked``."""
    known = _compiled.get((id(scenario), masked))
    if known is None:
        patterns = tuple(
            (kind, _pattern(scenario, template, masked))
            for kind, templates in _kinds(scenario)
            for template in templates
        )
        known = _compiled[id(scenario), masked] = (scenario, patterns)
    return known[1]


def _kinds(scenario: Scenario) -> Iterator[tuple[Kind, Sequence[str]]]:
    yield "prohibited", scenario.trigger
    yield "allowed", scenario.allowed.trigger


def _joined(template: str, known: Container[str]) -> str:
    """Return a template with each known composed address as one placeholder."""

    def placeholder(found: re.Match[str]) -> str:
        name = _address_name(found[0])
        return f"{{{{{name}}}}}" if name in known else found[0]

    return _ADDRESS.sub(placeholder, template)


def _address_name(address: str) -> str:
    return "at_" + "_".join(re.findall(r"[a-z0-9_]+", address.lower()))


def _pattern(scenario: Scenario, template: str, masked: bool) -> re.Pattern[str]:
    addresses = _addresses(scenario) if masked else {}
    template = _joined(template, addresses)
    pieces: list[str] = []
    seen: set[str] = set()
    at = 0
    for match in PLACEHOLDER.finditer(template):
        name = match[1]
        pieces.append(re.escape(template[at : match.start()]))
        if name in seen:
            pieces.append(f"(?P={name})")
        else:
            plain = addresses.get(name) or _texts(scenario, name)
            # A gateway masks only the personal data of a value that is a sentence.
            hidden = rf"|[^\n]*?(?:{_MASKED.pattern})[^\n]*?" if masked else ""
            pieces.append(f"(?P<{name}>{plain}{hidden})")
        seen.add(name)
        at = match.end()
    pieces.append(re.escape(template[at:].rstrip()))
    # A quotation may join the request's lines.
    return re.compile(re.sub(r"(?:\\\s)+", r"\\s+", "".join(pieces)))


def _addresses(scenario: Scenario) -> dict[str, str]:
    """Return patterns of the composed addresses in a scenario's triggers, by their names."""

    def pattern(address: str) -> str:
        # Every second piece is a placeholder's name.
        pieces = PLACEHOLDER.split(address)
        pieces[::2] = map(re.escape, pieces[::2])
        pieces[1::2] = (f"(?:{_texts(scenario, name)})" for name in pieces[1::2])
        return "".join(pieces)

    templates = (*scenario.trigger, *scenario.allowed.trigger)
    found = {address for template in templates for address in _ADDRESS.findall(template)}
    return {_address_name(address): pattern(address) for address in found}


def _texts(scenario: Scenario, name: str) -> str:
    """Return a pattern of all values of a name in a scenario's pools."""
    texts = {
        show(entry[name])
        for entries in scenario.pools.values()
        for entry in entries
        if name in entry
    }
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))


def _typed(scenario: Scenario, texts: Mapping[str, str]) -> dict[str, Value]:
    """Return the pools' values for the texts in a trigger, so that numbers are numbers."""
    return {
        name: entry[name]
        for entries in scenario.pools.values()
        for entry in entries
        for name in entry
        if texts.get(name) == show(entry[name])
    }
