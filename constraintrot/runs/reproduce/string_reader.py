"""The verdicts that a program without a model would get from the same episodes.

A string reader breaks a policy exactly if its sentence is not word for word in the last input. If
it gets a claim's verdict too, the claim is about where compaction leaves the sentence, and the
page says "by construction" beside it. A second program uses the survival verdict of the reader of
rules instead. If only that one gets the verdict, the agent's part is to obey the rules left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from constraintrot.report.claims.looks import Sizes, looked
from constraintrot.runs.reproduce.registration import Registration

if TYPE_CHECKING:
    from constraintrot.report.claims.looks import Looked


@dataclass(frozen=True)
class Agreement:
    """A program beside the subject.

    Attributes:
        agreed: episodes of the claim in which both break the policy, or neither does.
        episodes: episodes of the claim in which both outcomes are known.
        same: whether the program's verdict on the claim is the subject's.
    """

    agreed: int
    episodes: int
    same: bool


def agreements(
    registration: Registration,
    sizes: Mapping[str, Sizes],
    frame: pd.DataFrame,
    found: Looked,
    look: int,
    column: str,
) -> dict[str, Agreement]:
    """Return a program's agreement on the decided claims about violation, by title.

    ``found`` are the subject's verdicts at ``look``, the last that was taken. The program uses the
    column ``verbatim`` or ``survived``.
    """
    known = frame[column].notna() & ~frame["allowed"].astype(bool)
    broken = 1.0 - (frame[column] == 1)
    read = frame.assign(
        violation=broken.where(known, frame["violation"]),
        outcome=broken.map({1.0: "violated", 0.0: "refused_text"}).where(known, frame["outcome"]),
    )
    verdicts = {
        one.claim.title: one.verdict
        for one in looked(registration.claims, read, sizes, look).answered
    }
    agree = (frame["violation"] == broken)[known & frame["violation"].notna()]
    told: dict[str, Agreement] = {}
    for one in found.answered:
        of_violation = any(arm.value == "violation" for arm in one.claim.arms.values())
        if of_violation and one.verdict in ("same", "opposite"):
            here = agree[agree.index.isin(one.rows)]
            same = verdicts[one.claim.title] == one.verdict
            told[one.claim.title] = Agreement(int(here.sum()), len(here), same)
    return told
