"""``qualification/*.json``: on which families the claims of a folder of results are computed.

The files are those of ``constraintrot qualify``. Without any, all families count, and the
page says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page.qualified import UNKNOWN, applied, note
from constraintrot.report.page.source import Source
from constraintrot.report.qualification import Qualification, table
from constraintrot.report.qualified import Level, of_subject, read_all, unqualified, usable

if TYPE_CHECKING:
    import pandas as pd

QUALIFICATION = "qualification"
# No family can show by its bounds that a control is at most a tenth with fewer than 29 episodes.
LEVEL: Level = "observed"
_FIRST_CLAIM = re.compile(r"^## ", re.MULTILINE)
_CLAIM = re.compile(r"^## (.+)\n\n\*\*Claim\.\*\*", re.MULTILINE)


def paths(folder: Path) -> list[Path]:
    """The qualifications of a folder of results."""
    return sorted((folder / QUALIFICATION).glob("*.json"))


def claimed(folder: Path, source: Source) -> Source:
    """The episodes that claims may use, with the rest among the notices.

    Raises:
        ConstraintRotError: a file is no qualification, is of no subject here, or leaves nothing.
    """
    return applied(source, paths(folder), LEVEL)


def stated(folder: Path, page: str, of: Mapping[str, pd.DataFrame]) -> str:
    """The page of the claims with the qualifications above them, and the families beside each.

    Args:
        folder: the folder of results.
        page: the page, in Markdown.
        of: the episodes of each claim, by its title.

    Raises:
        ConstraintRotError: a claim has episodes of a family on which the model does not qualify,
            in a framework or language in which nobody asked.
    """
    given = read_all(paths(folder))
    if not given:
        said = f"**Who qualifies.** {UNKNOWN}\n\n## "
        return _FIRST_CLAIM.sub(lambda _: said, page, count=1)
    for title, frame in of.items():
        _check(given, title, frame)
    page = _CLAIM.sub(
        lambda at: f"## {at[1]}\n\n**Who qualifies.** {_beside(given, of[at[1]])}\n\n**Claim.**",
        page,
    )
    tables = "\n\n".join(f"{table(one)}\n\n{note(one, LEVEL)}" for one in given)
    section = f"## Who qualifies\n\n{tables}\n\n## "
    return _FIRST_CLAIM.sub(lambda _: section, page, count=1)


def _check(given: Sequence[Qualification], title: str, frame: pd.DataFrame) -> None:
    names: dict[tuple[str, str], set[str]] = {}
    for one in given:
        # Where it was asked `claimed` has left the others out.
        frame = frame[~of_subject(frame, one)]
        names.setdefault((one.agent, one.scaffold), set()).update(
            family.family for family in usable(one, LEVEL)
        )
    for (agent, scaffold), usable_somewhere in names.items():
        mine = frame[(frame["agent"] == agent) & (frame["scaffold"] == scaffold)]
        if others := sorted(set(map(str, mine["family"])) - usable_somewhere):
            raise ConstraintRotError(
                f"{title!r}: it has episodes of {', '.join(others)}, on which {agent} with"
                f" scaffold {scaffold} does not qualify where it was asked; name the families"
                " in `where`"
            )


def _beside(given: Sequence[Qualification], frame: pd.DataFrame) -> str:
    """Of which families a claim is, subject by subject."""
    left = frame
    words: list[str] = []
    for one in given:
        mine = of_subject(frame, one)
        left = left[~mine.loc[left.index]]
        if mine.any():
            used = usable(one, LEVEL)
            names = ", ".join(family.family for family in used) or "none"
            alone = any(family.verdict != "qualified" for family in used)
            how = ", by its rates alone (n too small for the bounds)" if alone else ""
            words.append(f"{one.agent}, {one.scaffold}{how}, on {names}")
    if len(left):
        families = ", ".join(sorted(map(str, left["family"].unique())))
        words.append(
            f"not asked of {'; '.join(unqualified(left, given))}; its episodes are of {families}"
        )
    return f"{'; '.join(words) or 'No episode'}."
