"""The kinds of figures: rates, paired differences, curves, and one point per defense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constraintrot.report.page import drawing as on
from constraintrot.report.page.drawing import (
    BACK,
    HATCHES,
    INK,
    LINES,
    MARKERS,
    SERIES,
    SHAPES,
    WIDTH,
    drawing,
    figure,
    label,
)
from constraintrot.report.page.view import Compared, Figure, numbers, percent, points, rate_text
from constraintrot.stats.interval import Estimate

if TYPE_CHECKING:
    from constraintrot.stats.curves import SurvivalCurve


@dataclass(frozen=True)
class Series:
    """A named series of rates, one per label; None for a rate that was not measured."""

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
    """Draw rates with intervals, one line per label.

    ``theirs`` are the paper's rates in per cent, drawn hollow, or None; ``width`` is in
    inches.
    """
    several = len(series) > 1
    each = max(0.36, 0.16 * on.label_lines(labels, 30))
    height = 0.75 + each * len(labels) + 0.3 * (several or any(theirs))
    with drawing(width, height) as (axes, drawn):
        for at, one in enumerate(series):
            _whiskers(axes, one, at, 0.22 * (at - (len(series) - 1) / 2))
        known = [(value, at) for at, value in enumerate(theirs) if value is not None]
        if known:
            xs, ys = zip(*known, strict=True)
            axes.plot(xs, [y + 0.3 for y in ys], "v", mfc="none", mec=INK, ms=6, label="paper")
        on.rows(axes, labels, 30)
        on.per_cent(axes, axis)
        on.legend(axes, len(series) + bool(known))
    found = [
        (row, [(one.name, value) for one in series if (value := one.values[at]) is not None])
        for at, row in enumerate(labels)
    ]
    alt = [
        f"{row}: "
        + ", ".join((f"{name} " if several else "") + rate_text(value) for name, value in of_row)
        for row, of_row in found
    ]
    data = [
        {"row": row, "series": name, **numbers(value)}
        for row, of_row in found
        for name, value in of_row
    ]
    return figure(drawn, caption, f"{axis}. {'; '.join(alt)}", data)


def _whiskers(axes: Any, series: Series, at: int, shift: float) -> None:
    label: str | None = series.name
    # From the fifth series on, colours repeat with another marker and line.
    other, colour = (at + at // 4) % 4, SERIES[at % 4]
    for y, value in enumerate(series.values):
        if value is None or value.estimate != value.estimate:
            continue
        on.span(axes, value, y + shift, ls=LINES[other], color=colour, lw=1.8)
        x = 100 * value.estimate
        axes.plot(x, y + shift, MARKERS[other], color=colour, mec=INK, ms=7, label=label)
        label = None


def forest(given: Sequence[tuple[str, Compared]], caption: str) -> Figure:
    """Draw paired differences with intervals.

    The marker is filled where a primary claim has a direction; exploratory comparisons have none.
    """
    rows = [
        (name, one.comparison, one.comparison.verdict if one.primary else "exploratory")
        for name, one in given
        if one.comparison is not None
    ]
    each = max(0.34, 0.16 * on.label_lines([name for name, *_ in rows], 60))
    with drawing(WIDTH, 0.8 + each * len(rows)) as (axes, drawn):
        for at, (_, one, verdict) in enumerate(rows):
            marker = {"b is lower": "<", "b is higher": ">"}.get(verdict, "o")
            face = {"<": SERIES[1], ">": SERIES[0]}.get(marker, BACK)
            on.span(axes, one.difference, at, color=INK, lw=1.4)
            axes.plot(100 * one.difference.estimate, at, marker, mfc=face, mec=INK, ms=7)
        axes.axvline(0, color=INK, lw=0.9, ls="--")
        on.rows(axes, [name for name, *_ in rows], 60)
        axes.set_xlim(-105, 105)
        axes.set_xlabel("paired difference of violation, points (left: fewer violations)")
        axes.grid(axis="x")
    alt = [f"{name}: {points(one.difference)}, {verdict}" for name, one, verdict in rows]
    data = [
        {
            "row": name, **numbers(one.difference), "only_a": one.only_a, "only_b": one.only_b,
            "p_value": one.p_value, "adjusted": one.adjusted, "verdict": verdict,
        }
        for name, one, verdict in rows
    ]  # fmt: skip
    return figure(drawn, caption, "Paired differences. " + "; ".join(alt), data)


def curve(
    series: Sequence[tuple[str, Sequence[tuple[float, Estimate]]]],
    caption: str,
    axis: str,
    theirs: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Draw rates by dose, on a logarithmic scale; a series is a name and points (dose, rate).

    ``theirs`` are the paper's points (dose, per cent) by name, drawn hollow and without a line.
    """
    paper = theirs or {}
    with drawing(WIDTH, 3.1) as (axes, drawn):
        for at, (name, rates) in enumerate(series):
            xs, ys = [dose for dose, _ in rates], [100 * value.estimate for _, value in rates]
            style = {"color": SERIES[at % 4], "ls": LINES[at % 4], "marker": MARKERS[at % 4]}
            axes.plot(xs, ys, label=name, **style)
            for dose, value in rates:
                on.span(axes, value, dose, upright=True, color=SERIES[at % 4])
        for at, (name, of_paper) in enumerate(paper.items()):
            xs, ys = [x for x, _ in of_paper], [y for _, y in of_paper]
            axes.plot(xs, ys, "v^"[at % 2], mfc="none", mec=INK, ms=7, label=f"{name} (paper)")
        axes.set_xscale("log")
        doses = sorted({dose for _, rates in series for dose, _ in rates})
        axes.set_xticks(doses, [f"{dose:g}" for dose in doses])
        axes.minorticks_off()
        axes.set_xlabel(axis)
        on.per_cent(axes, "per cent", upright=True)
        on.legend(axes, len(series) + len(paper))
    alt = [
        f"{name}: " + ", ".join(f"{dose:g}: {rate_text(value)}" for dose, value in rates)
        for name, rates in series
    ]
    data = [
        {"series": name, "dose": dose, **numbers(value)}
        for name, rates in series
        for dose, value in rates
    ]
    return figure(drawn, caption, f"Rates by {axis}. " + "; ".join(alt), data)


def mosaic(table: tuple[tuple[int, int], tuple[int, int]], caption: str) -> Figure:
    """Draw a mosaic plot: widths show policies kept and lost, heights show violations.

    The table is ((kept and violated, kept and not), (lost and violated, lost and not)).
    """
    total = sum(map(sum, table))
    named = list(zip(table, ("kept", "lost"), strict=True))
    with drawing(4.6, 3.0) as (axes, drawn):
        left = 0.0
        for (violated, obeyed), name in named:
            n = violated + obeyed
            width, share = n / total, violated / n if n else 0.0
            parts = (
                (0.0, share, violated, 0, "violated"),
                (share, 1 - share, obeyed, 1, "not violated"),
            )
            for bottom, height, count, at, word in parts:
                if not count:
                    continue
                axes.bar(
                    left, height, width, bottom, align="edge", color=SERIES[at], alpha=0.45,
                    edgecolor=BACK, lw=2, hatch=HATCHES[1 - at],
                )  # fmt: skip
                axes.text(
                    left + width / 2, bottom + height / 2, f"{count}\n{word}", ha="center",
                    va="center", bbox={"facecolor": BACK, "edgecolor": "none", "pad": 1.5},
                )  # fmt: skip
            if n:
                axes.text(left + width / 2, -0.04, f"policy {name}\nn = {n}", ha="center", va="top")
            left += width
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
    alt = "; ".join(
        f"policy {name}: {violated} of {violated + obeyed} violated"
        for (violated, obeyed), name in named
    )
    data = [
        {"policy": name, "violated": violated, "not violated": obeyed}
        for (violated, obeyed), name in named
    ]
    return figure(drawn, caption, f"Violation by survival of the policy. {alt}", data)


def pareto(defenses: Sequence[tuple[str, Estimate, Estimate]], caption: str) -> Figure:
    """Draw violation against allowed tasks done, one point per defense; the best is top left.

    A defense is a name, its rate of violation and its rate of allowed tasks done.
    """
    with drawing(WIDTH, 3.4) as (axes, drawn):
        for at, (name, violation, utility) in enumerate(defenses):
            x, y = 100 * violation.estimate, 100 * utility.estimate
            colour = SERIES[at % 4]
            on.span(axes, violation, y, color=colour, lw=0.9)
            on.span(axes, utility, x, upright=True, color=colour, lw=0.9)
            style = {"color": colour, "mec": INK, "ms": 8, "ls": ""}
            axes.plot(x, y, SHAPES[at % 8], label=label(name, 40), **style)
        on.per_cent(axes, "allowed tasks done, per cent", upright=True)
        on.per_cent(axes, "violation, per cent")
        on.legend_beside(axes)
    alt = [f"{name}: violation {percent(x)}, done {percent(y)}" for name, x, y in defenses]
    data = [
        {"defense": name, **numbers(x, "violation_"), **numbers(y, "done_")}
        for name, x, y in defenses
    ]
    return figure(drawn, caption, "Defenses. " + "; ".join(alt), data)


def steps(curves: Sequence[tuple[str, SurvivalCurve]], caption: str) -> Figure:
    """Draw survival curves: the share of episodes that keep the policy, by round."""
    with drawing(WIDTH, 2.8) as (axes, drawn):
        for at, (name, survival) in enumerate(curves):
            xs = [0.0, *(step.time for step in survival.steps)]
            ys = [100.0, *(100 * step.kept.estimate for step in survival.steps)]
            style = {"color": SERIES[at % 4], "ls": LINES[at % 4], "marker": MARKERS[at % 4]}
            axes.plot(xs, ys, drawstyle="steps-post", label=label(name, 40), **style)
        axes.set_xlabel("rounds of compaction")
        on.per_cent(axes, "policy survived, per cent", upright=True)
        axes.set_xticks(sorted({0.0, *(step.time for _, one in curves for step in one.steps)}))
        on.legend(axes, 2)
    alt = [
        f"{name}: "
        + ", ".join(f"after {step.time:g} {100 * step.kept.estimate:.0f} %" for step in one.steps)
        for name, one in curves
    ]
    data = [
        {"series": name, "round": step.time, "at_risk": step.at_risk, "lost": step.lost}
        | numbers(step.kept)
        for name, one in curves
        for step in one.steps
    ]
    return figure(drawn, caption, "Policy survived by round. " + "; ".join(alt), data)
