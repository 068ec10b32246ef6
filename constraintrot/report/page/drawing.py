"""Drawings by matplotlib, in the colours of the page or as files for a paper.

Every series has another marker and line style, so series do not differ by colour
alone. Colours are CSS variables, so that one drawing serves light and dark mode.
"""

import hashlib
import io
import re
import textwrap
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from constraintrot import files
from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.page import frames
from constraintrot.report.page.view import Figure
from constraintrot.stats.interval import Estimate, Interval

FOLDER = "figures"
# Placeholder colours, which ``_themed`` replaces by the page's CSS variables.
INK, FAINT, BACK = "#010203", "#010204", "#010205"
SERIES = ("#010211", "#010212", "#010213", "#010214")
_VARIABLES = {INK: "ink", FAINT: "faint", BACK: "back"} | {
    colour: f"series-{at}" for at, colour in enumerate(SERIES, 1)
}
# Okabe and Ito's colours, which colour-blind readers can distinguish; the page has its own.
_COLOURS = {
    INK: "#000000", FAINT: "#b3b3b3", BACK: "#ffffff",
    **dict(zip(SERIES, ("#d55e00", "#0072b2", "#009e73", "#cc79a7"), strict=True)),
}  # fmt: skip
MARKERS = ("o", "s", "D", "^")
SHAPES = (*MARKERS, "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....", "xxxx")
WIDTH = 7.2
_PARTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor", "hatchcolor")
_SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "hatch.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.color": INK,
}
# TrueType, which journals require, and no content that differs between runs.
_FOR_PAPERS = {**_SETTINGS, "pdf.fonttype": 42, "svg.hashsalt": "constraintrot"}
_UNDATED = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@contextmanager
def drawing(width: float, height: float) -> Generator[tuple[Any, list[Any]]]:
    """Provide axes, and a list to which the SVG and the canvas are appended on exit."""
    # matplotlib's type information is incomplete, so its use is not type-checked.
    matplotlib: Any = import_module("matplotlib")
    figure: Any = import_module("matplotlib.figure")
    salt = f"{width} {height}"
    # matplotlib warns of fonts without some scripts, but the browser renders the text.
    with matplotlib.rc_context({**_SETTINGS, "svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        canvas = figure.Figure(figsize=(width, height))
        axes = canvas.add_subplot()
        canvas.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        axes.set_axisbelow(True)
        drawn: list[Any] = []
        yield axes, drawn
        drawn += [_saved(canvas), canvas]


def figure(
    drawn: list[Any], caption: str, alt: str, data: Sequence[Mapping[str, object]]
) -> Figure:
    svg, canvas = drawn
    return Figure(_themed(svg), untrusted.cut(alt, 1_500), caption, data, canvas)


def span(axes: Any, value: Estimate, at: float, *, upright: bool = False, **style: Any) -> None:
    """Draw the interval of an estimate in per cent, if it has one."""
    if isinstance(value, Interval):
        ends, place = [100 * value.lower, 100 * value.upper], [at, at]
        axes.plot(*((place, ends) if upright else (ends, place)), **style)


def per_cent(axes: Any, name: str, *, upright: bool = False) -> None:
    """Scale and label an axis in per cent, with a grid."""
    if upright:
        axes.set_ylim(-4, 104)
        axes.set_ylabel(name)
        axes.grid(axis="y")
    else:
        axes.set_xlim(-3, 103)
        axes.set_xlabel(name)
        axes.grid(axis="x")


def rows(axes: Any, names: Sequence[str], limit: int) -> None:
    """Label the lines of a drawing, the first one at the top."""
    axes.set_yticks(range(len(names)), [label(name, limit) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def legend(axes: Any, series: int) -> None:
    if series > 1:
        axes.legend(
            frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(series, 4),
            fontsize=8.5, borderaxespad=0.2,
        )  # fmt: skip


def legend_beside(axes: Any) -> None:
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5)


def label(text: str, limit: int) -> str:
    """Return the whole text on lines of at most ``limit`` characters."""
    return textwrap.fill(untrusted.visible(text.replace("\n", " ")), limit)


def label_lines(labels: Sequence[str], limit: int) -> int:
    return max((label(name, limit).count("\n") + 1 for name in labels), default=1)


def _themed(svg: str) -> str:
    """Return the svg element with the page's colours, unique ids, and no fixed size."""
    body = svg[svg.index("<svg") :]
    for colour, name in _VARIABLES.items():
        body = body.replace(colour, f"var(--{name})")
    mark = f"f{hashlib.sha256(body.encode(errors='replace')).hexdigest()[:8]}-"
    body = re.sub(r'(\bid="|href="#|url\(#)', lambda match: f"{match[0]}{mark}", body)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    opening, rest = body.split(">", 1)
    size = re.search(r'width="([\d.]+)pt"', opening)
    opening = re.sub(r' (width|height)="[\d.]+pt"', "", opening)
    wide = f"{float(size[1]) * 4 / 3:.0f}px" if size else "100%"
    return f'{opening} style="max-width:{wide}" aria-hidden="true" focusable="false">{rest}'


def _saved(canvas: Any) -> str:
    file = io.StringIO()
    _save(canvas, file, "svg")
    return file.getvalue()


def _save(canvas: Any, to: Any, kind: str) -> None:
    canvas.savefig(to, format=kind, bbox_inches="tight", pad_inches=0.04, metadata=_UNDATED[kind])


def write(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write each figure as ``NN-caption`` with ``.svg``, ``.pdf`` and ``.csv``; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for number, one in enumerate(figures, 1):
        slug = re.sub(r"[^a-z0-9]+", "-", one.caption.lower())[:60].strip("-")
        path = folder / f"{number:02}-{slug}"
        with _paper(one.canvas):
            for kind in _UNDATED:
                _save(one.canvas, path.with_suffix(f".{kind}"), kind)
        data = frames.csv_text(pd.DataFrame([dict(row) for row in one.data]))
        files.write(path.with_suffix(".csv"), data, ConstraintRotError)
        written += [path.with_suffix(ending) for ending in (".svg", ".pdf", ".csv")]
    return written


def for_paper(canvas: Any) -> str:
    """Return a figure as SVG with a paper's colours, for use outside a page."""
    with _paper(canvas):
        return _saved(canvas)


@contextmanager
def _paper(canvas: Any) -> Generator[None]:
    matplotlib: Any = import_module("matplotlib")
    colors: Any = import_module("matplotlib.colors")
    artists = list(canvas.findobj())
    boxes = (one.get_bbox_patch() for one in artists if hasattr(one, "get_bbox_patch"))
    for artist in (*artists, *(box for box in boxes if box is not None)):
        for part in _PARTS:
            if not hasattr(artist, f"get_{part}") or not hasattr(artist, f"set_{part}"):
                continue
            now = getattr(artist, f"get_{part}")()
            wanted = _COLOURS.get(colors.to_hex(now)) if colors.is_color_like(now) else None
            if wanted is not None:
                getattr(artist, f"set_{part}")(wanted)
    with matplotlib.rc_context(_FOR_PAPERS):
        yield
