"""Sweeps of one setting: compactors, harnesses, channels, locales, wordings, budgets."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ParameterError
from constraintrot.report.arms import arms
from constraintrot.report.page import design, paper
from constraintrot.report.page.figure import curve
from constraintrot.report.page.view import (
    Block,
    Cells,
    Content,
    Missing,
    Row,
    Section,
    Table,
    p_text,
)
from constraintrot.stats.curves import trend
from constraintrot.stats.interval import Estimate

_EVAL = "inspect eval constraintrot/suite --model MODEL -T conditions=control,compaction"


@dataclass(frozen=True)
class Sweep:
    """Episodes in which one setting was varied and the others were held fixed.

    Attributes:
        setting: the fixed settings, as text; empty if the agent has only one such sweep.
        frame: the compacted episodes.
        control: the same episodes without compaction; may be empty.
        label: column of the varied setting.
    """

    agent: str
    setting: str
    values: tuple[object, ...]
    frame: pd.DataFrame
    control: pd.DataFrame
    label: str

    @property
    def name(self) -> str:
        return f"{self.agent} ({self.setting})" if self.setting else self.agent


@dataclass(frozen=True)
class Varied:
    """A section about a sweep.

    Attributes:
        column: column of the varied setting, or ``varied`` (see ``sweeps``).
        theirs: the paper's figures by value; may be empty.
        command: shell command that runs the sweep.
    """

    name: str
    title: str
    column: str
    head: str
    theirs: Mapping[str, object]
    command: str


COMPACTORS = Varied(
    "compactors", "Compactors", "varied", "compactor", paper.COMPACTORS,
    f"for c in truncate hierarchical summarize head_tail; do {_EVAL} -T compactor=$c; done",
)  # fmt: skip
VARIED = (
    Varied(
        "channels", "Channels", "channel", "channel", paper.CHANNELS,
        f"for c in user memory tool system; do {_EVAL} -T channel=$c; done",
    ),
    Varied(
        "locales", "Locales", "locale", "locale", {},
        f"for l in en de es zh; do {_EVAL} -T locale=$l; done",
    ),
    Varied(
        "wordings", "Wordings", "wording", "wording", {},
        f"for w in declarative imperative consequence reminder; do {_EVAL} -T wording=$w; done",
    ),
)  # fmt: skip
_UNTESTED = "No trend is tested: no variant and replicate was scored at every budget."
# Further settings, which share one section; the paper has no figures for them.
OTHERS = ("prompt", "context_tokens", "compact_at")


def sweeps(frame: pd.DataFrame, name: str) -> list[Sweep]:
    """Return the sweeps of one setting, with all other settings held fixed.

    Args:
        frame: episodes of prohibited requests, from ``prepared``.
        name: one of ``SETTINGS``; or ``varied`` for a compactor with its prompt and budget.
    """
    free = {name, *design.TIED.get(name, ())}
    label = name
    if name == "varied":
        free = {"compactor", *design.TIED["compactor"]}
    held = [setting for setting in design.SETTINGS if setting not in free]
    result: list[Sweep] = []
    for agent in design.agents(frame):
        mine = frame[frame["agent"] == agent]
        compacted = mine[mine["arm"] == design.COMPACTION]
        if name == "varied":
            compacted = compacted[compacted["summary_by"].isin(["the agent", "none"])]
        groups = list(compacted.groupby(held, sort=False, dropna=False))
        # Budgets and prompts of one compactor are in other sections.
        column = "compactor" if name == "varied" else name
        several = [(key, part) for key, part in groups if part[column].nunique() > 1]
        for key, part in several:
            chosen: dict[str, object] = dict(zip(held, key, strict=True))
            control = mine[(mine["arm"] == "control") & design.fits(mine, chosen)]
            setting = design.words(chosen) if len(several) > 1 else ""
            result.append(Sweep(agent, setting, design.ordered(part[label]), part, control, label))
    return result


def swept(cells: Cells, frame: pd.DataFrame, of: Varied) -> Section:
    """Return the section about one varied setting, with one table row per model and value."""
    table = _table(cells, frame, of)
    blocks: list[Block] = [table or Missing(f"{of.title} (one alone, or none)", of.command)]
    if table is None and of.theirs:
        figures = ", ".join(
            f"{name} {value}{' %' * isinstance(value, int)}" for name, value in of.theirs.items()
        )
        blocks.append(f"The paper, with its models: {figures}.")
    return Section(of.name, of.title, tuple(blocks))


def others(cells: Cells, frame: pd.DataFrame) -> Section | None:
    """Return the section about the settings in ``OTHERS``; None if all of them were fixed."""
    results = [
        _table(cells, frame, Varied(name, "Other settings", name, name.replace("_", " "), {}, ""))
        for name in OTHERS
    ]
    tables = tuple(table for table in results if table is not None)
    return Section("others", "Other settings", tables) if tables else None


def _table(cells: Cells, frame: pd.DataFrame, of: Varied) -> Table | None:
    asked = frame[~frame["allowed"]]
    rows: list[Row] = []
    notes: list[str] = []
    for sweep in sweeps(asked, of.column):
        sizes = set[int]()
        for value in sweep.values:
            part = sweep.frame[sweep.frame[sweep.label] == value]
            control = _control(sweep, value)
            where = (of.title, f"{sweep.name}, {value}")
            sizes.add(len(part))
            theirs = paper.of(of.theirs, str(value).split(",")[0])
            row: tuple[Content, ...] = (
                cells.rate(control, "violation", (*where, "control")),
                cells.rate(part, "violation", (*where, "compaction")),
                cells.rate(part, "survived", (*where, "policy survived")),
                theirs,
            )
            rows.append(Row((sweep.name, str(value)), row))
        if len(sizes) > 1:
            notes.append(
                f"{sweep.name}: the rows do not hold equally many episodes; compare with care."
            )
    if not rows:
        return None
    columns: tuple[str, ...] = ("control", "compaction", "policy survived", paper.NAME)
    caption = f"Violation by {of.head}, everything else held"
    if not of.theirs:
        columns, rows = columns[:3], [Row(row.heads, row.cells[:3]) for row in rows]
    return Table(caption, ("model", of.head), columns, tuple(rows), tuple(notes))


def _control(sweep: Sweep, value: object) -> pd.DataFrame:
    control = sweep.control
    if sweep.label == "varied" or control[sweep.label].isin(["none", None]).all():
        return control
    return control[control[sweep.label] == value]


def budget(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section on the paper's Figure 3: survival and violation by summary budget."""
    title = "Summary budget"
    heads = {"violation": "violation", "policy survived": "survived"}
    asked = design.counted(frame[~frame["allowed"]], "budget_words")
    blocks: list[Block] = []
    for sweep in sweeps(asked, "budget_words"):
        drawn: dict[str, list[tuple[float, Estimate]]] = {head: [] for head in heads}
        rows: list[Row] = []
        for value in sweep.values:
            part = sweep.frame[sweep.frame["budget_words"] == value]
            made = [
                (head, cells.rate(part, column, (title, f"{sweep.name}, {value} words", head)))
                for head, column in heads.items()
            ]
            for head, cell in made:
                if not isinstance(cell, str):
                    drawn[head].append((float(str(value)), cell.estimate))
            rows.append(Row((f"{value} words",), tuple(cell for _, cell in made)))
        figure = curve(
            [(head, rates) for head, rates in drawn.items() if rates],
            f"{sweep.name}: violation and survival by summary budget, paper's Figure 3",
            "words that the summary may have",
            {head: paper.BUDGET[column] for head, column in heads.items()}
            if paper.compares(frame)
            else {},
        )
        caption = f"{sweep.name}: by summary budget"
        table = Table(caption, ("budget",), tuple(heads), tuple(rows), _trend(sweep))
        blocks += [figure, table]
    if not blocks:
        blocks = [
            Missing(
                f"{title} (one budget alone, or none)",
                f"for w in 15 30 60 120 300; do {_EVAL} -T budget_words=$w; done",
            ),
            "The paper, with its models: from 300 to 15 words the policy is kept in 88 to 23 % of"
            " episodes, and violation rises from 7 to 28 %.",
        ]
    return Section("budget", title, tuple(blocks))


def _trend(sweep: Sweep) -> tuple[str, ...]:
    budgets = {str(value): {"budget_words": value} for value in sweep.values}
    everything_else = [key for key in KEYS if key != "budget_words"]
    try:
        matched = arms(sweep.frame, budgets, on=everything_else, unmatched=True)
    except ParameterError:
        # A source has each episode once, so the budgets share none.
        return (_UNTESTED,)
    found = trend([matched.values[name] for name in budgets], matched.labels)
    if found.p_value is None:
        return (_UNTESTED,)
    more = {1: "more", -1: "fewer", 0: "neither more nor fewer"}[found.slope_sign]
    scored = int(sweep.frame["violation"].notna().sum())
    left = scored - found.n * len(budgets)
    tested = (
        f"With more words {more} violations within variants, {p_text(found.p_value)} (exact,"
        " exploratory: not adjusted)."
    )
    said = (
        f"This test leaves out {left} of {scored} episodes: their variant and replicate were not"
        " scored at every budget."
    )
    return (tested, said) if left else (tested,)
