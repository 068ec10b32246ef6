"""Reproductions of synthetic subjects, played whole: ``python -m results.tools.deciding_whole --csv FILE``.

``deciding`` draws what its subjects do and leaves plan, logs and frames out, so that a thousand
reproductions take minutes. Here the same subjects are Inspect models: they are planned, qualify,
play and are told on the page as any model is. Each episode's violation in the frame must be the one
that was drawn, and each verdict must be the one that ``deciding`` computes from the draws alone.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from inspect_ai.model import ChatMessage, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolInfo

from constraintrot.command_line import clear_errors
from constraintrot.models.scripted.agents import Scripted
from constraintrot.models.scripted.request_parser import request_in
from constraintrot.report.claims.looks import looked
from constraintrot.report.tables import Table
from constraintrot.runs.reproduce import page, play, registration
from constraintrot.runs.reproduce.planning import draft
from constraintrot.runs.reproduce.registration import Planned, Registration
from constraintrot.scenario.files import load
from results.tools.deciding import simulated

PROVIDER = "synthetic"
TITLES = ("Compaction makes agents break policies", "Pinning restores obedience")
# Probability of a violation by what stands in the input. Both qualify: they obey a policy in their
# input, and act without one.
SUBJECTS: Mapping[str, Mapping[str, float]] = {
    "the claims are true": {"floor": 0.99, "control": 0.01, "compaction": 0.8, "pin": 0.01},
    "the claims are false": {"floor": 0.99, "control": 0.01, "compaction": 0.02, "pin": 0.4},
}
_PAIRS = 24


@dataclass(frozen=True)
class Row:
    """The outcome of one claim over the reproductions of one subject.

    Attributes:
        subject: its name.
        claim: the claim.
        runs: how many reproductions.
        same: of them called *same*.
        as_drawn: of them with the verdict that ``deciding`` computes.
        episodes: episodes of all runs, those of the qualification left out.
        wrong: of them with another violation than was drawn.
    """

    subject: str
    claim: str
    runs: int
    same: int
    as_drawn: int
    episodes: int
    wrong: int


def violates(subject: str, run: int, asked: str, arm: str) -> bool:
    """Return what is drawn for a request in an arm: the same whenever it is asked."""
    drawn = hashlib.sha256(f"{subject}/{run}/{arm}/{asked}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") < SUBJECTS[subject][arm] * 2**64


@modelapi(name=PROVIDER)
def synthetic() -> type[ModelAPI]:
    """The provider of the subjects: ``synthetic/obedient -M subject=... -M run=...``."""
    return Synthetic


class Synthetic(Scripted):
    """A script that breaks a policy as often as it is told to.

    Args:
        model_name: ``obedient``.
        subject: one of ``SUBJECTS``.
        run: number of the reproduction.
        given: as the script takes them.
    """

    def __init__(self, model_name: str, *given: Any, subject: str, run: int, **more: Any) -> None:
        super().__init__(model_name, *given, **more)
        self.subject, self.run = subject, run

    def canonical_name(self) -> str:
        """Return the name in Inspect's tables."""
        return f"{PROVIDER}/{self.model_name}"

    def _act(
        self, texts: Sequence[str], input: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ModelOutput:
        output = super()._act(texts, input, tools)
        request = request_in(texts[-1], frozenset(tool.name for tool in tools))
        if request is None or request.kind != "prohibited":
            return output
        # The scaffold's instruction stands behind the request.
        asked = texts[-1].rpartition("\n\n")[0]
        arm = _arm(texts, declined=not output.message.tool_calls)
        if violates(self.subject, self.run, asked, arm):
            call = request.call
            return ModelOutput.for_tool_call(self.model_name, call.function, call.arguments)
        return ModelOutput.from_content(self.model_name, "I can't do that.")


def _arm(texts: Sequence[str], *, declined: bool) -> str:
    """The arm by what stands in the input."""
    if any("replies so far. Latest:" in text for text in texts):
        return "pin" if declined else "compaction"
    return "control" if declined else "floor"


def registered(subject: str, run: int) -> Registration:
    """Return the plan of one reproduction."""
    name, preset = f"{PROVIDER}/obedient", registration.presets()["smoke"]
    made = draft(name, preset, "smoke", TITLES, model_args={"subject": subject, "run": run})
    planned = tuple(Planned(title=title, pairs=_PAIRS) for title in TITLES)
    return made.model_copy(update={"planned": planned})


def reproduced(
    subject: str, run: int, folder: Path
) -> tuple[dict[str, str], dict[str, str], int, int]:
    """Play one reproduction.

    Returns:
        The page's verdicts and those computed from the draws, by claim; the episodes, and how many
        of them have another violation than was drawn.
    """
    made = registered(subject, run).sealed
    registration.write(folder / registration.FILE, made)
    play.qualify(made, folder)
    state = play.play(made, folder, lambda _: None)
    page.write(folder, made)
    assert state.looked is not None and state.frame is not None  # noqa: PT018  # one state
    told = {one.claim.title: one.verdict for one in state.looked.answered}
    wrong = sum(
        bool(row.violation) != violates(subject, run, _asked(row), _arm_of(row))
        for row in state.frame.itertuples()
    )
    return told, _from_draws(made, folder, subject, run), len(state.frame), wrong


def _from_draws(made: Registration, folder: Path, subject: str, run: int) -> dict[str, str]:
    families = play.qualified(made, folder)
    seeds = {
        title: [_different(one) for one in sizes]
        for title, sizes in play.sizes_of(made, families).items()
    }
    most = max(seeds.values(), key=lambda looks: len(looks[-1]))[-1]
    hits = {
        arm: np.array([violates(subject, run, asked, arm) for asked in most])
        for arm in ("control", "compaction", "pin")
    }
    counts = {title: [{"drawn": len(one)} for one in looks] for title, looks in seeds.items()}
    frame = pd.DataFrame({"family": "drawn", "seed": range(len(most)), "allowed": False})
    found = looked(made.claims, frame, counts, made.looks, simulated(hits))
    return {one.claim.title: one.verdict for one in found.answered}


def _different(sizes: Mapping[str, int]) -> list[str]:
    """The different requests of the first seeds of some families, in the order of the looks."""
    stop = max(sizes.values(), default=0)
    asked = (
        load(family).variant(seed).trigger
        for seed in range(stop)
        for family, number in sizes.items()
        if seed < number
    )
    return list(dict.fromkeys(asked))


def _asked(row: Any) -> str:
    return load(str(row.family), str(row.locale)).variant(int(row.seed)).trigger


def _arm_of(row: Any) -> str:
    return "pin" if row.defense == "pin" else str(row.condition)


def run(runs: int, tell: Any = click.echo) -> Iterator[Row]:
    """Yield the rows of all subjects."""
    for subject in SUBJECTS:
        same, alike = dict.fromkeys(TITLES, 0), dict.fromkeys(TITLES, 0)
        episodes = wrong = 0
        for number in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                told, drawn, played, off = reproduced(subject, number, Path(folder))
            episodes, wrong = episodes + played, wrong + off
            for title in TITLES:
                same[title] += told[title] == "same"
                alike[title] += told[title] == drawn[title]
            tell(f"{subject}, {number + 1} of {runs}: {', '.join(told.values())}", err=True)
        for title in TITLES:
            yield Row(subject, title, runs, same[title], alike[title], episodes, wrong)


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Write all rows here.")
@click.option("--runs", default=10, show_default=True, help="Reproductions of each subject.")
def main(path: Path | None, runs: int) -> None:
    """Play reproductions of synthetic subjects, and compare them with what was drawn."""
    with clear_errors():
        table = Table.of([asdict(row) for row in run(runs)])
    if path:
        path.write_text(table.csv(), encoding="utf-8", newline="")
    click.echo(table.text())


if __name__ == "__main__":
    sys.exit(main())
