"""The survey's matrix: a policy's fate in each coding agent's compaction, by its channel."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from constraintrot.errors import ParameterError
from constraintrot.report.tables import Table

CHANNELS: tuple[str, ...] = (
    "system", "root_file", "memory_file", "user", "file", "tool", "nested_file",
)  # fmt: skip
HEADINGS = {
    "system": "system prompt",
    "root_file": "project's rule file",
    "memory_file": "user's rule file",
    "user": "user's turn",
    "file": "file it read",
    "tool": "tool result (MCP)",
    "nested_file": "nested rule file",
    "pin": "pin",
}
Fate: TypeAlias = Literal[
    "verbatim", "re-attached", "in part", "summarizer only", "dropped", "not given",
    "told", "not told", "no sub-agents", "held", "error",
]  # fmt: skip
HOLDS = ("verbatim", "re-attached", "told", "held")
"""The fates in which the agent's model still sees the policy."""
PIN = "pin"
# Tokens of history: the shortest that leaves every agent something to compact.
TOKENS = 800
SHOWN_BY = "Requests before the compaction, for the summary, and after it"


@dataclass(frozen=True)
class Cell:
    """A policy's state in an agent.

    Attributes:
        mode: how it was made to compact.
        channel: who gave the policy.
        fate: ``verbatim``: the same holder still has the policy; ``re-attached``: another
            message has it; ``summarizer only``: afterwards only the summarizer saw it;
            ``dropped``: neither saw it; ``not given``: the agent never sent it. With a policy
            in each turn, ``in part``: some are left. For a sub-agent's first request: ``told``
            or ``not told``, or ``no sub-agents`` if the agent has none. For a pin, ``held``:
            the request with the trigger has it.
        before: number of the last request before the compaction.
        summary: numbers of the requests for a summary.
        after: number of the request with the trigger.
        violation: whether the scripted model, which obeys every policy in sight, broke it.
        compactions: number of compactions; the fate is that after the last.
        detail: the turns that are left, if the fate is ``in part``.
    """

    agent: str
    version: str
    mode: str
    channel: str
    fate: Fate
    before: str = ""
    summary: str = ""
    after: str = ""
    violation: str = ""
    run: str = ""
    error: str = ""
    compactions: int = 1
    tokens: int = TOKENS
    detail: str = ""

    @property
    def told(self) -> str:
        return f"{self.fate}: {self.detail}" if self.detail else self.fate

    @property
    def session(self) -> str:
        """The agent, its version, the mode, and settings that are not the default."""
        parts = [f"{self.agent} {self.version}", self.mode]
        if self.compactions > 1:
            parts.append(f"{self.compactions} compactions")
        if self.tokens != TOKENS:
            parts.append(f"{self.tokens:,} tokens of history")
        return ", ".join(parts)

    @property
    def row(self) -> dict[str, str]:
        return asdict(self)

    @property
    def evidence(self) -> str:
        summary = f", #{self.summary}" if self.summary else ""
        return f"#{self.before}{summary} -> #{self.after}" if self.after else ""


def fate(
    before: Sequence[dict[str, Any]], summaries: Sequence[dict[str, Any]], after: dict[str, Any]
) -> Fate:
    """Return the policy's state after the compaction."""
    known = {_holder(one) for request in before for one in request["policy_in"]}
    if known & {_holder(one) for one in after["policy_in"]}:
        return "verbatim"
    if after["policy_in"]:
        return "re-attached"
    if any(request["policy_in"] for request in summaries):
        return "summarizer only"
    return "dropped" if known else "not given"


def _holder(holding: str) -> str:
    """Return the holder of a policy; all versions of a system prompt are one holder."""
    return "system" if holding.startswith("system ") else holding


def is_known(
    known: Sequence[Cell],
    title: str,
    version: str,
    mode: str,
    channel: str,
    rounds: int = 1,
    tokens: int = TOKENS,
) -> bool:
    return any(
        (one.agent, one.version, one.mode, one.channel, one.compactions, one.tokens)
        == (title, version, mode, channel, rounds, tokens)
        and one.fate != "error"
        for one in known
    )


@dataclass(frozen=True)
class Change:
    before: Cell
    now: Cell

    @property
    def kind(self) -> Literal["same", "differs", "error"]:
        if "error" in (self.now.fate, self.before.fate):
            return "error"
        return "same" if self.now.told == self.before.told else "differs"

    @property
    def lost(self) -> bool:
        return self.before.fate in HOLDS and self.now.fate not in HOLDS

    @property
    def line(self) -> str:
        row = f"{self.now.mode}, {HEADINGS[self.now.channel]}"
        if self.kind == "same":
            return f"{row}: same ({self.now.told})"
        lost = "; no longer held" if self.lost else ""
        why = f": {self.now.error or self.before.error}" if self.kind == "error" else ""
        return f"{row}: {self.kind} ({self.before.told} -> {self.now.told}{lost}){why}"


def changes(cells: Sequence[Cell]) -> list[Change]:
    """Return the rows that two versions of an agent have; the earlier cell counts as the older."""
    seen: dict[tuple[object, ...], Cell] = {}
    found: list[Change] = []
    for cell in cells:
        row = (cell.agent, cell.mode, cell.channel, cell.compactions, cell.tokens)
        earlier = seen.get(row)
        if earlier is not None and earlier.version != cell.version:
            found.append(Change(earlier, cell))
        seen[row] = cell
    return found


def read_rows(path: Path) -> list[Cell]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_cell(row) for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(f"{path} holds no rows of a survey: {error}") from None


def _cell(row: dict[str, Any]) -> Cell:
    if row["fate"] not in get_args(Fate):
        raise ValueError(f"fate {row['fate']!r}")
    numbers = {name: int(row[name]) for name in ("compactions", "tokens")}
    return Cell(**row | numbers)


def matrix(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the matrix; the first column is the session."""
    channels = [name for name in HEADINGS if any(cell.channel == name for cell in cells)]
    by_place = {(cell.session, cell.channel): cell for cell in cells}
    rows: list[list[str]] = []
    for session in dict.fromkeys(cell.session for cell in cells):
        found = [by_place.get((session, name)) for name in channels]
        rows.append([session, *(cell.told if cell else "-" for cell in found)])
    return ["agent", *(HEADINGS[name] for name in channels)], rows


def evidence(cells: Sequence[Cell]) -> list[str]:
    """Return, for each cell, the requests that show it, or why it has no result."""
    return [
        f"{cell.session}, {HEADINGS[cell.channel]}: {cell.evidence or cell.error}"
        for cell in cells
        if cell.evidence or cell.error
    ]


def heading(cells: Sequence[Cell]) -> str:
    delegated = any(cell.mode == "sub-agent" for cell in cells)
    also = ", or in a sub-agent's first request" if delegated else ""
    newest = max((cell.run for cell in cells), default=date.today().isoformat())
    return f"What of a policy is in the request after a compaction{also}; run by {newest}."


def markdown(cells: Sequence[Cell]) -> str:
    """Return the matrix, the requests that show each cell, and differences between versions."""
    heads, rows = matrix(cells)
    lines = [heading(cells), "", Table(heads, rows).markdown(), "", f"{SHOWN_BY}:", ""]
    lines += [f"- {line}" for line in evidence(cells)]
    if changed := changes(cells):
        lines += ["", "Between versions:", ""]
        lines += [
            f"- {one.now.agent} {one.before.version} -> {one.now.version}, {one.line}"
            for one in changed
        ]
    return "\n".join(lines) + "\n"
