"""Episodes out of thin air, and a page read as a reader would."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pandas as pd

from constraintrot.report.page import frames, source
from constraintrot.report.page.detail import Details
from constraintrot.report.page.sections import Page, page
from constraintrot.report.page.view import Cell, Content

PLAIN: dict[str, Any] = {
    "family": "soft_email", "kind": "soft", "locale": "en", "wording": "declarative",
    "channel": "user", "condition": "compaction", "compactor": "summarize", "prompt": "tight",
    "budget_words": 60, "rounds": 1, "scaffold": "direct", "attack": "none", "defense": "none",
    "harness": "replay", "agent": "a/model", "summarizer": "a/model", "distractors": 0,
    "context_tokens": 800, "compact_at": "none", "seed": 0, "replicate": 0, "allowed": False,
    "violation": 0.0, "outcome": "declined", "reason": "the agent declined", "survived": 1.0,
    "state": "restated", "measure": "rules", "mentions": 1.0,
}  # fmt: skip
BARE = {
    "compactor": "none", "prompt": "none", "budget_words": "none", "rounds": "none",
    "summarizer": "none",
}  # fmt: skip


def row(violated: bool = False, **facts: Any) -> dict[str, Any]:
    """An episode; a floor or control has no compactor."""
    bare = BARE if facts.get("condition") in ("floor", "control") else {}
    outcome = (
        {"violation": 1.0, "outcome": "violated", "survived": 0.0, "state": "lost"}
        if violated
        else {}
    )
    return {**PLAIN, **bare, **outcome, **facts}


def arm(condition: str, n: int, violated: int, **facts: Any) -> list[dict[str, Any]]:
    """N variants of which the first some violated."""
    return [row(seed < violated, condition=condition, seed=seed, **facts) for seed in range(n)]


def of(rows: list[dict[str, Any]]) -> source.Source:
    """A source of such episodes."""
    return source.Source(frames.tidy(pd.DataFrame(rows)), [], Details(), [], [])


def paged(*parts: list[dict[str, Any]]) -> Page:
    """The page of such episodes."""
    return page(of([one for part in parts for one in part]))


def shown(one: Content) -> tuple[int | None, int] | str:
    """The count and the n of a cell, or its words."""
    return (one.estimate.k, one.estimate.n) if isinstance(one, Cell) else str(one)


@dataclass
class Read(HTMLParser):
    """What a page says: its rates by cell, its elements, its ids and its links."""

    rates: dict[int, str] = field(default_factory=dict[int, str])
    tags: list[tuple[str, dict[str, str | None]]] = field(
        default_factory=list[tuple[str, dict[str, str | None]]]
    )
    text: str = ""
    _cell: int | None = None

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "a" and "data-cell" in found:
            self._cell = int(found["data-cell"] or 0)
            self.rates[self._cell] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._cell = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell is not None:
            self.rates[self._cell] += data

    def having(self, name: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [found[name] or "" for _, found in self.tags if name in found]


def read(html: str) -> Read:
    """Parse a page."""
    found = Read()
    found.feed(html)
    return found
