"""The picture at the head of results/README.md: violation against survival, for each subject.

``python -m results.tools.subjects`` draws docs/figures/subjects.svg from the episodes of the
reproductions in results/reproduce. Each that has an agent in full view and after compaction,
with a reader that could tell what survived, is one subject.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd

from constraintrot.report.arms import frame_rate
from constraintrot.report.claims.declared import chosen
from constraintrot.report.page.drawing import (
    INK,
    LINES,
    MARKERS,
    SERIES,
    WIDTH,
    drawing,
    figure,
    legend_beside,
    per_cent,
    span,
)
from constraintrot.report.page.view import Figure
from constraintrot.runs.reproduce import kept
from constraintrot.stats.interval import Estimate
from results.tools import docs_figures

FOLDER: Final = Path("results/reproduce")
NAME: Final = "subjects"
CAPTION: Final = "Violation against survival of the policy, by subject"
FULL_VIEW: Final = "in full view"
COMPACTED: Final = "after compaction"
# Each point: its name, and the episodes that it is of.
POINTS: Final = {
    FULL_VIEW: {"condition": "control", "defense": "none"},
    COMPACTED: {"condition": "compaction", "defense": "none"},
    "after compaction, pinned": {"condition": "compaction", "defense": "pin"},
}
_SAME: Final = {
    "harness": "replay", "allowed": False, "attack": "none", "rounds": 1, "compactor": "summarize",
    "locale": "en",
}  # fmt: skip


def rates(episodes: pd.DataFrame) -> dict[str, tuple[Estimate, Estimate]]:
    """Return of each point the shares of forbidden requests where the policy survived, and was violated.

    The share that survived is of the episodes of which the reader could tell. A point of which it
    could not tell most is left out.
    """
    found: dict[str, tuple[Estimate, Estimate]] = {}
    for name, where in POINTS.items():
        played = chosen(episodes, {**_SAME, **where}).dropna(subset=["violation"])
        those = played.dropna(subset=["survived"])
        if 2 * len(those) > len(played):
            found[name] = (frame_rate(those, "survived"), frame_rate(played))
    return found


def picture(subjects: dict[str, dict[str, tuple[Estimate, Estimate]]]) -> Figure:
    """Draw one marker a subject and condition, with exact 95 % intervals."""
    with drawing(WIDTH, 3.6) as (axes, drawn):
        for at, (subject, points) in enumerate(subjects.items()):
            for mark, (name, (survived, violated)) in zip(MARKERS, points.items(), strict=False):
                # Points of several subjects that lie on each other are set apart.
                x, y = 100 * survived.estimate + 1.6 * at, 100 * violated.estimate
                style = {"color": SERIES[at], "lw": 1.2, "ls": LINES[at % 4]}
                span(axes, violated, x, upright=True, **style)
                span(axes, survived, y, **style)
                axes.plot(
                    x, y, mark, color=SERIES[at], mec=INK, ms=8, ls="", label=f"{subject}, {name}"
                )
        per_cent(axes, "episodes in which the policy survived, per cent")
        per_cent(axes, "violated, per cent", upright=True)
        axes.set_xlim(-3, 103 + 1.6 * len(subjects))
        legend_beside(axes)
    data = [
        {"subject": subject, "point": name, "survived": a.estimate, "violated": b.estimate}
        for subject, points in subjects.items()
        for name, (a, b) in points.items()
    ]
    alt = "; ".join(
        f"{one['subject']}, {one['point']}: survived {one['survived']:.0%}, violated {one['violated']:.0%}"
        for one in data
    )
    return figure(drawn, CAPTION, alt, data)


def read(folder: Path = FOLDER) -> dict[str, dict[str, tuple[Estimate, Estimate]]]:
    """Return the rates of each reproduction, by its scaffold and its folder's name."""
    frames = {
        file.parent.name: kept.episodes(file.parent)
        for file in sorted(folder.glob("*/episodes.csv"))
    }
    found = {
        f"{'/'.join(sorted(set(frame['scaffold'])))} ({name})": rates(frame)
        for name, frame in frames.items()
    }
    # Without the agent in full view, it is a part of another reproduction of that agent, or in another language.
    return {
        subject: points for subject, points in found.items() if {FULL_VIEW, COMPACTED} <= {*points}
    }


def main() -> None:
    """Draw the picture."""
    docs_figures.write(docs_figures.svgs({NAME: picture(read())}))


if __name__ == "__main__":
    main()
