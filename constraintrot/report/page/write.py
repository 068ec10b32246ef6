"""From logs and frames to the files of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from constraintrot.extras import require
from constraintrot.report.page import frames, runs, source, summary
from constraintrot.report.page.html import html
from constraintrot.report.page.markdown import markdown
from constraintrot.report.page.sections import Page, page

NAMES = (
    "report.html", "report.md", "summary.json", source.RUNS_FILE, *frames.NAMES,
)  # fmt: skip


def report(given: Sequence[str], folder: Path) -> Page:
    """Read logs and frames, and write the report's files.

    Args:
        given: logs, frames and folders of them; paths or fsspec URLs. The
            frames of ``folder`` itself are not read, so it may lie among them.
        folder: where to write ``report.html``, ``report.md``, ``summary.json``,
            ``episodes.csv``, ``episodes.parquet`` and ``runs.json``.

    Returns:
        What was written.

    Raises:
        MissingExtraError: the extra ``report`` is not installed.
        ConstraintRotError: there is nothing to report on.
    """
    require("a report", "report")
    found = page(source.read(given, leave_out=str(folder)))
    folder.mkdir(parents=True, exist_ok=True)
    listed = runs.RUNS.dump_json(found.source.runs, indent=1).decode()
    for name, text in {**texts(found), source.RUNS_FILE: listed}.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    frames.write(found.source.planned, folder)
    return found


def texts(found: Page) -> dict[str, str]:
    """The page in its three forms, by file name; the same bytes for the same episodes."""
    return {
        "report.html": html(found),
        "report.md": markdown(found),
        "summary.json": summary.summary(found),
    }
