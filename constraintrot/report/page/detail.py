"""What one episode looked like: the diff of its compaction, the receipts, the call, the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from constraintrot.report.page import untrusted

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

DIFF_LINES = 120
RECEIPTS = 12
_MARKS = {"+": "added", "-": "dropped", "@": "gap"}


@dataclass(frozen=True)
class Line:
    """A line of a diff: ``added``, ``dropped``, ``gap`` or ``same``, and its text."""

    kind: str
    text: str


@dataclass(frozen=True)
class Detail:
    """An episode as its log shows it; every text is cut, and made visible.

    Attributes:
        episode: the sample's id in the frame.
        diff: history before and after the compaction; empty where none ran.
        receipts: what a defense found out about its pins, one line each.
        calls: the calls that the agent made, as JSON, or what it wrote instead.
        recalled: the policy as the agent recalled it, where it was asked.
        blocked: why a defense stopped the call.
        survival: what the survival check found.
    """

    episode: str
    diff: tuple[Line, ...] = ()
    receipts: tuple[str, ...] = ()
    calls: str = ""
    recalled: str = ""
    blocked: str = ""
    survival: str = ""


@dataclass
class Details:
    """The details of some episodes of each kind: all cells have some, no page is endless.

    Attributes:
        most: how many are kept altogether.
    """

    most: int = 300
    kept: dict[str, Detail] = field(default_factory=dict[str, Detail])
    _ranks: dict[str, int] = field(default_factory=dict[str, int])
    _seen: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def wants(self, kind: tuple[object, ...]) -> int | None:
        """The rank of another episode of a kind, or None where enough are kept."""
        rank = self._seen.get(kind, 0)
        self._seen[kind] = rank + 1
        full = len(self.kept) >= self.most
        return None if full and rank >= max(self._ranks.values(), default=0) else rank

    def add(self, detail: Detail, rank: int) -> None:
        """Keep it; if there are too many, the last of the kind with the most go."""
        self.kept[detail.episode] = detail
        self._ranks[detail.episode] = rank
        if len(self.kept) > self.most:
            last = max(self._ranks, key=lambda name: self._ranks[name])
            del self.kept[last], self._ranks[last]


def detail(sample: EvalSample, episode: str) -> Detail:
    """Take out of a sample what a reader wants to see of it."""
    facts = sample.metadata
    told = [(event.source, event.data) for event in sample.events if event.event == "info"]
    receipts = [
        _receipt(_attached(sample, data))
        for source, data in told
        if source in ("pin receipt", "operator channel")
    ]
    diffs = [_attached(sample, data) for source, data in told if source == "compaction diff"]
    scores = sample.scores or {}
    return Detail(
        episode,
        _diff(diffs[-1]) if diffs else _summaries(facts.get("rounds_run") or []),
        _few(receipts),
        _calls(sample),
        untrusted.plain(facts.get("recalled") or "", 1_500),
        untrusted.plain(facts.get("blocked") or "", 1_500),
        untrusted.plain(scores["survival"].explanation or "", 500) if "survival" in scores else "",
    )


def _attached(sample: EvalSample, data: Any) -> Any:
    """The data itself where Inspect stored it apart."""
    name = data.removeprefix("attachment://") if isinstance(data, str) else None
    return data if name is None or name == data else sample.attachments.get(name, data)


def _calls(sample: EvalSample) -> str:
    calls = sample.metadata.get("calls")
    if calls:
        return untrusted.plain(calls)
    said = sample.output.completion if sample.output.choices else ""
    return f"no call; it wrote: {untrusted.plain(said, 1_500)}" if said else "no call"


def _diff(text: Any) -> tuple[Line, ...]:
    if not isinstance(text, str):
        return ()
    body = text.split("```diff\n", 1)[-1].removesuffix("\n```")
    shown = untrusted.lines(body, DIFF_LINES)
    return tuple(
        Line(_MARKS.get(line[:1], "same"), line)
        for line in shown
        if not line.startswith(("--- before", "+++ after"))
    )


def _summaries(rounds: list[dict[str, Any]]) -> tuple[Line, ...]:
    """Where a harness leaves no diff: what each round's summary says."""
    found: list[Line] = []
    for one in rounds:
        found.append(Line("gap", f"round {one.get('number')}, summary:"))
        text = str(one.get("summary") or "(no summary; messages were cut)")
        found += [Line("added", f"+{line}") for line in untrusted.lines(text, 40)]
    return tuple(found)


def _receipt(data: Any) -> str:
    if not isinstance(data, dict):
        return untrusted.plain(data, 500)
    facts = cast("dict[object, Any]", data)
    said = [f"{name} {untrusted.plain(value, 160)}" for name, value in facts.items() if value]
    return untrusted.cut(", ".join(said), 700)


def _few(receipts: list[str]) -> tuple[str, ...]:
    left = len(receipts) - RECEIPTS
    return (*receipts[:RECEIPTS], *([f"… {left} more receipts"] if left > 0 else []))
