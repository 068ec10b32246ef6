"""Details of one episode: compaction diff, pin receipts, calls, survival check.

They come from its log, or from the file ``NAME.texts.json`` beside a frame ``NAME.csv``, so
that a page without logs has them too. All are cut and made safe when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.page import files

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
    """The details of an episode; every text is shortened and made safe by ``untrusted``.

    Attributes:
        episode: the sample's id in the frame.
        receipts: a defense's log of its pins, one line each.
        calls: the agent's calls as JSON, or its text if it made none.
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
    """A bounded collection of details, evenly over the kinds of episodes."""

    most: int = 300
    kept: dict[str, Detail] = field(default_factory=dict[str, Detail])
    _ranks: dict[str, int] = field(default_factory=dict[str, int])
    _seen: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def wants(self, kind: tuple[object, ...]) -> int | None:
        """Return the rank of a kind's next episode within its kind; None if it would not be kept."""
        rank = self._seen.get(kind, 0)
        self._seen[kind] = rank + 1
        full = len(self.kept) >= self.most
        return None if full and rank >= max(self._ranks.values(), default=0) else rank

    def take(self, known: Iterable[Detail]) -> None:
        """Add a file's details up to the limit, after those of logs."""
        for one in known:
            if one.episode not in self.kept and len(self.kept) < self.most:
                self.kept[one.episode] = one

    def add(self, detail: Detail, rank: int) -> None:
        """Keep a detail; if there are too many, drop one of the highest rank."""
        self.kept[detail.episode] = detail
        self._ranks[detail.episode] = rank
        if len(self.kept) > self.most:
            last = max(self._ranks, key=lambda name: self._ranks[name])
            del self.kept[last], self._ranks[last]


DETAILS = TypeAdapter(tuple[Detail, ...])


def detail(sample: EvalSample, episode: str) -> Detail:
    facts = sample.metadata
    infos = [(event.source, event.data) for event in sample.events if event.event == "info"]
    receipts = [
        _receipt(_attached(sample, data))
        for source, data in infos
        if source in ("pin receipt", "operator channel")
    ]
    diffs = [_attached(sample, data) for source, data in infos if source == "compaction diff"]
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
    name = data.removeprefix("attachment://") if isinstance(data, str) else None
    return data if name is None or name == data else sample.attachments.get(name, data)


def _calls(sample: EvalSample) -> str:
    calls = sample.metadata.get("calls")
    if calls:
        return untrusted.plain(calls)
    text = sample.output.completion if sample.output.choices else ""
    return f"no call; it wrote: {untrusted.plain(text, 1_500)}" if text else "no call"


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
    """Return the summary of each round, for a harness that logs no diff."""
    lines: list[Line] = []
    for one in rounds:
        lines.append(Line("gap", f"round {one.get('number')}, summary:"))
        text = str(one.get("summary") or "(no summary; messages were cut)")
        lines += [Line("added", f"+{line}") for line in untrusted.lines(text, 40)]
    return tuple(lines)


def _receipt(data: Any) -> str:
    if not isinstance(data, dict):
        return untrusted.plain(data, 500)
    facts = cast("dict[object, Any]", data)
    parts = [f"{name} {untrusted.plain(value, 160)}" for name, value in facts.items() if value]
    return untrusted.cut(", ".join(parts), 700)


def _few(receipts: list[str]) -> tuple[str, ...]:
    left = len(receipts) - RECEIPTS
    return (*receipts[:RECEIPTS], *([f"… {left} more receipts"] if left > 0 else []))


ENDING = ".texts.json"
_KINDS = ("added", "dropped", "gap", "same")
_TEXTS = ("calls", "recalled", "blocked", "survival")


def texts_path(frame: str) -> str:
    """Return the path of the texts of a frame's episodes: ``episodes.texts.json``."""
    return f"{frame.rsplit('.', 1)[0]}{ENDING}"


def read_texts(frame: str) -> list[Detail]:
    """Read the details beside a frame; an empty list if there is no such file."""
    path = texts_path(frame)
    if not files.kind(path):
        return []
    try:
        return [_limited(one) for one in DETAILS.validate_json(files.read(path))]
    except ValueError as error:
        raise ConstraintRotError(f"{path} holds no texts of episodes: {error}") from error


def texts_json(details: Details) -> str:
    """Return the content of a file of details, sorted by the episodes' ids."""
    known = tuple(details.kept[name] for name in sorted(details.kept))
    return DETAILS.dump_json(known, indent=1).decode() + "\n"


def _limited(one: Detail) -> Detail:
    """Cut the texts like those from logs, because the file may come from anywhere."""
    diff = tuple(
        replace(line, kind=line.kind if line.kind in _KINDS else "same", text=_cut(line.text))
        for line in one.diff[: DIFF_LINES + 1]
    )
    receipts = tuple(_cut(text, untrusted.CELL) for text in one.receipts[: RECEIPTS + 1])
    shown = {name: _cut(getattr(one, name), untrusted.TEXT) for name in _TEXTS}
    return replace(one, diff=diff, receipts=receipts, **shown)


def _cut(text: str, limit: int = untrusted.LINE) -> str:
    # A text that was cut before ends in a note, which has to fit too.
    return untrusted.cut(text, limit + 100)
