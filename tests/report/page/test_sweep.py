"""The trend with the budget of the summary is tested on variants that have every budget."""

from collections.abc import Iterable
from typing import Any

import pytest

from constraintrot.report.page.view import Table
from tests.report.page.helpers import arm, paged, row


def said(*parts: list[dict[str, Any]]) -> tuple[str, ...]:
    """The notes of the only table of budgets."""
    (section,) = [one for one in paged(*parts).sections if one.name == "budget"]
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    return table.notes


def played(words: int, seeds: Iterable[int], violated: bool) -> list[dict[str, Any]]:
    return [row(violated, seed=seed, budget_words=words) for seed in seeds]


def test_budgets_on_the_same_variants_have_a_trend() -> None:
    assert said(*(arm("compaction", 8, n, budget_words=w) for w, n in ((15, 0), (60, 2), (300, 8)))) == (
        "With more words more violations within variants, p = 0.0078 (exact, exploratory:"
        " not adjusted).",
    )  # fmt: skip


def test_variants_without_every_budget_are_left_out_of_the_trend_and_counted() -> None:
    trend, left = said(played(15, range(6), True), played(300, range(30), True))
    assert trend.startswith(
        "With more words neither more nor fewer violations within variants, p = 1"
    )
    assert left == (
        "This test leaves out 24 of 36 episodes: their variant and replicate were not scored at"
        " every budget."
    )


def test_an_episode_without_a_verdict_takes_its_variant_out_of_the_trend() -> None:
    unscored = [row(seed=8, budget_words=15, violation=None), row(True, seed=8, budget_words=300)]
    trend, left = said(played(15, range(8), False), played(300, range(8), True), unscored)
    assert "p = 0.0078" in trend
    assert left.startswith("This test leaves out 1 of 17 episodes")


def unscored(seeds: Iterable[int]) -> list[dict[str, Any]]:
    return [row(seed=seed, budget_words=300, violation=None) for seed in seeds]


@pytest.mark.parametrize("others", [played(300, range(8, 16), True), unscored(range(8))])
@pytest.mark.parametrize("asked", [None, "the same"])
def test_budgets_without_a_common_variant_have_no_p_and_it_says_why(
    others: list[dict[str, Any]], asked: str | None
) -> None:
    # Variants with the same request are one cluster, and still other variants.
    parts = (played(15, range(8), False), others)
    assert said(*([one | {"request": asked} for one in part] for part in parts)) == (
        "No trend is tested: no variant and replicate was scored at every budget.",
    )
