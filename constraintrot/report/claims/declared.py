"""The paper's claims: their arms and tests, and in ``reproduction.yaml`` their verdicts.

A claim has arms, each a query over the joined frame, and tests between them (see
``decide``). ``verdicts`` decides them. ``paper.yaml`` of this package states the claims for
any model; a folder of results states them for its own episodes, and takes the paper's
words from here.
"""

from functools import cache
from importlib import resources
from typing import Any, Literal, Self, TypeAlias, cast

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter, model_validator

from constraintrot.errors import ConstraintRotError
from constraintrot.report.claims.decide import Expected, Value
from constraintrot.report.page import design
from constraintrot.report.yaml_file import load
from constraintrot.strict import Strict

REPRODUCTION = "reproduction.yaml"
PAPER = "paper.yaml"
Wanted: TypeAlias = str | int | float | bool
Where: TypeAlias = dict[str, Wanted | list[Wanted] | None]
Verdict: TypeAlias = Literal["same", "opposite", "cannot tell", "not measured"]
# Measured columns that a query may use; their value may be unknown for an episode.
_MEASURED = ("survived",)


class Arm(Strict):
    """A query, and the column whose rate is computed over its rows.

    Attributes:
        where: wanted value, or list of values, by column; null drops a held condition. It
            overrides the claim's ``where``, which overrides ``Claims.held``.
        control: whether it is the baseline of the other arms. Without its episodes the claim
            is undecided, not unmeasured.
        guess: the rate that a plan assumes for it, 0 to 1; None for an arm without a test.
        paper: the paper's rate, 0 to 1; None if it is not known.
    """

    where: Where
    value: Value = "violation"
    control: bool = False
    guess: float | None = Field(None, ge=0, le=1)
    paper: float | None = Field(None, ge=0, le=1)


class Test(Strict):
    """The relation that a claim expects between two arms.

    Attributes:
        b_is: the expected relation of b to a. "Equal", "not higher" and "not lower" allow
            ``Claims.margin``.
        paired: whether the arms are compared episode by episode.
    """

    a: str
    b: str
    b_is: Expected
    paired: bool = True


class Premise(Strict):
    """A condition that a subject must meet for a claim to be tested.

    Attributes:
        at_most: the largest rate at which the claim is tested, 0 to 1.
        words: why the claim is not tested above it.
    """

    arm: str | tuple[str, ...]
    at_most: float = Field(ge=0, le=1)
    words: str

    @property
    def arms(self) -> tuple[str, ...]:
        return (self.arm,) if isinstance(self.arm, str) else self.arm


class Then(Strict):
    """An earlier verdict on a claim.

    Attributes:
        until: the day on which it changed, ISO 8601.
    """

    until: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    verdict: Verdict
    because: str


class Claim(Strict):
    """A claim of the paper.

    Attributes:
        claim: the claim, paraphrased; by default from ``paper.yaml`` under this title.
        paper: the paper's figure, and its section or table; by default likewise.
        premise: the premise; if it does not hold, the claim is undecided regardless of the tests.
        tests: the expected relations; the claim is confirmed if all of them are.
        looks: how often its pairs were looked at, including the last time. Without a declared
            sequential plan, its p-value is multiplied by this.
        verdict: the verdict that the words explain; None without words.
        words: the reason, in one to three sentences without figures, which would go out of date.
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
        margin: smaller differences of rates do not count.
        held: conditions of every query, unless a claim or an arm overrides them.
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
    """Return the rows that meet all conditions, except that a measured value is unknown."""
    asked = [name for name in _MEASURED if where.get(name) is not None]
    if not asked:
        return frame.iloc[:0]
    part = chosen(frame, {name: wanted for name, wanted in where.items() if name not in asked})
    return part[part[asked].isna().any(axis=1)]


def chosen(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """Return the rows that meet all conditions; a setting that does not apply to a row matches."""
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
