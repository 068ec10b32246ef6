"""Harnesses: violation in full view, after compaction and with the pin."""

import pandas as pd

from constraintrot.report.page import design, paper
from constraintrot.report.page.view import (
    NOT_MEASURED,
    Block,
    Cells,
    Content,
    Missing,
    Row,
    Section,
    Table,
)

TITLE = "Harnesses"
_CONTROL, _PIN = 0, 2
_ARMS = (("control", "control"), ("compaction", design.COMPACTION), ("pin", "defense_pin"))
_EVAL = "inspect eval constraintrot/suite --model MODEL"


def harnesses(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section of harnesses: a row per model and harness, with its conditions."""
    rows = [_row(cells, *one) for one in _harnesses(frame[~frame["allowed"]])]
    paper_says = ", ".join(f"{name} {rate}" for name, rate in paper.HARNESSES.items())
    if not rows:
        command = (
            f"for h in replay HARNESS; do {_command('control,compaction,defense_pin', '$h')}; done"
        )
        missing = Missing(f"{TITLE} (one harness alone, or none)", command)
        return Section("harnesses", TITLE, (missing, f"The paper, with its models: {paper_says}."))
    columns = (*(head for head, _ in _ARMS), "policy survived", paper.NAME)
    notes = [
        "Each at the compactor, prompt and budget of most of its episodes; the other settings are the"
        " model's main ones. The rows need not hold the same episodes: compare within a row."
    ]
    blocks: list[Block] = []
    for at, arm in ((_CONTROL, "control"), (_PIN, "defense_pin")):
        lacking = list(dict.fromkeys(row.heads[1] for row in rows if row.cells[at] == NOT_MEASURED))
        if lacking:
            blocks.append(Missing(f"{arm} of {', '.join(lacking)}", _command(arm, "HARNESS")))
    if any(row.cells[_CONTROL] == NOT_MEASURED for row in rows):
        notes.append(
            "Without a control nobody knows whether the agent would have obeyed there before compaction."
        )
    caption = "Violation by harness"
    table = Table(caption, ("model", "harness"), columns, tuple(rows), tuple(notes))
    return Section("harnesses", TITLE, (table, *blocks))


def _harnesses(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return agent, harness and episodes of each harness, for agents with several harnesses.

    A harness may compact by itself. So its compactor, prompt, budget and summarizer are those of
    most of its compacted episodes; the other settings are the agent's main ones.
    """
    free = ("harness", *design.TIED["harness"])
    result: list[tuple[str, str, pd.DataFrame]] = []
    for agent in design.agents(frame):
        mine = frame[frame["agent"] == agent]
        held = {name: value for name, value in design.commonest(mine).items() if name not in free}
        mine = mine[design.fits(mine, held)]
        names = design.ordered(mine["harness"])
        for name in names if len(names) > 1 else ():
            part = mine[mine["harness"] == name]
            result.append((agent, str(name), part[design.fits(part, design.commonest(part))]))
    return result


def _row(cells: Cells, agent: str, name: str, part: pd.DataFrame) -> Row:
    where = (TITLE, f"{agent}, {name}")
    rates: list[Content] = [
        cells.rate(part[part["arm"] == arm], "violation", (*where, head)) for head, arm in _ARMS
    ]
    compacted = part[part["arm"] == design.COMPACTION]
    survived = cells.rate(compacted, "survived", (*where, "policy survived"))
    theirs = paper.of(paper.HARNESSES, name.split(":")[0])
    return Row((agent, name), (*rates, survived, theirs))


def _command(conditions: str, harness: str) -> str:
    return f"{_EVAL} -T conditions={conditions} -T harness={harness}"
