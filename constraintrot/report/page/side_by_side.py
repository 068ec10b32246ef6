"""Two arms of one variant side by side: the same request, with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.report.page.view import Compared, permanent

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

# Most pairs on the page, and of one comparison.
PAIRS = 60
A_COMPARISON = 6


@dataclass(frozen=True)
class Side:
    """A pair of episodes.

    Attributes:
        compared: the comparison that it belongs to.
        anchor: its id on the page.
        title: family, seed, and both outcomes, for a reader.
        a: position of the first arm's episode in the frame.
        b: position of the second arm's episode.
        changed: whether the outcomes differ.
    """

    compared: Compared
    anchor: str
    title: str
    a: int
    b: int
    changed: bool


def sides(page: Page) -> list[Side]:
    """Some pairs of each comparison: those that changed first, then those with texts."""
    at = dict(zip(page.frame["episode"].map(str), map(int, page.frame.index), strict=True))
    chosen: list[Side] = []
    for compared in page.compared:
        ranked = sorted(_of(page, compared, at), key=lambda one: _rank(page, one))
        chosen += ranked[: min(A_COMPARISON, PAIRS - len(chosen))]
    return chosen


def _of(page: Page, compared: Compared, at: dict[str, int]) -> Iterator[Side]:
    if compared.value != "violation":
        return
    violated, family, seed = (page.frame[name] for name in ("violation", "family", "seed"))
    outcome = page.frame["outcome"]
    for first, second in compared.pairs:
        a, b = at[first], at[second]
        title = f"{family[a]} {seed[a]}: {outcome[a]} → {outcome[b]}"
        anchor = permanent("s", compared.anchor, first, second)
        yield Side(compared, anchor, title, a, b, bool(violated[a] != violated[b]))


def _rank(page: Page, one: Side) -> tuple[bool, bool, str]:
    kept = page.source.details.kept
    names = page.frame["episode"]
    told = all(str(names[number]) in kept for number in (one.a, one.b))
    return not one.changed, not told, one.title
