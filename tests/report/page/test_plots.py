"""Figures for papers: each as SVG and PDF, with the data that it shows."""

from __future__ import annotations

import csv
from pathlib import Path

from constraintrot.report.page import drawing
from tests.report.page.helpers import arm, paged


def test_each_figure_comes_as_svg_and_pdf_with_its_data(tmp_path: Path) -> None:
    page = paged(arm("control", 8, 1), arm("compaction", 8, 6))
    first, again = (drawing.write(page.figures, tmp_path / name) for name in ("one", "two"))
    assert len(first) == 3 * len(list(page.figures)) > 3
    for path, other in zip(first, again, strict=True):
        assert path.read_bytes() == other.read_bytes()
    svg, pdf, data = first[:3]
    assert pdf.read_bytes().startswith(b"%PDF")
    drawn = svg.read_text()
    assert "var(--" not in drawn
    assert not [one for one in (drawing.INK, drawing.BACK, *drawing.SERIES) if one in drawn]
    rows = list(csv.DictReader(data.open()))
    assert {row["row"]: (row["k"], row["n"]) for row in rows} == {
        "control": ("1", "8"), "compaction": ("6", "8"),
    }  # fmt: skip
    assert all(float(row["lower"]) < float(row["estimate"]) < float(row["upper"]) for row in rows)


def test_a_caption_names_no_other_folder(tmp_path: Path) -> None:
    page = paged(
        arm("control", 3, 0, agent="../../evil"), arm("compaction", 3, 3, agent="../../evil")
    )
    assert {path.parent for path in drawing.write(page.figures, tmp_path)} == {tmp_path}
