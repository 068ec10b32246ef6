"""Figures as SVG, with the colours of the page.

Every series has another marker and line style, so series do not differ by colour
alone. Colours are CSS variables, so that one drawing serves light and dark mode.
"""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from constraintrot.report import untrusted
from constraintrot.report.page.view import Compared, Figure, percent, points, rate_text
from constraintrot.stats.interval import Estimate, Interval

if TYPE_CHECKING:
    from constraintrot.stats.curves import SurvivalCurve

# Placeholder colours, which ``_themed`` replaces by the page's CSS variables.
INK, FAINT, BACK = "#010203", "#010204", "#010205"
SERIES = ("#010211", "#010212", "#010213", "#010214")
_VARIABLES = {INK: "ink", FAINT: "faint", BACK: "back"} | {
    colour: f"series-{at}" for at, colour in enumerate(SERIES, 1)
}
MARKERS = ("o", "s", "D", "^")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....", "xxxx")
WIDTH = 7.2
SETTINGS = {
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


@dataclass(frozen=True)
class Series:
    """A named series of rates, one per label; None where it was not measured."""

    name: str
    values: Sequence[Estimate | None]


def dots(
    labels: Sequence[str],
    series: Sequence[Series],
    caption: str,
    axis: str = "violation, per cent",
    theirs: Sequence[float | None] = (),
    width: float = WIDTH,
) -> Figure:
    """Rates with intervals, one line per label.

    Args:
        labels: names of the lines.
        series: rates per line.
        caption: caption of the figure.
        axis: label of the x axis.
        theirs: the paper's rates in per cent, one per label, drawn hollow; None where the
            paper has none.
        width: width of the drawing in inches.
    """
    height = (
        0.75
        + max(0.36, 0.16 * _lines(labels, 30)) * len(labels)
        + (0.3 if len(series) > 1 or any(theirs) else 0)
    )
    with _drawing(width, height) as (axes, drawn):
        for at, one in enumerate(series):
            shift = 0.22 * (at - (len(series) - 1) / 2)
            _whiskers(axes, one, at, shift)
        known = [(value, at) for at, value in enumerate(theirs) if value is not None]
        if known:
            xs, ys = zip(*known, strict=True)
            axes.plot(xs, [y + 0.3 for y in ys], "v", mfc="none", mec=INK, ms=6, label="paper")
        axes.set_yticks(range(len(labels)), [_label(name, 30) for name in labels])
        axes.set_ylim(len(labels) - 0.5, -0.5)
        _per_cent(axes, axis)
        _legend(axes, len(series) + bool(known))
    alt = [
        f"{label}: "
        + ", ".join(
            (f"{one.name} " if len(series) > 1 else "") + rate_text(value)
            for one in series
            if (value := one.values[at]) is not None
        )
        for at, label in enumerate(labels)
    ]
    data = [
        {"row": label, "series": one.name, **_numbers(value)}
        for at, label in enumerate(labels)
        for one in series
        if (value := one.values[at]) is not None
    ]
    return _figure(drawn, caption, f"{axis}. {'; '.join(alt)}", data)


def forest(given: Sequence[tuple[str, Compared]], caption: str) -> Figure:
    """Paired differences with intervals.

    The marker is filled where a primary claim has a direction; exploratory comparisons have none.
    """
    rows = [
        (name, one.comparison, one.primary) for name, one in given if one.comparison is not None
    ]
    each = max(0.34, 0.16 * _lines([name for name, _, _ in rows], 60))
    with _drawing(WIDTH, 0.8 + each * len(rows)) as (axes, drawn):
        for at, (_, one, primary) in enumerate(rows):
            difference = one.difference
            directed = bool(primary) and one.verdict in ("b is lower", "b is higher")
            marker = "o" if not directed else "<" if one.verdict == "b is lower" else ">"
            if isinstance(difference, Interval):
                ends = [100 * difference.lower, 100 * difference.upper]
                axes.plot(ends, [at, at], color=INK, lw=1.4)
            face = SERIES[1 if one.verdict == "b is lower" else 0] if directed else BACK
            axes.plot(100 * difference.estimate, at, marker, mfc=face, mec=INK, ms=7)
        axes.axvline(0, color=INK, lw=0.9, ls="--")
        axes.set_yticks(range(len(rows)), [_label(name, 60) for name, _, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-105, 105)
        axes.set_xlabel("paired difference of violation, points (left: fewer violations)")
        axes.grid(axis="x")
    said = [one.verdict if primary else "exploratory" for _, one, primary in rows]
    alt = [
        f"{name}: {points(one.difference)}, {verdict}"
        for (name, one, _), verdict in zip(rows, said, strict=True)
    ]
    data = [
        {
            "row": name, **_numbers(one.difference), "only_a": one.only_a, "only_b": one.only_b,
            "p_value": one.p_value, "adjusted": one.adjusted, "verdict": verdict,
        }
        for (name, one, _), verdict in zip(rows, said, strict=True)
    ]  # fmt: skip
    return _figure(drawn, caption, "Paired differences. " + "; ".join(alt), data)


def curve(
    series: Sequence[tuple[str, Sequence[tuple[float, Estimate]]]],
    caption: str,
    axis: str,
    theirs: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Rates by dose, on a logarithmic scale.

    Args:
        series: name and points (dose, rate) of each series.
        caption: caption of the figure.
        axis: label of the x axis.
        theirs: the paper's points (dose, per cent) by name, drawn hollow and without a line.
    """
    with _drawing(WIDTH, 3.1) as (axes, drawn):
        for at, (name, rates) in enumerate(series):
            xs = [dose for dose, _ in rates]
            ys = [100 * value.estimate for _, value in rates]
            colour = SERIES[at % 4]
            axes.plot(xs, ys, LINES[at % 4], marker=MARKERS[at % 4], color=colour, label=name)
            for dose, value in rates:
                if isinstance(value, Interval):
                    axes.plot([dose] * 2, [100 * value.lower, 100 * value.upper], color=colour)
        for at, (name, points_) in enumerate((theirs or {}).items()):
            xs, ys = [x for x, _ in points_], [y for _, y in points_]
            marker = "v^"[at % 2]
            axes.plot(xs, ys, marker, mfc="none", mec=INK, ms=7, label=f"{name} (paper)")
        axes.set_xscale("log")
        doses = sorted({dose for _, rates in series for dose, _ in rates})
        axes.set_xticks(doses, [f"{dose:g}" for dose in doses])
        axes.minorticks_off()
        axes.set_xlabel(axis)
        axes.set_ylim(-4, 104)
        axes.set_ylabel("per cent")
        axes.grid(axis="y")
        _legend(axes, len(series) + len(theirs or {}))
    alt = [
        f"{name}: " + ", ".join(f"{dose:g}: {rate_text(value)}" for dose, value in rates)
        for name, rates in series
    ]
    data = [
        {"series": name, "dose": dose, **_numbers(value)}
        for name, rates in series
        for dose, value in rates
    ]
    return _figure(drawn, caption, f"Rates by {axis}. " + "; ".join(alt), data)


def mosaic(table: tuple[tuple[int, int], tuple[int, int]], caption: str) -> Figure:
    """A mosaic plot: column widths show policies kept and lost, heights show violations.

    Args:
        table: ((kept and violated, kept and not), (lost and violated, lost and not)).
        caption: caption of the figure.
    """
    total = sum(map(sum, table))
    with _drawing(4.6, 3.0) as (axes, drawn):
        left = 0.0
        for (violated, obeyed), name in zip(table, ("kept", "lost"), strict=True):
            n = violated + obeyed
            width, share = n / total, violated / n if n else 0.0
            parts = ((0.0, share, violated, 0), (share, 1 - share, obeyed, 1))
            for bottom, height, count, at in parts:
                if not count:
                    continue
                axes.bar(
                    left, height, width, bottom, align="edge", color=SERIES[at], alpha=0.45,
                    edgecolor=BACK, lw=2, hatch=HATCHES[1 - at],
                )  # fmt: skip
                word = "violated" if at == 0 else "not violated"
                text = f"{count}\n{word}"
                box = {"facecolor": BACK, "edgecolor": "none", "pad": 1.5}
                axes.text(
                    left + width / 2, bottom + height / 2, text, ha="center", va="center", bbox=box
                )
            if n:
                axes.text(left + width / 2, -0.04, f"policy {name}\nn = {n}", ha="center", va="top")
            left += width
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
    alt = "; ".join(
        f"policy {name}: {violated} of {violated + obeyed} violated"
        for (violated, obeyed), name in zip(table, ("kept", "lost"), strict=True)
    )
    data = [
        {"policy": name, "violated": violated, "not violated": obeyed}
        for (violated, obeyed), name in zip(table, ("kept", "lost"), strict=True)
    ]
    return _figure(drawn, caption, f"Violation by survival of the policy. {alt}", data)


def pareto(points_: Sequence[tuple[str, Estimate, Estimate]], caption: str) -> Figure:
    """Violation against allowed tasks done, one point per defense; the best is at the top left.

    Args:
        points_: name, rate of violation and rate of allowed tasks done of each defense.
        caption: caption of the figure.
    """
    with _drawing(WIDTH, 3.4) as (axes, drawn):
        for at, (name, violation, utility) in enumerate(points_):
            x, y = 100 * violation.estimate, 100 * utility.estimate
            colour = SERIES[at % 4]
            if isinstance(violation, Interval):
                ends = [100 * violation.lower, 100 * violation.upper]
                axes.plot(ends, [y, y], color=colour, lw=0.9)
            if isinstance(utility, Interval):
                ends = [100 * utility.lower, 100 * utility.upper]
                axes.plot([x, x], ends, color=colour, lw=0.9)
            marker = (*MARKERS, "v", "P", "X", "*")[at % 8]
            axes.plot(x, y, marker, color=colour, mec=INK, ms=8, ls="", label=_label(name, 40))
        axes.set_ylim(-4, 104)
        axes.set_ylabel("allowed tasks done, per cent")
        axes.grid(axis="y")
        _per_cent(axes, "violation, per cent")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5)
    alt = [f"{name}: violation {percent(x)}, done {percent(y)}" for name, x, y in points_]
    data = [
        {"defense": name, **_numbers(x, "violation_"), **_numbers(y, "done_")}
        for name, x, y in points_
    ]
    return _figure(drawn, caption, "Defenses. " + "; ".join(alt), data)


def steps(curves: Sequence[tuple[str, SurvivalCurve]], caption: str) -> Figure:
    """Survival curves: share of episodes whose context contains the policy, by round."""
    with _drawing(WIDTH, 2.8) as (axes, drawn):
        for at, (name, survival) in enumerate(curves):
            xs = [0.0, *(step.time for step in survival.steps)]
            ys = [100.0, *(100 * step.kept.estimate for step in survival.steps)]
            style = {"color": SERIES[at % 4], "ls": LINES[at % 4], "marker": MARKERS[at % 4]}
            axes.plot(xs, ys, drawstyle="steps-post", label=_label(name, 40), **style)
        axes.set_ylim(-4, 104)
        axes.set_xlabel("rounds of compaction")
        axes.set_ylabel("policy survived, per cent")
        axes.set_xticks(sorted({0.0, *(step.time for _, one in curves for step in one.steps)}))
        axes.grid(axis="y")
        _legend(axes, 2)
    alt = [
        f"{name}: "
        + ", ".join(f"after {step.time:g} {100 * step.kept.estimate:.0f} %" for step in one.steps)
        for name, one in curves
    ]
    data = [
        {"series": name, "round": step.time, "at_risk": step.at_risk, "lost": step.lost}
        | _numbers(step.kept)
        for name, one in curves
        for step in one.steps
    ]
    return _figure(drawn, caption, "Policy survived by round. " + "; ".join(alt), data)


def by_step(
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]], caption: str, axis: str,
    theirs: Sequence[tuple[float, float]] = (), theirs_name: str = "paper", steps: str = "step",
) -> Figure:  # fmt: skip
    """Lines over steps, with a marker at each tenth of them.

    Args:
        series: name and points (step, value) of each line.
        caption: caption of the figure.
        axis: label of the y axis.
        theirs: the paper's points, drawn hollow and without a line.
        theirs_name: what they are called.
        steps: label of the x axis.
    """
    with _drawing(WIDTH, 3.1) as (axes, drawn):
        for at, (name, points_) in enumerate(series):
            every = max(1, len(points_) // 10)
            style = {"color": SERIES[at % 4], "ls": LINES[(at + at // 4) % 4], "lw": 1.6}
            marker = (*MARKERS, "v", "P", "X", "*")[at % 8]
            xs, ys = [x for x, _ in points_], [y for _, y in points_]
            # Lines that lie on each other have their markers at different places.
            place = (at * every // max(1, len(series)), every)
            axes.plot(xs, ys, marker=marker, markevery=place, label=_label(name, 40), **style)
        if theirs:
            xs, ys = [x for x, _ in theirs], [y for _, y in theirs]
            axes.plot(xs, ys, "v", mfc="none", mec=INK, ms=7, ls="", label=theirs_name)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(steps)
        axes.set_ylabel(axis)
        axes.grid(axis="y")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5)
    alt = [
        f"{name}: from {points_[0][1]:g} to {points_[-1][1]:g}, at most"
        f" {max(y for _, y in points_):g}"
        for name, points_ in series
        if points_
    ]
    data = [{"series": name, "step": x, "value": y} for name, points_ in series for x, y in points_]
    return _figure(drawn, caption, f"{axis} by {steps}. {'; '.join(alt)}", data)


@contextmanager
def _drawing(width: float, height: float) -> Generator[tuple[Any, list[Any]]]:
    """Axes to draw on, and a list to which the SVG and the canvas are appended on exit."""
    # matplotlib's type information is incomplete, so its use is not type-checked.
    matplotlib: Any = import_module("matplotlib")
    figure: Any = import_module("matplotlib.figure")
    salt = f"{width} {height}"
    # matplotlib warns of fonts without some scripts, but the browser renders the text.
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        canvas = figure.Figure(figsize=(width, height))
        axes = canvas.add_subplot()
        canvas.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        axes.set_axisbelow(True)
        drawn: list[Any] = []
        yield axes, drawn
        file = io.StringIO()
        none = {"Date": None, "Creator": None, "Format": None, "Type": None}
        canvas.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.04, metadata=none)
        drawn += [file.getvalue(), canvas]


def _figure(
    drawn: list[Any], caption: str, alt: str, data: Sequence[Mapping[str, object]]
) -> Figure:
    svg, canvas = drawn
    return Figure(_themed(svg), untrusted.cut(alt, 1_500), caption, data, canvas)


def _numbers(estimate: Estimate, prefix: str = "") -> dict[str, object]:
    """An estimate as cells of a row."""
    limits = (estimate.lower, estimate.upper) if isinstance(estimate, Interval) else (None, None)
    known = {
        "k": estimate.k, "n": estimate.n, "estimate": estimate.estimate,
        "lower": limits[0], "upper": limits[1],
        "method": estimate.method if isinstance(estimate, Interval) else estimate.reason,
    }  # fmt: skip
    return {f"{prefix}{name}": value for name, value in known.items()}


def _themed(svg: str) -> str:
    """The svg element with the page's colours, ids that are unique on the page, and no fixed size."""
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


def _whiskers(axes: Any, series: Series, at: int, shift: float) -> None:
    label: str | None = series.name
    # From the fifth series on a colour comes again, with another marker and line.
    other = (at + at // 4) % 4
    for y, value in enumerate(series.values):
        if value is None or value.estimate != value.estimate:
            continue
        colour = SERIES[at % 4]
        if isinstance(value, Interval):
            ends = [100 * value.lower, 100 * value.upper]
            axes.plot(ends, [y + shift] * 2, LINES[other], color=colour, lw=1.8)
        x = 100 * value.estimate
        axes.plot(x, y + shift, MARKERS[other], color=colour, mec=INK, ms=7, label=label)
        label = None


def _per_cent(axes: Any, name: str) -> None:
    axes.set_xlim(-3, 103)
    axes.set_xlabel(name)
    axes.grid(axis="x")


def _legend(axes: Any, series: int) -> None:
    if series > 1:
        axes.legend(
            frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(series, 4),
            fontsize=8.5, borderaxespad=0.2,
        )  # fmt: skip


def _label(text: str, limit: int) -> str:
    """The whole text on lines of at most ``limit`` characters."""
    return textwrap.fill(untrusted.visible(text.replace("\n", " ")), limit)


def _lines(labels: Sequence[str], limit: int) -> int:
    """The most lines that a label takes."""
    return max((_label(name, limit).count("\n") + 1 for name in labels), default=1)
