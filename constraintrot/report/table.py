"""The violation table: rates by condition and further facts, with n and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from constraintrot.episode.facts import CLUSTER, KEYS, REQUEST, Role, names
from constraintrot.evaluation.conditions import CONDITIONS, WITHOUT_POLICY
from constraintrot.grading.outcome_status import SILENCE
from constraintrot.grading.verdict import REFUSED
from constraintrot.report import contrasts
from constraintrot.report.arms import frame_rate, labels, sessions
from constraintrot.report.episode_counts import (
    ERRORED,
    HEADS,
    Counts,
    counts,
    errors,
    played,
    unbalanced,
)
from constraintrot.report.tables import Table
from constraintrot.stats.interval import Estimate
from constraintrot.stats.rate import rate

# Facts of which a cell should have one value; families and kinds are pooled on purpose.
POOLED = names(Role.POOLED)
# The row's key for "allowed" or "prohibited"; ``request`` is taken, by the request's text.
ASKED = "asked"
# How many families a note names.
_NAMED = 9


def cells(frame: pd.DataFrame, by: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return one row per cell: its facts, its number of episodes ``n``, and its rates."""
    if frame["allowed"].nunique() > 1:
        # Prohibited and allowed requests are never pooled.
        by = [*by, ASKED]
        frame = frame.assign(
            **{ASKED: frame["allowed"].map({True: "allowed", False: "prohibited"})}
        )
    keys = ["agent", *by, "condition"]
    rows: list[dict[str, Any]] = []
    for values, planned in frame.groupby(keys, sort=False, dropna=False):
        row: dict[str, Any] = dict(zip(keys, values, strict=True))
        row["counts"] = counts(planned)
        group = played(planned)
        row["n"] = len(group)
        row["violated"] = share(group, group["violation"] == 1)
        row["utility"] = share(group, group["utility"] == 1) if group["allowed"].any() else None
        told = group[~group["condition"].isin(WITHOUT_POLICY)]
        row["survived"] = frame_rate(told, "survived")
        row["unscored"] = len(told) - row["survived"].n
        row["refused"] = share(group, group["outcome"].isin(REFUSED))
        row["in_words"] = int((group["outcome"] == "refused_text").sum())
        rows.append(row)
    order = list(CONDITIONS)
    return sorted(
        rows,
        key=lambda row: (
            [str(row[key]) for key in keys[:-1]],
            order.index(row["condition"]) if row["condition"] in order else len(order),
        ),
    )


def text(frame: pd.DataFrame, by: Sequence[str] = ()) -> str:
    """Return the table as Markdown, one pipe table per agent."""
    rows = cells(frame, by)
    parts = [name for name in (*by, ASKED) if name in rows[0]]
    lines: list[str] = []
    for agent in dict.fromkeys(row["agent"] for row in rows):
        of_agent = [row for row in rows if row["agent"] == agent]
        lines += [f"Model: {agent}", "", _cells(of_agent, parts).text(), ""]
    lines.append("Violation with exact 95 % intervals, in per cent, of the played episodes.")
    lines += count_notes(frame)
    if any(_too_silent(row) for row in rows):
        lines.append(
            "! more than a tenth of the cell neither acted readably nor refused: silence is not"
            " safety."
        )
    if unscored := sum(row["unscored"] for row in rows):
        lines.append(
            f"! Survival is unscored in {unscored} of {len(played(frame))} played episodes (the reader"
            " could not tell, or did not read them); 'policy in context' does not count them."
        )
    return "\n".join(lines + notes(frame, keys=[*by, "allowed", "condition", "agent"]))


def count_notes(frame: pd.DataFrame) -> list[str]:
    """Return notes on the episodes that no rate counts."""
    found = counts(frame)
    if found.planned is None or found.errored is None:
        return ["What else was planned, these frames do not say: they hold finished episodes only."]
    said: list[str] = []
    if found.errored:
        said.append(
            f"! {found.errored} of {found.planned} planned episodes ended in an error and are in no"
            " rate:"
        )
        said += errors(frame[frame["status"] == ERRORED].to_dict("records"))
    if left := found.planned - found.played - found.errored:
        said.append(
            f"! {left} of {found.planned} planned episodes were never finished;"
            " `inspect eval-retry LOG --log-dir FOLDER` goes on with a log."
        )
    return said + unbalanced(frame) + _sessions(frame)


def _sessions(frame: pd.DataFrame) -> list[str]:
    found = sessions(frame)
    one = "One recorded session: the intervals are over its requests, and say nothing of others."
    many = f"{found} recorded sessions: each is one cluster of the intervals."
    return [one if found == 1 else many] if found else []


def notes(frame: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return notes on pooling, replicates and contrasts, to be read before the rates."""
    frame = played(frame)
    lines: list[str] = []
    known = [key for key in keys if key in frame]
    for fact in POOLED:
        if (
            fact not in keys
            and fact in frame
            and (frame.groupby(known, dropna=False)[fact].nunique() > 1).any()
        ):
            lines.append(f"! cells pool several values of {fact}; part them with --by {fact}.")
    lines += _policies(frame, known)
    cell = [key for key in known if key != "replicate"]
    shared = [
        CLUSTER,
        *([REQUEST] if "request" in frame and frame["request"].notna().all() else []),
    ]
    if any(frame.duplicated([*dict.fromkeys([*cell, "allowed", *by])]).any() for by in shared):
        lines.append(
            "Cells that hold a variant, or a request's text, more than once have intervals clustered over variants:"
            " Clopper-Pearson at effective n, or the BCa bootstrap where clusters are enough."
        )
    again = int(frame.duplicated([key for key in KEYS if key in frame]).sum())
    if again:
        lines.append(
            f"! {again} episodes are there again with the same variant, replicate and facts: two"
            " runs are counted together."
        )
    old = int((frame["measure"] == "mentions").sum()) if "measure" in frame else 0
    if old:
        lines.append(
            f"{old} episodes are from before a policy had a state: there it survived where all its"
            " slots are mentioned close together, whatever is said of it."
        )
    return [*lines, *contrasts.summaries(frame), *contrasts.pairing(frame), *contrasts.lines(frame)]


def _policies(frame: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    if (
        "family" in keys
        or not (frame.groupby(list(keys), dropna=False)["family"].nunique() > 1).any()
    ):
        return []
    families = sorted({str(name) for name in frame["family"]})
    named = ", ".join([*families[:_NAMED], *(["..."] if families[_NAMED:] else [])])
    return [
        f"! cells pool the policies of {len(families)} families ({named}); part them with --by family."
    ]


def _cells(rows: Sequence[dict[str, Any]], by: Sequence[str]) -> Table:
    utility = any(row["utility"] is not None for row in rows)
    head = [
        *("request" if name == ASKED else name for name in by),
        "condition",
        "violated",
        "policy in context",
        "refused",
        *HEADS,
    ]
    if utility:
        head.append("allowed task done")
    body: list[list[str]] = []
    for row in rows:
        line = [*(str(row[key]) for key in by), row["condition"], str(row["violated"])]
        in_words = f" ({row['in_words']} in words)" if row["in_words"] else ""
        unscored = f" ({row['unscored']} unscored)" if row["unscored"] else ""
        line += [
            _short(row["survived"]) + unscored,
            _short(row["refused"]) + in_words,
            *row["counts"].cells,
        ]
        line[-1] += " !" if _too_silent(row) else ""
        body.append(
            line + (["-" if row["utility"] is None else str(row["utility"])] if utility else [])
        )
    return Table(head, body)


def share(group: pd.DataFrame, chosen: pd.Series[bool]) -> Estimate:
    """Return the rate of a cell, with the interval that every page and the gate use."""
    return rate(chosen.to_numpy(), labels(group))


def _short(estimate: Estimate) -> str:
    return f"{estimate.k}/{estimate.n}" if estimate.n else "-"


def _too_silent(row: dict[str, Any]) -> bool:
    found: Counts = row["counts"]
    return found.silent > SILENCE * found.played
