"""``corrections.yaml``: verdicts that are withdrawn, because a fault of their test was found later.

A registration is never changed after it was written, and its tests stay what they were. Where one of
them turns out to be of something else than its claim, the folder says so in a list of::

    - claim: Volume evicts a policy
      day: 2026-11-28
      because: its test compares with full view, so that plain compaction alone gives the verdict

and the page has the verdict no longer, with the day and the reason. Nothing in this file can give
a verdict.
"""

from __future__ import annotations

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
    """A verdict that is withdrawn.

    Attributes:
        claim: title of the claim.
        day: the day on which it was withdrawn, ISO 8601.
        because: the fault, as the end of a sentence.
    """

    claim: str
    day: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    because: str


def corrected(answered: Sequence[Answered], folder: Path) -> tuple[Answered, ...]:
    """Return the claims without the verdicts that the folder withdraws.

    Raises:
        ConstraintRotError: the file cannot be read, or names a claim that has no verdict, or
            has a text that the page cannot show in a line.
    """
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
