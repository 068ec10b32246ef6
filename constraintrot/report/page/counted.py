"""Tables over all settings, by model and condition: numbers of episodes, and their costs."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pandas as pd

from constraintrot.report.episode_counts import HEADS, counts
from constraintrot.report.page import design
from constraintrot.report.page.view import Row, Section, Table
from constraintrot.report.table import count_notes

Bundle: TypeAlias = tuple[str, tuple[str, ...]]
"""A row of a table of arms: its name, and the arms in it."""

_HEADS = ("model", "condition")
_MEDIANS = (
    ("tokens_before", "history, tokens", ".0f"),
    ("tokens_after", "after compaction", ".0f"),
    ("last_input_tokens", "last input", ".0f"),
    ("input_tokens", "input, all calls", ".0f"),
    ("output_tokens", "output", ".0f"),
    ("seconds", "seconds without waits", ".1f"),
    ("seconds_compaction", "compacting, with waits", ".1f"),
    ("prefix_tokens", "shared prefix", ".0f"),
)


def bundles(frame: pd.DataFrame) -> list[Bundle]:
    """Return the rows of a table of arms.

    Arms with one episode per model whose conditions begin with the same word share a row,
    except for the paper's arms.
    """
    sizes = frame.groupby(["arm", "agent"], sort=False).size().groupby("arm", sort=False).max()
    rows: dict[str, list[str]] = {}
    for name in design.arms(frame):
        condition, *rest = name.split(", ")
        alone = name not in design.ORDER and int(sizes[name]) == 1 and "_" in condition
        row = ", ".join([f"{condition.split('_')[0]}_…", *rest]) if alone else name
        rows.setdefault(row, []).append(name)
    return [
        (names[0] if len(names) == 1 else f"{row} ({len(names)} conditions)", tuple(names))
        for row, names in rows.items()
    ]


def bundled(rows: Sequence[Bundle]) -> tuple[str, ...]:
    return tuple(
        f"{row}, one episode each: {', '.join(name.split(', ')[0] for name in names)}."
        for row, names in rows
        if len(names) > 1
    )


def counted(planned: pd.DataFrame) -> Section:
    """Return the section that counts a frame's planned, played, errored and silent episodes."""
    rows_of = bundles(planned)
    rows = [Row(heads, counts(part).cells) for heads, part in _parts(planned, rows_of)]
    notes = (
        *bundled(rows_of),
        "Rates are of the played episodes. Errored ones ended in an error and are in no rate; silent"
        " ones neither acted readably nor refused, and nobody knows what they would have done.",
        *(note.removeprefix("! ").strip() for note in count_notes(planned)),
    )
    table = Table("Over all settings", _HEADS, HEADS, tuple(rows), notes)
    return Section("counted", "Episodes counted", (table,))


def cost(frame: pd.DataFrame) -> Section:
    """Return the section of costs: medians of tokens and seconds, and the share from a cache."""
    rows_of = bundles(frame)
    rows = [
        Row(heads, (str(len(part)), *_medians(part), _cached(part)))
        for heads, part in _parts(frame, rows_of)
    ]
    columns = ("episodes", *(head for _, head, _ in _MEDIANS), "served from cache")
    notes = (
        *bundled(rows_of),
        "Medians an episode over all its settings. Tokens before and after compaction, last input"
        " and shared prefix are o200k tokens; input and output are as the provider counts them."
        " Seconds are of the machine that ran it.",
    )
    table = Table("Cost by model and condition", _HEADS, columns, tuple(rows), notes)
    return Section("cost", "Cost", (table,))


def _parts(
    frame: pd.DataFrame, rows: Sequence[Bundle]
) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    for agent in design.agents(frame):
        mine = frame[frame["agent"] == agent]
        for name, arms in rows:
            part = mine[mine["arm"].isin(arms)]
            if len(part):
                yield (agent, name), part


def _medians(part: pd.DataFrame) -> Iterator[str]:
    for name, _, form in _MEDIANS:
        known = part[name].dropna()
        yield format(float(known.median()), form) if len(known) else "-"


def _cached(part: pd.DataFrame) -> str:
    cached = float(part["cached_tokens"].sum())
    # Inspect's input tokens do not include the cached ones.
    total = float(part["input_tokens"].sum()) + cached
    return f"{100 * cached / total:.0f} %" if total else "-"
