"""The family of primary claims: declared in a file, adjusted once, the same on every page.

Holm's adjustment needs to know which comparisons belong together. If each page adjusts
over what it happens to show, one comparison has several p-values. So the family is
declared (``primary.yaml``), computed once from all episodes, and every page looks up
its comparisons here. A comparison outside of the family is exploratory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.page import design, pairing
from constraintrot.report.page.compared import adjusted, pair
from constraintrot.report.page.view import Compared
from constraintrot.report.yaml_file import load

if TYPE_CHECKING:
    import pandas as pd

DEFAULT = "primary.yaml"


class PrimaryClaim(BaseModel):
    """A claim about every model.

    Attributes:
        name: short name, unique in the family.
        claim: the claim in one sentence.
        a: name of the first arm (see ``design.arm``).
        b: name of the second arm, whose violation is compared with that of the first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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


class Declared(BaseModel):
    """The declared family.

    Attributes:
        margin: a smaller difference of rates counts as none.
        claims: the claims.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    margin: float = Field(gt=0, lt=1)
    claims: tuple[PrimaryClaim, ...]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what in ([one.name for one in self.claims], [(one.a, one.b) for one in self.claims]):
            if len(set(what)) < len(what):
                raise ValueError("two claims have the same name or the same arms")
        return self


@dataclass(frozen=True)
class Family:
    """The primary comparisons of some episodes, adjusted over all of them.

    Attributes:
        declared: what was declared.
        compared: one comparison per claim and model, claim by claim; without a comparison where
            the model has no pairs. The adjustment is over those that have pairs.
    """

    declared: Declared
    compared: tuple[Compared, ...]

    @property
    def size(self) -> int:
        """Number of comparisons that the p-values are adjusted over."""
        return sum(one.comparison is not None for one in self.compared)

    def of(self, agent: str, a: str, b: str) -> Compared | None:
        """The primary comparison of two arms of a model; None if it is no primary claim."""
        fits = (one for one in self.compared if (one.agent, one.a, one.b) == (agent, a, b))
        return next(fits, None)

    def told(self, one: Compared) -> Compared:
        """A comparison with the one p-value that it has on every page.

        A comparison of the same episodes as a primary one, in whichever order, is that
        one. Any other is exploratory: it keeps its p-value, unadjusted.

        Args:
            one: a comparison that some page shows.
        """
        if one.comparison is None:
            return one
        for known in self.compared:
            if known.comparison is not None and known.same_episodes(one):
                comparison = replace(one.comparison, adjusted=known.comparison.adjusted)
                return replace(one, comparison=comparison, primary=known.primary)
        return replace(one, comparison=replace(one.comparison, adjusted=None), primary="")


def read(path: Path | None = None) -> Declared:
    """Read a family; without a path the default one.

    Raises:
        ConstraintRotError: the file cannot be read or does not validate.
    """
    at = path or resources.files("constraintrot.report.page").joinpath(DEFAULT)
    return load(at, TypeAdapter(Declared), " is no family of primary claims:")


def family(declared: Declared, frame: pd.DataFrame) -> Family:
    """Compute the primary comparisons.

    Args:
        declared: the family.
        frame: all episodes, from ``design.prepared``.
    """
    asked = frame[~frame["allowed"]]
    compared: list[Compared] = []
    for claim in declared.claims:
        for agent in design.agents(asked):
            mine = asked[asked["agent"] == agent]
            part, setting = pairing.most_pairs(mine, claim.a, claim.b)
            one = pair(part, agent, claim.a, claim.b)
            compared.append(
                replace(one, primary=claim.name, at=pairing.apart(setting, mine) or "main")
            )
    return Family(declared, tuple(adjusted(compared)))
