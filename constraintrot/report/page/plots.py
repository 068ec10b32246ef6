"""The page's figures as files for a paper: SVG, PDF, and the data that is drawn as CSV."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraintrot.report.page import figure, frames
from constraintrot.report.page.view import Figure

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

FOLDER = "figures"
# Okabe and Ito's colours, told apart by colour-blind readers too; the page has its own.
_COLOURS = {
    figure.INK: "#000000", figure.FAINT: "#b3b3b3", figure.BACK: "#ffffff",
    **dict(zip(figure.SERIES, ("#d55e00", "#0072b2", "#009e73", "#cc79a7"), strict=True)),
}  # fmt: skip
_PARTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor", "hatchcolor")
# TrueType, which journals ask for; and nothing that differs from one run to the next.
_SETTINGS = {"pdf.fonttype": 42, "svg.hashsalt": "constraintrot"}
_METADATA = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write(page: Page, folder: Path) -> list[Path]:
    """Write each figure of a page as ``NN-caption`` with ``.svg``, ``.pdf`` and ``.csv``.

    Returns:
        The files, in the order of the page.
    """
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for number, one in enumerate(figures(page), 1):
        path = folder / f"{number:02}-{_slug(one.caption)}"
        _draw(one.canvas, path)
        data = frames.csv_text(pd.DataFrame([dict(row) for row in one.data]))
        path.with_suffix(".csv").write_text(data, encoding="utf-8", newline="")
        written += [path.with_suffix(ending) for ending in (".svg", ".pdf", ".csv")]
    return written


def figures(page: Page) -> Iterator[Figure]:
    """The figures of a page, in order."""
    if page.figure is not None:
        yield page.figure
    for section in page.sections:
        yield from (block for block in section.blocks if isinstance(block, Figure))


def _slug(caption: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", caption.lower())
    return words[:60].strip("-")


def drawn(canvas: Any) -> str:
    """A figure as SVG with a paper's colours, for where no page gives it its own."""
    matplotlib: Any = import_module("matplotlib")
    _recolour(canvas, import_module("matplotlib.colors"))
    file = io.StringIO()
    with matplotlib.rc_context({**figure.SETTINGS, **_SETTINGS}):
        canvas.savefig(
            file, format="svg", bbox_inches="tight", pad_inches=0.04, metadata=_METADATA["svg"]
        )
    return file.getvalue()


def _draw(canvas: Any, path: Path) -> None:
    # matplotlib's type information is incomplete, so its use is not type-checked.
    matplotlib: Any = import_module("matplotlib")
    _recolour(canvas, import_module("matplotlib.colors"))
    with matplotlib.rc_context({**figure.SETTINGS, **_SETTINGS}):
        for kind, metadata in _METADATA.items():
            canvas.savefig(
                path.with_suffix(f".{kind}"), bbox_inches="tight", pad_inches=0.04,
                metadata=metadata,
            )  # fmt: skip


def _recolour(canvas: Any, colors: Any) -> None:
    """Replace the page's placeholder colours in everything that is drawn."""
    artists = list(canvas.findobj())
    boxes = (one.get_bbox_patch() for one in artists if hasattr(one, "get_bbox_patch"))
    for artist in (*artists, *(box for box in boxes if box is not None)):
        for part in _PARTS:
            if not hasattr(artist, f"get_{part}") or not hasattr(artist, f"set_{part}"):
                continue
            now = getattr(artist, f"get_{part}")()
            if not colors.is_color_like(now):
                continue
            wanted = _COLOURS.get(colors.to_hex(now))
            if wanted is not None:
                getattr(artist, f"set_{part}")(wanted)
