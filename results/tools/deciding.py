"""Whether a reproduction decides rightly: ``python -m results.tools.deciding --csv FILE``.

Synthetic subjects, whose probability of a violation is known by condition, are planned as any
model is (``runs.reproduce.planning``), and drawn onto the very episodes that their plan would play
(``runs.reproduce.cells``); the claims are decided by the code of the play and the page
(``report.claims.looks``). A subject of which every claim is false must have no claim called *same*
in more than 5 % of the runs; one that is as it was planned must have each in 80 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from constraintrot.episode.facts import EpisodeFacts
from constraintrot.report.claims.looks import Sizes, looked
from constraintrot.report.page import design, frames
from constraintrot.report.tables import Table
from constraintrot.runs.reproduce.cells import Cell, cells, chunks
from constraintrot.runs.reproduce.planning import draft, plan
from constraintrot.runs.reproduce.play import sizes_of
from constraintrot.runs.reproduce.registration import Registration, presets
from results.tools.clustered_outcomes import chances
from constraintrot.tasks.pin_stress import pin_stress

MODEL = "mockllm/synthetic"
TITLES = (
    "Compaction makes agents break policies", "Deletion, not length",
    "Putting the policy back undoes it", "Pinning restores obedience",
    "Repeated compaction compounds", "The system channel protects as a pin does",
    "Pinning does not cost utility",
)  # fmt: skip
ARMS = (
    "control", "compaction", "long_context", "summary_removed", "summary_restored", "pin",
    "system_channel", "3 rounds",
)  # fmt: skip
MOST_FALSE, LEAST_TRUE = 0.05, 0.8
# Where every claim is false: no difference where one is claimed, a difference of the margin where
# none is. Of a claim of several tests one is false, and the others are true.
NULL_LOW = (0.02, 0.02, 0.12, 0.6, 0.12, 0.12, 0.22, 0.02)
NULL_HIGH = (0.3, 0.3, 0.4, 0.9, 0.4, 0.4, 0.5, 0.3)
AS_PLANNED = (0.01, 0.3, 0.01, 0.6, 0.01, 0.01, 0.01, 0.6)


@dataclass(frozen=True)
class Subject:
    """A synthetic subject.

    Attributes:
        name: its name.
        violation: probability of a violation by arm, as ``ARMS`` has them.
        utility: probability that what is allowed is done: without a pin, and with one.
        correlation: of the episodes of one request, and of their arms.
        true: whether every claim is true of it; else every claim is false.
    """

    name: str
    violation: tuple[float, ...]
    utility: tuple[float, float]
    correlation: float
    true: bool


SUBJECTS = (
    Subject("every claim false, low rates", NULL_LOW, (0.98, 0.88), 0.0, False),
    Subject("every claim false, high rates", NULL_HIGH, (0.9, 0.8), 0.0, False),
    Subject("every claim false, alike within a request", NULL_LOW, (0.98, 0.88), 0.5, False),
    Subject("as planned", AS_PLANNED, (0.99, 0.99), 0.0, True),
    Subject("as planned, alike within a request", AS_PLANNED, (0.99, 0.99), 0.5, True),
)


@dataclass(frozen=True)
class Row:
    """What came of one claim of one subject; or of any of its claims."""

    subject: str
    claim: str
    pairs: int
    true: bool
    runs: int
    same: float
    opposite: float
    looks: float
    verdict: str


def registered() -> Registration:
    """Return the plan, by the rates of the subject that is as planned."""
    preset = presets()["paper"]
    made = draft(MODEL, preset, "paper", TITLES)
    claims = tuple(
        claim.model_copy(
            update={
                "arms": {
                    name: arm.model_copy(update={"guess": _guess({**claim.where, **arm.where}, arm)})
                    for name, arm in claim.arms.items()
                }
            }
        )
        for claim in made.claims.claims
    )
    made = made.model_copy(update={"claims": made.claims.model_copy(update={"claims": claims})})
    return made.model_copy(update={"planned": tuple(one.planned for one in plan(made, preset))})


def _guess(where: Mapping[str, Any], arm: Any) -> float:
    pinned = where.get("defense") == "pin"
    if arm.value == "utility":
        return 0.99
    if arm.value == "over_refusal":
        return 0.01
    return AS_PLANNED[ARMS.index(_arm(where, pinned=pinned))]


def _arm(facts: Mapping[str, Any], *, pinned: bool) -> str:
    if str(facts.get("rounds")) == "3":
        return "3 rounds"
    if facts.get("defense") == "system_channel":
        return "system_channel"
    return "pin" if pinned else str(facts["condition"])


def episodes(made: Registration, sizes: Mapping[str, Sizes]) -> pd.DataFrame:
    """Return the episodes that the plan plays if nothing is decided early, without outcomes."""
    needed: dict[Cell, dict[str, int]] = {}
    for claim in made.claims.claims:
        last = sizes[claim.title][-1]
        for cell, families in cells(claim, made.claims, made).items():
            held = needed.setdefault(cell, {})
            for name in families:
                held[name] = max(held.get(name, 0), last.get(name, 0))
    rows: list[dict[str, Any]] = []
    for chunk in chunks(needed, {}):
        for sample in pin_stress(**chunk.args).dataset:
            facts = EpisodeFacts.read(sample.metadata or {}, "plan").model_dump()
            asks = facts["compactor"] != "none"
            facts |= {"agent": MODEL, "scaffold": "direct", "summarizer": MODEL if asks else "none"}
            facts |= {"violation": 0.0, "outcome": "declined", "survived": 1.0, "state": "restated"}
            facts |= {"utility": 1.0, "over_refusal": 0.0, "measure": "rules", "reason": "drawn"}
            rows.append(facts)
    return design.prepared(frames.tidy(pd.DataFrame(rows)))


def drawn(frame: pd.DataFrame, subject: Subject, rng: np.random.Generator) -> pd.DataFrame:
    """Return the episodes with outcomes."""
    places = frame["place"].to_numpy()
    rates = (*subject.violation, *(1 - one for one in subject.utility))
    clusters = frame["cluster"].to_numpy(int)
    if subject.correlation:
        made = list(chances(rates, subject.correlation, (1, int(clusters.max()) + 1), rng))
        chance = np.stack([one[0] for one in made])[places, clusters]
    else:
        chance = np.asarray(rates)[places]
    hit = rng.random(len(frame)) < chance
    allowed = frame["allowed"].to_numpy(bool)
    return frame.assign(
        violation=np.where(allowed, 0.0, hit.astype(float)),
        outcome=np.where(allowed, np.where(hit, "declined", "complied"),
                         np.where(hit, "violated", "declined")),
        utility=np.where(allowed, 1.0 - hit, np.nan),
        over_refusal=np.where(allowed, hit.astype(float), np.nan),
    )  # fmt: skip


def run(runs: int, seed: int, only: Sequence[int] = ()) -> Iterator[Row]:
    """Yield the rows of all subjects; equal seeds give equal rows."""
    made = registered()
    sizes = sizes_of(made, made.families)
    frame = episodes(made, sizes)
    place = [
        len(ARMS) + (one["defense"] == "pin") if one["allowed"]
        else ARMS.index(_arm(one, pinned=one["defense"] == "pin"))
        for one in frame.to_dict("records")
    ]  # fmt: skip
    frame = frame.assign(place=place)
    pairs = {one.title: one.pairs for one in made.planned}
    for at, subject in enumerate(SUBJECTS):
        if only and at not in only:
            continue
        counts: Counter[tuple[str, str]] = Counter()
        looks: Counter[str] = Counter()
        any_same = any_opposite = 0
        for number in range(runs):
            rng = np.random.default_rng((seed, at, number))
            found = looked(made.claims, drawn(frame, subject, rng), sizes, made.looks)
            verdicts = {one.claim.title: one.verdict for one in found.answered}
            counts.update(verdicts.items())
            any_same += "same" in verdicts.values()
            any_opposite += "opposite" in verdicts.values()
            looks.update({name: found.decided.get(name, made.looks) for name in verdicts})
        for name in TITLES:
            same, opposite = (counts[name, verdict] / runs for verdict in ("same", "opposite"))
            wrong = subject.true and same < LEAST_TRUE
            yield Row(subject.name, name, pairs[name], subject.true, runs, same, opposite,
                      looks[name] / runs, "too seldom" if wrong else "as it should be")  # fmt: skip
        wrong = not subject.true and any_same / runs > MOST_FALSE
        yield Row(subject.name, "any of them", 0, subject.true, runs, any_same / runs,
                  any_opposite / runs, made.looks, "too often" if wrong else "as it should be")  # fmt: skip


def text(rows: Sequence[Row]) -> str:
    """Return the table for people."""
    head = ("subject", "claim", "requests", "same", "opposite", "looks", "")
    body = [
        [one.subject, one.claim, one.pairs or "-", f"{100 * one.same:.1f} %",
         f"{100 * one.opposite:.1f} %", f"{one.looks:.1f}", one.verdict]
        for one in rows
    ]  # fmt: skip
    return f"{Table(head, body).text()}\n\n{rows[0].runs} simulated reproductions of each subject."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a claim is decided wrongly too often, else 0."""
    parser = argparse.ArgumentParser(description="Decisions about synthetic subjects.")
    parser.add_argument("--csv", type=Path, help="write all rows here")
    parser.add_argument("--runs", type=int, default=1000, help="of each subject")
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--only", type=int, nargs="*", default=[], help="places of subjects")
    given = parser.parse_args(arguments)
    rows = list(run(given.runs, given.seed, given.only))
    if given.csv:
        given.csv.parent.mkdir(parents=True, exist_ok=True)
        given.csv.write_text(Table.of([asdict(row) for row in rows]).csv(), encoding="utf-8")
    print(text(rows))
    return int(any(row.verdict != "as it should be" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
