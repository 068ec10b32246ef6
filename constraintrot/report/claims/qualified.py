"""The families on which each claim's subjects qualify."""

from collections.abc import Mapping, Sequence

import pandas as pd

from constraintrot.errors import ConstraintRotError
from constraintrot.report.qualification import Qualification
from constraintrot.report.qualified import Level, beyond, of_subject, unqualified, usable

# The bounds cannot show a control of at most a tenth with fewer than 29 episodes per family.
LEVEL: Level = "observed"


def check(
    given: Sequence[Qualification], of: Mapping[str, pd.DataFrame], level: Level = LEVEL
) -> None:
    """Check that no claim has episodes of a family on which its subject does not qualify."""
    for title, frame in of.items():
        _check(given, title, frame, level)


def _check(given: Sequence[Qualification], title: str, frame: pd.DataFrame, level: Level) -> None:
    names: dict[tuple[str, str], set[str]] = {}
    for one in given:
        # `claimed` already left out unqualified families where there is a qualification.
        frame = frame[~of_subject(frame, one)]
        names.setdefault((one.agent, one.scaffold), set()).update(
            family.family for family in usable(one, level)
        )
    for (agent, scaffold), usable_somewhere in names.items():
        mine = frame[(frame["agent"] == agent) & (frame["scaffold"] == scaffold)]
        if others := sorted(set(map(str, mine["family"])) - usable_somewhere):
            raise ConstraintRotError(
                f"{title!r}: it has episodes of {', '.join(others)}, on which {agent} with"
                f" scaffold {scaffold} does not qualify where it was asked; name the families"
                " in `where`"
            )


def beside(given: Sequence[Qualification], frame: pd.DataFrame, level: Level = LEVEL) -> str:
    """Return a sentence with the families of a claim, subject by subject."""
    left = frame
    words: list[str] = []
    notes: list[str] = []
    for one in given:
        mine = of_subject(frame, one)
        left = left[~mine.loc[left.index]]
        if mine.any():
            there = {*map(str, frame.loc[mine, "family"])}
            used = [family for family in usable(one, level) if family.family in there]
            names = ", ".join(family.family for family in used) or "none"
            alone = any(family.verdict != "qualified" for family in used)
            how = ", by its rates alone (n too small for the bounds)" if alone else ""
            words.append(f"{one.agent}, {one.scaffold}{how}, on {names}")
            notes += beyond(frame[mine], one)
    if len(left):
        families = ", ".join(sorted(map(str, left["family"].unique())))
        words.append(
            f"not asked of {'; '.join(unqualified(left, given))}; its episodes are of {families}"
        )
    return " ".join([f"{'; '.join(words) or 'No episode'}.", *notes])
