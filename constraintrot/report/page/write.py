"""Write the files of a report from logs and frames."""

from collections.abc import Sequence
from pathlib import Path

from constraintrot import files
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.report.page import drawing, frames, runs, source, summary
from constraintrot.report.page.detail import texts_json, texts_path
from constraintrot.report.page.html import html
from constraintrot.report.page.markdown import markdown
from constraintrot.report.page.primary import Declared
from constraintrot.report.page.qualified import applied
from constraintrot.report.page.reading import RUNS_FILE
from constraintrot.report.page.sections import Page, page
from constraintrot.report.qualified import Level

TEXTS = texts_path(frames.NAMES[0])
NAMES = (
    "report.html", "report.md", "summary.json", RUNS_FILE, *frames.NAMES, TEXTS,
)  # fmt: skip


def report(
    given: Sequence[str],
    folder: Path,
    qualifications: Sequence[Path] = (),
    qualified_by: Level = "bounds",
    *,
    declared: Declared | None = None,
    figures: bool = False,
) -> Page:
    """Read logs and frames, and write the report's files.

    The frames that an earlier report wrote to the folder are not read. With qualifications (files of
    ``constraintrot qualify``, or folders of them), the page covers the families on which its subjects
    qualify, and lists the rest. The primary claims are by default those of ``primary.yaml``.
    """
    require("a report", "report")
    read = source.read(given, leave_out=str(folder))
    written = page(applied(read, qualifications, qualified_by), declared)
    folder.mkdir(parents=True, exist_ok=True)
    listed = runs.RUNS.dump_json(written.source.runs, indent=1).decode()
    told = texts_json(written.source.details)
    for name, text in {**texts(written), RUNS_FILE: listed, TEXTS: told}.items():
        files.write(folder / name, text, ConstraintRotError)
    frames.write(written.source.planned, folder)
    if figures:
        drawing.write(written.figures, folder / drawing.FOLDER)
    return written


def texts(page: Page) -> dict[str, str]:
    """Render the page as HTML, Markdown and JSON, by file name; equal episodes give equal bytes."""
    return {
        "report.html": html(page),
        "report.md": markdown(page),
        "summary.json": summary.summary(page),
    }
