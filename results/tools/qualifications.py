"""``qualification/*.json``: on which families the claims of a folder of results are computed.

The files are those of ``constraintrot qualify``. Without any, all families count, and the
page says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from constraintrot.report.page.qualified import UNKNOWN, applied
from constraintrot.report.page.source import Source
from constraintrot.report.qualification import table
from constraintrot.report.qualified import Level, read_all, usable

QUALIFICATION = "qualification"
LEVEL: Level = "bounds"
_FIRST_CLAIM = re.compile(r"^## ", re.MULTILINE)
_CLAIM = re.compile(r"^\*\*Claim\.\*\*", re.MULTILINE)


def paths(folder: Path) -> list[Path]:
    """The qualifications of a folder of results."""
    return sorted((folder / QUALIFICATION).glob("*.json"))


def claimed(folder: Path, source: Source) -> Source:
    """The episodes that claims may use, with the rest among the notices.

    Raises:
        ConstraintRotError: a file is no qualification, is of no subject here, or leaves nothing.
    """
    return applied(source, paths(folder), LEVEL)


def stated(folder: Path, page: str) -> str:
    """The page of the claims with the qualifications above them, and the families beside each.

    Args:
        folder: the folder of results.
        page: the page, in Markdown.
    """
    given = read_all(paths(folder))
    if not given:
        said = f"**Who qualifies.** {UNKNOWN}\n\n## "
        return _FIRST_CLAIM.sub(lambda _: said, page, count=1)
    words = [
        f"{one.agent}, {one.scaffold}, on {', '.join(f.family for f in usable(one, LEVEL)) or 'none'}"
        for one in given
    ]
    beside = f"**Who qualifies.** {'; '.join(words)}.\n\n**Claim.**"
    page = _CLAIM.sub(lambda _: beside, page)
    tables = "\n\n".join(table(one) for one in given)
    section = f"## Who qualifies\n\n{tables}\n\n## "
    return _FIRST_CLAIM.sub(lambda _: section, page, count=1)
