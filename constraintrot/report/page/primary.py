"""The family of primary claims: declared in a file, adjusted once, the same on every page.

Holm's adjustment needs to know which comparisons belong together. If each page adjusted
over its own comparisons, one comparison would have several p-values. So the family is
declared (``primary.yaml``), computed once from all episodes, and every page looks up
its comparisons here. A comparison outside of the family is exploratory.

A folder of results also has claims of several comparisons, each with one p-value.
A family that names their file (``also``) is adjusted over them too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import Field, TypeAdapter, field_validator, model_validator

from constraintrot.errors import ConstraintRotError
from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.page import design
from constraintrot.report.page.compared import paired
from constraintrot.report.page.view import Compared
from constraintrot.report.yaml_file import load
from constraintrot.stats.exact import holm
from constraintrot.strict import Strict

DEFAULT = "primary.yaml"


class PrimaryClaim(Strict):
    """A claim about every model.

    Attributes:
        a: name of the first arm (see ``design.arm``).
        b: name of the second arm, whose violation is compared with that of the first.
    """

    name: str = Field(min_length=1, max_length=60)
    claim: str
    a: str
    b: str

    @field_validator("a", "b")
    @classmethod
    def _known(cls, arm: str) -> str:
        if arm.split(",")[0] not in (*design.ORDER, *CONDITIONS):
            raise ValueError(f"no arm {arm!r}; an arm begins with a condition's name")
        return arm


class Declared(Strict):
    """The declared family.

    Attributes:
        also: file of further claims of the same family, which a page beside the report
            tests; None if there are none.
        at: settings that the claims use, as ``{scaffold: review}``. For other settings, and for
            a model without pairs there, the setting with the most pairs is used.
    """

    margin: float = Field(gt=0, lt=1)
    also: str | None = None
    at: dict[str, str | int] = Field(default_factory=dict[str, str | int])
    claims: tuple[PrimaryClaim, ...]

    @field_validator("at")
    @classmethod
    def _settings(cls, at: dict[str, str | int]) -> dict[str, str | int]:
        if unknown := [name for name in at if name not in design.SETTINGS]:
            raise ValueError(
                f"no setting {unknown[0]!r}; there are {', '.join(map(str, design.SETTINGS))}"
            )
        return at

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what in ([one.name for one in self.claims], [(one.a, one.b) for one in self.claims]):
            if len(set(what)) < len(what):
                raise ValueError("two claims have the same name or the same arms")
        return self


@dataclass(frozen=True)
class Further:
    """A claim of the family that a page beside the report makes (``Declared.also``).

    Attributes:
        p_value: of the whole claim, multiplied by its looks.
        of: the comparison with that p-value; None if the claim has several comparisons, or is
            not a test of a difference.
        adjusted: the p-value adjusted over the family; None before.
        weakest: the same with what is unknown of the other claims counted against them.
    """

    name: str
    p_value: float
    of: Compared | None = None
    adjusted: float | None = None
    weakest: float | None = None


@dataclass(frozen=True)
class Family:
    """The primary claims of some episodes, adjusted over all of them.

    Attributes:
        compared: an entry per claim and model, claim by claim; without a comparison if the
            model has no pairs. The adjustment is over the entries with pairs.
        size: number of p-values that are adjusted together.
    """

    declared: Declared
    compared: tuple[Compared, ...]
    further: tuple[Further, ...]
    size: int

    def of(self, agent: str, a: str, b: str) -> Compared | None:
        """Return the primary comparison of two arms of a model; None if it is not a primary claim."""
        fits = (one for one in self.compared if (one.agent, one.a, one.b) == (agent, a, b))
        return next(fits, None)

    def told(self, one: Compared) -> Compared:
        """Return a comparison with the adjusted p-value that it has on every page.

        A comparison of the same episodes as a primary one, in either order, is primary too.
        Any other is exploratory and keeps its unadjusted p-value.
        """
        if one.comparison is None:
            return one
        name, *adjusted = self._adjusted(one)
        return replace(one, comparison=one.comparison.adjusted_to(*adjusted), primary=name)

    def _adjusted(self, one: Compared) -> tuple[str, float | None, float | None]:
        """Return a comparison's claim and adjusted p-values, as it is and at worst, if it has one."""
        for known in self.compared:
            if known.comparison is not None and known.same_episodes(one):
                extremes = known.comparison.extremes
                weakest = extremes[0].adjusted if extremes else None
                return known.primary, known.comparison.adjusted, weakest
        for claim in self.further:
            if claim.of is not None and claim.of.same_episodes(one):
                return claim.name, claim.adjusted, claim.weakest
        return "", None, None


def read(path: Path | None = None) -> Declared:
    at = path or resources.files("constraintrot.report.page").joinpath(DEFAULT)
    return load(at, TypeAdapter(Declared), " is no family of primary claims:")


def family(
    declared: Declared, frame: pd.DataFrame, further: Sequence[Further] | None = None
) -> Family:
    """Compute the primary comparisons.

    The frame has all episodes, from ``design.prepared``; ``further`` are the claims of the file that
    the family names, None if they are not known.
    """
    if declared.also and further is None:
        raise ConstraintRotError(
            f"this family is adjusted over the claims of {declared.also} too, which only"
            " `make report` computes; for a family of its own, give a file without `also`"
        )
    asked = frame[~frame["allowed"]]
    _check_at(declared, asked)
    compared: list[Compared] = []
    for claim in declared.claims:
        for agent, mine in _subjects(declared, asked):
            one = paired(mine, agent, claim.a, claim.b, declared.at)
            elsewhere = bool(declared.at) and one.comparison is None
            if elsewhere:
                one = paired(mine, agent, claim.a, claim.b)
            compared.append(replace(one, primary=claim.name, elsewhere=elsewhere))
    return _adjusted(declared, compared, further or ())


def _subjects(declared: Declared, asked: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    found = [(agent, asked[asked["agent"] == agent]) for agent in design.agents(asked)]
    wanted = declared.at.get("scaffold")
    if wanted is None or "model" not in asked:
        return found
    there = set(asked[asked["scaffold"] == wanted]["model"])
    return [
        (agent, mine)
        for agent, mine in found
        if (mine["scaffold"] == wanted).any() or not set(mine["model"]) & there
    ]


def _check_at(declared: Declared, frame: pd.DataFrame) -> None:
    """Refuse a declared value that no episode has; a test at another setting would be silent."""
    for name, wanted in declared.at.items():
        known = [value for value in design.ordered(frame[name]) if not design.is_none(value)]
        if known and wanted not in known:
            raise ConstraintRotError(
                f"the primary claims are declared at {name} {wanted!r}, which no episode has;"
                f" there are {', '.join(map(repr, known))}"
            )


def _adjusted(
    declared: Declared, compared: Sequence[Compared], further: Sequence[Further]
) -> Family:
    mine = [one for one in compared if one.comparison is not None]
    known = [one.comparison for one in mine if one.comparison is not None]
    p_values = [one.p_value for one in known]
    places: list[int] = []
    for claim in further:
        twins = [at for at, one in enumerate(mine) if claim.of and one.same_episodes(claim.of)]
        places.append(twins[0] if twins else len(p_values))
        p_values += [] if twins else [claim.p_value]
        # The comparison has one p-value on all pages, so its looks count here too.
        p_values[places[-1]] = max(p_values[places[-1]], claim.p_value)
    at_worst = [max(p_values[at], one.weakest) for at, one in enumerate(known)]
    adjusted, weakest = holm(p_values), holm([*at_worst, *p_values[len(known) :]])
    values = (one.adjusted_to(adjusted[at], weakest[at]) for at, one in enumerate(known))
    return Family(
        declared,
        tuple(
            one if one.comparison is None else replace(one, comparison=next(values))
            for one in compared
        ),
        tuple(
            replace(claim, adjusted=adjusted[at], weakest=weakest[at])
            for claim, at in zip(further, places, strict=True)
        ),
        len(p_values),
    )
