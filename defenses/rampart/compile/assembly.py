"""From a moment of a registry to a prompt: the ordered walk and the budget.

The stages of section 2.4 in their order: the gate has run before, the walk and the
budget are here, the accesses are counted after. The pinned tier comes first, whole
or not at all; a block that is over what is left is skipped, and the walk goes on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias
from uuid import UUID

from constraintrot.defenses.rampart.block import Block, Counter
from constraintrot.defenses.rampart.errors import PinOverflowError
from constraintrot.defenses.rampart.state.tier import Entry

Reason: TypeAlias = Literal["gate", "budget"]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A block that a compile left out, and why.

    Attributes:
        id: of the block.
        name: of the block.
        reason: ``gate``: not relevant to the query; ``budget``: did not fit.
        tokens: of its frame.
    """

    id: UUID
    name: str
    reason: Reason
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a compile would hold.

    Attributes:
        names: in compile order, pins first.
        ids: in the same order.
        digests: of the contents, in the same order.
        tokens: of the prompt, by the registry's counter.
        manifest: SHA-256 over the pins' names and digests.
        revision: of the registry at that moment.
    """

    names: tuple[str, ...]
    ids: tuple[UUID, ...]
    digests: tuple[str, ...]
    tokens: int
    manifest: str
    revision: int
    _gated: Sequence[Entry] = field(repr=False)
    _over: Sequence[Entry] = field(repr=False)

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """What was left out: by the gate, then by the budget, each in registry order."""
        reasons: tuple[tuple[Reason, Sequence[Entry]], ...] = (
            ("gate", self._gated),
            ("budget", self._over),
        )
        return tuple(Excluded(e.id, e.name, why, e.tokens) for why, left in reasons for e in left)


@dataclass(frozen=True, kw_only=True)
class Compiled(Plan):
    """A compiled prompt and what it is made of.

    Attributes:
        prompt: the frames one after another.
    """

    prompt: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a context holds every pin.

    Attributes:
        held: all pins stand in it verbatim.
        missing: those that do not.
        manifest: of the pins that were looked for.
        revision: of the registry at that moment.
    """

    held: bool
    missing: tuple[Block, ...]
    manifest: str
    revision: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A registry at one moment, as a compile sees it."""

    pins: Sequence[Entry]
    pinned_text: str
    pinned_tokens: int
    manifest: str
    rest: Sequence[Entry]
    rest_tokens: int
    revision: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """What went in, what did not fit, and the text."""

    held: Sequence[Entry]
    over: Sequence[Entry]
    prompt: str
    tokens: int


def choose(
    moment: Moment,
    admitted: Sequence[Entry],
    budget: int | None,
    counter: Counter,
    *,
    adds_up: bool,
) -> Chosen:
    """Walk the blocks in their order and keep what fits.

    Args:
        moment: pins included whatever happens.
        admitted: the unpinned blocks that passed the gate, in order.
        budget: tokens of the final text, or None for any number.
        counter: of tokens.
        adds_up: whether the counts of frames sum to the count of the text. Where
            they do not, the text itself is counted, and blocks at the end are let
            go until it fits.

    Raises:
        PinOverflowError: the pins alone are over the budget.
    """
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
    tokens = counter(text)
    if budget is not None and tokens > budget:
        held = _shortened(moment.pinned_text, held, budget, counter)
        text = moment.pinned_text + _text(held)
        kept = {entry.key for entry in held}
        over = [entry for entry in admitted if entry.key not in kept]
        tokens = counter(text)
    return Chosen([*moment.pins, *held], over, text, tokens)


def plan(moment: Moment, chosen: Chosen, gated: Sequence[Entry]) -> Plan:
    """What a dry run tells."""
    return Plan(**_facts(moment, chosen, gated))


def compiled(moment: Moment, chosen: Chosen, gated: Sequence[Entry]) -> Compiled:
    """What a compile returns."""
    return Compiled(prompt=chosen.prompt, **_facts(moment, chosen, gated))


def _facts(moment: Moment, chosen: Chosen, gated: Sequence[Entry]) -> dict[str, Any]:
    _, _, names, ids, digests, _ = zip(*chosen.held, strict=True) if chosen.held else [()] * 6
    return {
        "names": names,
        "ids": ids,
        "digests": digests,
        "tokens": chosen.tokens,
        "manifest": moment.manifest,
        "revision": moment.revision,
        "_gated": gated,
        "_over": chosen.over,
    }


def _walk(admitted: Sequence[Entry], room: int) -> tuple[list[Entry], list[Entry], int]:
    held, over, left = list[Entry](), list[Entry](), room
    for entry in admitted:
        tokens = entry[1]
        if tokens <= left:
            left -= tokens
            held.append(entry)
        else:
            over.append(entry)
    return held, over, room - left


def _shortened(
    pinned_text: str, held: Sequence[Entry], budget: int, counter: Counter
) -> Sequence[Entry]:
    """The longest beginning of what is held whose text is within the budget.

    The search takes a counter to grow with its text; the steps after it do not.
    """
    fits = bisect_right(
        range(1, len(held) + 1), budget, key=lambda n: counter(pinned_text + _text(held[:n]))
    )
    while fits and counter(pinned_text + _text(held[:fits])) > budget:
        fits -= 1
    return held[:fits]


def _text(entries: Sequence[Entry]) -> str:
    return "".join([entry[0] for entry in entries])
