"""From a registry to a prompt: the gate, the walk within the budget, the count of accesses.

The stages of section 2.4, in their order. The pinned tier comes first, whole or not at all; the
walk skips blocks that are over the rest of the budget. A compile works on a copy, so the lock
is not held while the user's gate, embedder and counter run.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from constraintrot import tokens
from constraintrot.defenses.rampart.block import Block, Counter, checked_int
from constraintrot.defenses.rampart.embedding.search import Gate, Searcher
from constraintrot.defenses.rampart.errors import PinOverflowError, RegistryError
from constraintrot.defenses.rampart.state.record_factory import Entry, Moment
from constraintrot.defenses.rampart.state.store import Store

P = TypeVar("P", bound="Plan")
Reason: TypeAlias = Literal["gate", "budget"]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A block that a compile left out, and why.

    Attributes:
        reason: ``gate``: not relevant to the query; ``budget``: did not fit.
    """

    id: UUID
    name: str
    reason: Reason
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The blocks that a compile would hold and leave out.

    Attributes:
        tokens: tokens of the prompt, by the registry's counter.
        manifest: SHA-256 over the pins' names and digests.
        revision: the registry's revision at that moment.
    """

    tokens: int
    manifest: str
    revision: int
    _held: Sequence[Entry] = field(repr=False)
    _gated: Sequence[Entry] = field(repr=False)
    _over: Sequence[Entry] = field(repr=False)

    # These are made on demand, because most compiles are only for the prompt.
    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the held blocks in compile order, pins first."""
        return tuple([entry.name for entry in self._held])

    @cached_property
    def ids(self) -> tuple[UUID, ...]:
        """Their ids, in the same order."""
        return tuple([entry.id for entry in self._held])

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Digests of their contents, in the same order."""
        return tuple([entry.digest for entry in self._held])

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """The blocks left out by the gate, then those by the budget, each in registry order."""
        reasons: tuple[tuple[Reason, Sequence[Entry]], ...] = (
            ("gate", self._gated),
            ("budget", self._over),
        )
        return tuple(Excluded(e.id, e.name, why, e.tokens) for why, left in reasons for e in left)


@dataclass(frozen=True, kw_only=True)
class Compiled(Plan):
    """A compiled prompt and what it is made of."""

    prompt: str


def made(kind: type[P], facts: dict[str, Any]) -> P:
    """Return a plan of checked facts; a frozen dataclass's own constructor is ten times slower."""
    plan = object.__new__(kind)
    object.__setattr__(plan, "__dict__", facts.copy())
    return plan


class Chosen(NamedTuple):
    """The entries that a prompt holds, those that did not fit, and its text and tokens."""

    held: Sequence[Entry]
    over: Sequence[Entry]
    prompt: str
    tokens: int


def _fitted(
    moment: Moment, admitted: Sequence[Entry], budget: int | None, counter: Counter
) -> Chosen:
    """Walk the blocks that passed the gate, in order, and keep those that fit and all pins.

    If the counts of frames do not sum to the count of the text, the text itself is counted,
    and blocks at the end are dropped until it fits.
    """
    adds_up = counter is tokens.count
    pinned = moment.pinned_tokens
    if not adds_up and moment.pins:
        pinned = counter(moment.pinned_text)
    if budget is not None and pinned > budget:
        raise PinOverflowError(pinned, budget)
    whole = len(admitted) == len(moment.rest)
    used = moment.rest_tokens if whole else sum([entry.tokens for entry in admitted])
    held, over = admitted, list[Entry]()
    if budget is not None and used > budget - pinned:
        held, over, used = _walk(admitted, budget - pinned)
    text = moment.pinned_text + _text(held)
    if adds_up:
        return Chosen([*moment.pins, *held], over, text, pinned + used)
    counted = counter(text)
    if budget is not None and counted > budget:
        held = _shortened(moment.pinned_text, held, budget, counter)
        text = moment.pinned_text + _text(held)
        kept = {entry.key for entry in held}
        over = [entry for entry in admitted if entry.key not in kept]
        counted = counter(text)
    return Chosen([*moment.pins, *held], over, text, counted)


def _walk(admitted: Sequence[Entry], budget: int) -> tuple[list[Entry], list[Entry], int]:
    held, over, left = list[Entry](), list[Entry](), budget
    for entry in admitted:
        tokens = entry[1]
        if tokens <= left:
            left -= tokens
            held.append(entry)
        else:
            over.append(entry)
    return held, over, budget - left


def _shortened(
    pinned_text: str, held: Sequence[Entry], budget: int, counter: Counter
) -> Sequence[Entry]:
    """Return the longest beginning of the held blocks whose text is within the budget.

    The search assumes that the count grows with the text; the steps after it do not.
    """
    fits = bisect_right(
        range(1, len(held) + 1), budget, key=lambda n: counter(pinned_text + _text(held[:n]))
    )
    while fits and counter(pinned_text + _text(held[:fits])) > budget:
        fits -= 1
    return held[:fits]


def _text(entries: Sequence[Entry]) -> str:
    return "".join([entry[0] for entry in entries])


class Compiler:
    """Compiles the blocks of one registry.

    Arguments and errors are those of the methods of ``Registry`` with the same names.
    """

    def __init__(self, store: Store, searcher: Searcher, counter: Counter) -> None:
        self._store = store
        self._searcher = searcher
        self._counter = counter
        self._last: tuple[int | None, dict[str, Any]] | None = None

    def compile(self, budget: int | None, query: str | None, gate: Gate | None) -> Compiled:
        limit = None if budget is None else checked_int("budget", budget)
        store = self._store
        if query is None and gate is None:
            with store.lock:
                last = self._last
                if last is not None and last[0] == limit and last[1]["revision"] == store.revision:
                    store.accesses.repeated()
                    return made(Compiled, last[1])
                moment = store.moment()
            chosen, gated = _fitted(moment, moment.rest, limit, self._counter), list[Entry]()
        else:
            moment, chosen, gated = self._chosen(limit, query, gate)
        facts = _facts(moment, chosen, gated)
        facts["prompt"] = chosen.prompt
        with store.lock:
            current = moment.revision == store.revision
            left = [*gated, *chosen.over] if gated else chosen.over
            store.accesses.compiled(chosen.held, left, current=current)
            self._last = (limit, facts) if query is None and current else None
        return made(Compiled, facts)

    def dry_run(self, budget: int | None, query: str | None, gate: Gate | None) -> Plan:
        limit = None if budget is None else checked_int("budget", budget)
        return made(Plan, _facts(*self._chosen(limit, query, gate)))

    def _chosen(
        self, budget: int | None, query: str | None, gate: Gate | None
    ) -> tuple[Moment, Chosen, list[Entry]]:
        """Return a moment of the registry, the chosen blocks, and those that the gate left out."""
        if query is None:
            if gate is not None:
                raise RegistryError("a gate judges by a query; give compile() one")
            with self._store.lock:
                moment = self._store.moment()
            admitted, gated = moment.rest, list[Entry]()
        else:
            moment, passed = self._searcher.gated(query, gate)
            verdicts = list(zip(moment.rest, passed, strict=True))
            admitted = [entry for entry, ok in verdicts if ok]
            gated = [entry for entry, ok in verdicts if not ok]
        return moment, _fitted(moment, admitted, budget, self._counter), gated


def _facts(moment: Moment, chosen: Chosen, gated: Sequence[Entry]) -> dict[str, Any]:
    return {
        "tokens": chosen.tokens,
        "manifest": moment.manifest,
        "revision": moment.revision,
        "_held": chosen.held,
        "_gated": gated,
        "_over": chosen.over,
    }


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of looking for every pin in a context."""

    held: bool
    missing: tuple[Block, ...]
    manifest: str
    revision: int


def verification(store: Store, text: str | Iterable[str]) -> Verification:
    """Look for each pin's whole frame in a context, on lines of its own.

    A quoted pin does not count, because the text around it may say that it is withdrawn.
    Anybody can copy a frame, so only the operator should write the texts; a ``PinnedBlock``
    also tells its own block from a copy.
    """
    texts = [text] if isinstance(text, str) else list(text)
    if not all(isinstance(one, str) for one in texts):  # callers may be untyped
        raise RegistryError("verify() takes a text or several, not message objects")
    with store.lock:
        entries, _, manifest = store.pinned()
        pins, revision = store.views(entries), store.revision
    missing = tuple(
        pin
        for pin, entry in zip(pins, entries, strict=True)
        if not any(_framed(entry.frame, one) for one in texts)
    )
    return Verification(not missing, missing, manifest, revision)


def _framed(frame: str, text: str) -> bool:
    """Return whether a text has a frame on lines of its own; its last line break may be missing."""
    return f"\n{frame}" in f"\n{text}\n"
