"""The paper's claims: what each expects of the episodes, and in ``reproduction.yaml`` its verdict.

A claim has arms, each a query over the joined frame, and tests of what it expects of
them (see ``decide``). ``verdicts`` decides them. ``paper.yaml`` of this package states the
claims for any model; a folder of results states them for its own episodes, and takes the
words of the paper from here.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from constraintrot.errors import ConstraintRotError
from constraintrot.report.claims.decide import Expected, Value
from constraintrot.report.page import design
from constraintrot.report.yaml_file import load
from constraintrot.strict import Strict

if TYPE_CHECKING:
    import pandas as pd

REPRODUCTION = "reproduction.yaml"
PAPER = "paper.yaml"
Wanted: TypeAlias = str | int | float | bool
Where: TypeAlias = dict[str, Wanted | list[Wanted] | None]
Verdict: TypeAlias = Literal["same", "opposite", "cannot tell", "not measured"]
# What an arm may ask of its episodes that no plan fixes, and that may be unknown of one.
_MEASURED = ("survived",)


class Arm(Strict):
    """A query, and the column whose rate is computed over its rows.

    Attributes:
        where: wanted value, or list of values, by column; null drops a condition that is
            held. It overrides the claim's ``where``, which overrides ``Claims.held``.
        value: the column.
        control: whether it is what the other arms are compared with. Without episodes of
            it the claim is not unmeasured, but cannot be told.
        guess: the rate that a plan assumes of it, 0 to 1; None for an arm without a test.
        paper: the paper's rate, 0 to 1; None where it has none, or our text lacks it.
    """

    where: Where
    value: Value = "violation"
    control: bool = False
    guess: float | None = Field(None, ge=0, le=1)
    paper: float | None = Field(None, ge=0, le=1)


class Test(Strict):
    """The relation that a claim expects between two arms.

    Attributes:
        a: the first arm.
        b: the second arm.
        b_is: what b is, compared with a. "Equal", "not higher" and "not lower" are up to
            ``Claims.margin``.
        paired: whether the arms are compared episode by episode.
    """

    a: str
    b: str
    b_is: Expected
    paired: bool = True


class Premise(Strict):
    """A condition that a subject must meet before a claim is asked of it.

    Attributes:
        arm: the arm whose rate it is about, or several.
        at_most: the largest rate at which the claim is asked, 0 to 1.
        words: why not above it.
    """

    arm: str | tuple[str, ...]
    at_most: float = Field(ge=0, le=1)
    words: str

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms whose rates it is about."""
        return (self.arm,) if isinstance(self.arm, str) else self.arm


class Then(Strict):
    """An earlier verdict on a claim.

    Attributes:
        until: the day from which it was another, ISO 8601.
        verdict: the verdict.
        because: what changed it.
    """

    until: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    verdict: Verdict
    because: str


class Claim(Strict):
    """A claim of the paper.

    Attributes:
        title: heading of the claim.
        claim: the claim, paraphrased; by default as ``paper.yaml`` has it under this title.
        paper: the paper's figure, and its section or table; likewise.
        where: conditions of all arms.
        arms: the arms, by name.
        premise: what has to be so first; else the claim cannot be told, whatever the tests say.
        tests: what the claim expects; it is borne out if all of it is.
        looks: how often its pairs were looked at before the last ones were added, the last
            look included. Where no sequential plan was declared, its p-value is multiplied by it.
        verdict: the verdict for which the words are written; None where there are no words.
        words: the reason, in one to three sentences, without figures, which would become
            outdated.
        history: its earlier verdicts, the oldest first.
    """

    title: str
    claim: str
    paper: str
    where: Where = Field(default_factory=Where)
    arms: dict[str, Arm]
    premise: Premise | None = None
    tests: tuple[Test, ...] = Field(min_length=1)
    looks: int = Field(1, ge=1)
    verdict: Verdict | None = None
    words: str = ""
    history: tuple[Then, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _worded(cls, given: Any) -> Any:
        if not isinstance(given, dict) or {"claim", "paper"} <= given.keys():
            return given
        own = cast("dict[str, Any]", given)
        known = next((one for one in paper().claims if one.title == own.get("title")), None)
        return own if known is None else {"claim": known.claim, "paper": known.paper, **own}

    @model_validator(mode="after")
    def _known(self) -> Self:
        named = {name for test in self.tests for name in (test.a, test.b)}
        named |= {*self.premise.arms} if self.premise else set()
        if unknown := named - set(self.arms):
            raise ValueError(f"{', '.join(sorted(unknown))} is named, and is no arm")
        for test in self.tests:
            if self.arms[test.a].value != self.arms[test.b].value:
                raise ValueError(f"{test.a} and {test.b} are rates of different columns")
        return self


class Claims(Strict):
    """All claims.

    Attributes:
        margin: differences of rates smaller than it count as none.
        held: conditions of every query, unless a claim or an arm overrides them.
        claims: the claims.
    """

    margin: float = Field(gt=0, lt=1)
    held: Where
    claims: tuple[Claim, ...]


@cache
def paper() -> Claims:
    """Return the claims of the paper as this package states them for any model."""
    at = resources.files("constraintrot.report.claims").joinpath(PAPER)
    return load(at, TypeAdapter(Claims))


def unplaced(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The rows that would meet all conditions if what was measured in them were known."""
    asked = [name for name in _MEASURED if where.get(name) is not None]
    if not asked:
        return frame.iloc[:0]
    part = chosen(frame, {name: wanted for name, wanted in where.items() if name not in asked})
    return part[part[asked].isna().any(axis=1)]


def chosen(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The rows that meet all conditions; a setting that does not apply to a row matches.

    Raises:
        ConstraintRotError: an unknown column.
    """
    if missing := [name for name in where if name not in frame]:
        raise ConstraintRotError(
            f"{REPRODUCTION}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}"
        )
    fitting = np.ones(len(frame), bool)
    for name, wanted in where.items():
        if wanted is None:
            continue
        fits = frame[name].isin(wanted if isinstance(wanted, list) else [wanted])
        if name in design.SETTINGS:
            fits |= frame[name].isna() | (frame[name] == "none")
        fitting &= fits.to_numpy(bool)
    return frame[fitting]
