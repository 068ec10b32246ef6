"""The texts of episodes beside a frame: calls, compaction diffs, receipts; for a page without logs.

``episodes.csv`` has its texts in ``episodes.texts.json``, and any other frame likewise. They
are those that the report shows, cut and made safe when they were read from the logs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.page import files
from constraintrot.report.page.detail import DETAILS, DIFF_LINES, RECEIPTS, Detail

if TYPE_CHECKING:
    from constraintrot.report.page.detail import Details

ENDING = ".texts.json"
_KINDS = ("added", "dropped", "gap", "same")
_TEXTS = ("calls", "recalled", "blocked", "survival")


def beside(frame: str) -> str:
    """The path of a frame's texts."""
    return f"{frame.rsplit('.', 1)[0]}{ENDING}"


def read(frame: str) -> list[Detail]:
    """The texts beside a frame; none if there is no such file.

    Raises:
        ConstraintRotError: the file holds something else.
    """
    path = beside(frame)
    if not files.kind(path):
        return []
    try:
        return [_limited(one) for one in DETAILS.validate_json(files.read(path))]
    except ValueError as error:
        raise ConstraintRotError(f"{path} holds no texts of episodes: {error}") from error


def json(details: Details) -> str:
    """The file of some texts, in the order of the episodes' ids."""
    known = tuple(details.kept[name] for name in sorted(details.kept))
    return DETAILS.dump_json(known, indent=1).decode() + "\n"


def _limited(one: Detail) -> Detail:
    """The texts within the limits that those from logs have: the file may come from anywhere."""
    diff = tuple(
        replace(line, kind=line.kind if line.kind in _KINDS else "same", text=_cut(line.text))
        for line in one.diff[: DIFF_LINES + 1]
    )
    receipts = tuple(_cut(text, untrusted.CELL) for text in one.receipts[: RECEIPTS + 1])
    shown = {name: _cut(getattr(one, name), untrusted.TEXT) for name in _TEXTS}
    return replace(one, diff=diff, receipts=receipts, **shown)


def _cut(text: str, limit: int = untrusted.LINE) -> str:
    # What a log's text was cut to ends in a note of its own.
    return untrusted.cut(text, limit + 100)
