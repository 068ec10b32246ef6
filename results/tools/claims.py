"""``reproduction.yaml``: the paper's claims, and what the committed episodes show of each.

A claim has arms, each a query over the joined frame. If an arm selects no episode, the
verdict must be "not measured"; if every arm selects some, it must not be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import design
from constraintrot.report.page.compared import ALL, pair
from constraintrot.report.page.primary import Family
from constraintrot.report.page.view import NOT_MEASURED, Compared
from constraintrot.stats.frames import frame_rate
from constraintrot.stats.interval import Estimate
from results.tools.committed import Strict

if TYPE_CHECKING:
    import pandas as pd

REPRODUCTION = "reproduction.yaml"
Value: TypeAlias = str | int | float | bool
Where: TypeAlias = dict[str, Value | list[Value] | None]


class Arm(Strict):
    """A query, and the column whose rate is computed over its rows.

    Attributes:
        where: wanted value, or list of values, by column; null drops a condition that is
            held. It overrides the claim's ``where``, which overrides ``Claims.held``.
        value: the column.
    """

    where: Where
    value: Literal["violation", "survived", "mentions", "utility", "over_refusal"] = "violation"


class Claim(Strict):
    """A claim of the paper.

    Attributes:
        title: heading of the claim.
        claim: the claim, paraphrased.
        paper: the paper's figure, and its section or table.
        where: conditions of all arms.
        arms: the arms, by name.
        compare: pairs of arms whose paired difference, second - first, is shown.
        verdict: written by hand.
        words: the reason, in one to three sentences, without figures, which would become
            outdated.
    """

    title: str
    claim: str
    paper: str
    where: Where = Field(default_factory=Where)
    arms: dict[str, Arm]
    compare: tuple[tuple[str, str], ...] = ()
    verdict: Literal["same", "different", "not measured"]
    words: str

    @model_validator(mode="after")
    def _known(self) -> Self:
        unknown = {name for pair in self.compare for name in pair} - set(self.arms)
        if unknown:
            raise ValueError(f"compare names {', '.join(sorted(unknown))}, which is no arm")
        return self


class Claims(Strict):
    """All claims.

    Attributes:
        held: conditions of every query, unless a claim or an arm overrides them.
        claims: the claims.
    """

    held: Where
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Answered:
    """A claim with the figures of the committed episodes.

    Attributes:
        claim: the claim.
        arms: rate by arm; None if the arm has no episode.
        compared: paired differences; a primary one has the p-value that it has on all pages.
        rows: positions of its episodes in the frame.
    """

    claim: Claim
    arms: Mapping[str, Estimate | None]
    compared: tuple[Compared, ...]
    rows: frozenset[int]


def answer(claims: Claims, frame: pd.DataFrame, family: Family) -> list[Answered]:
    """Compute the figures of every claim.

    Args:
        claims: the claims.
        frame: the joined frame, from ``page.design.prepared``.
        family: the primary claims, of the same frame.

    Raises:
        ConstraintRotError: a verdict contradicts whether there are episodes, a query names
            an unknown column, or two compared arms have rates of different columns.
    """
    return [_one(claim, claims.held, frame, family) for claim in claims.claims]


def unused(answered: Sequence[Answered], frame: pd.DataFrame) -> pd.DataFrame:
    """The episodes that no claim uses."""
    used = frozenset[int]().union(*(one.rows for one in answered))
    return frame[~frame.index.isin(list(used))]


def chosen(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The rows that meet all conditions; a setting that does not apply to a row matches.

    Raises:
        ConstraintRotError: an unknown column.
    """
    if missing := [name for name in where if name not in frame]:
        raise ConstraintRotError(
            f"{REPRODUCTION}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}"
        )
    for name, wanted in where.items():
        if wanted is None:
            continue
        fits = frame[name].isin(wanted if isinstance(wanted, list) else [wanted])
        if name in design.SETTINGS:
            fits |= frame[name].isna() | (frame[name] == "none")
        frame = frame[fits]
    return frame


def _one(claim: Claim, held: Where, frame: pd.DataFrame, family: Family) -> Answered:
    parts: dict[str, pd.DataFrame] = {}
    for name, arm in claim.arms.items():
        part = chosen(frame, {**held, **claim.where, **arm.where})
        parts[name] = part[part[arm.value].notna()]
    _check(claim, [name for name, part in parts.items() if part.empty])
    rates = {
        name: None if part.empty else frame_rate(part, claim.arms[name].value)
        for name, part in parts.items()
    }
    compared = [
        family.told(_compared(claim, parts, a, b))
        for a, b in claim.compare
        if not (parts[a].empty or parts[b].empty)
    ]
    rows = frozenset(int(at) for part in parts.values() for at in part.index)
    return Answered(claim, rates, tuple(compared), rows)


def _check(claim: Claim, empty: Sequence[str]) -> None:
    """Check that the verdict is "not measured" if and only if an arm has no episode."""
    if empty and claim.verdict != NOT_MEASURED:
        raise ConstraintRotError(
            f"{REPRODUCTION}, {claim.title!r}: the verdict is {claim.verdict!r}, but no episode"
            f" answers {', '.join(empty)}; it has to be {NOT_MEASURED!r}"
        )
    if not empty and claim.verdict == NOT_MEASURED:
        raise ConstraintRotError(
            f"{REPRODUCTION}, {claim.title!r}: the verdict is {NOT_MEASURED!r}, but every arm has"
            " episodes; look at them and say 'same' or 'different'"
        )


def _compared(claim: Claim, parts: Mapping[str, pd.DataFrame], a: str, b: str) -> Compared:
    import pandas as pd

    value = claim.arms[a].value
    if claim.arms[b].value != value:
        raise ConstraintRotError(f"{REPRODUCTION}, {claim.title!r}: {a} and {b} are no same rate")
    both = pd.concat([parts[name].assign(arm=name) for name in (a, b)], ignore_index=True)
    return pair(both, ALL, a, b, value)
