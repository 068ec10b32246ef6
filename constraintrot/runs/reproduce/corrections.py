"""``corrections.yaml``: verdicts that are withdrawn because their test was found to be wrong.

A registration and its tests are never changed after it was written. If a test turns out to test
something other than its claim, the folder has a list of::

    - claim: Volume evicts a policy
      day: 2026-11-28
      because: its test compares with full view, so that plain compaction alone gives the verdict

and the page shows the day and the reason instead of the verdict. This file cannot add a verdict.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field, TypeAdapter

from constraintrot.errors import ConstraintRotError
from constraintrot.report.claims.decide import Why
from constraintrot.report.claims.declared import Then
from constraintrot.report.claims.verdicts import Answered
from constraintrot.report.yaml_file import load
from constraintrot.runs.reproduce.registration import check_texts
from constraintrot.strict import Strict

FILE = "corrections.yaml"


class Correction(Strict):
    """A withdrawn verdict.

    Attributes:
        because: the fault, as the end of a sentence.
    """

    claim: str
    day: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    because: str


def corrected(answered: Sequence[Answered], folder: Path) -> tuple[Answered, ...]:
    """Return the claims without the verdicts that the folder withdraws."""
    path = folder / FILE
    if not path.exists():
        return tuple(answered)
    given = load(path, TypeAdapter(tuple[Correction, ...]))
    check_texts(path, [one.model_dump() for one in given])
    withdrawn = {one.claim: one for one in given}
    told = {one.claim.title for one in answered if one.verdict in ("same", "opposite")}
    if others := withdrawn.keys() - told:
        raise ConstraintRotError(f"{path}: {', '.join(sorted(others))} has no verdict to withdraw")
    return tuple(
        _without(one, withdrawn[one.claim.title]) if one.claim.title in withdrawn else one
        for one in answered
    )


def _without(one: Answered, correction: Correction) -> Answered:
    then = Then(until=correction.day, verdict=one.verdict, because=f"{correction.because}.")
    claim = one.claim.model_copy(update={"history": (*one.claim.history, then)})
    why = (Why("withdrawn", correction.because),)
    return replace(one, claim=claim, verdict="cannot tell", why=why)
