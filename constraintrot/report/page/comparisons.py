"""All paired comparisons: the primary claims, and the exploratory ones."""

from __future__ import annotations

from collections.abc import Sequence

from constraintrot.report.page.figure import forest
from constraintrot.report.page.primary import Family
from constraintrot.report.page.view import (
    Block,
    Compared,
    Missing,
    Row,
    Section,
    Table,
    p_text,
    points,
)
from constraintrot.stats.paired import NOT_DISTINGUISHABLE

TITLE = "Paired differences"
PRIMARY = "Primary claims: second arm less first"
EXPLORATORY = "Exploratory comparisons: second arm less first"
# Most comparisons in the forest plot; the tables have them all.
FOREST = 40
_COMMAND = (
    "inspect eval constraintrot/suite --model MODEL -T conditions=control,compaction,defense_pin"
)
_WORDS = {
    "b is lower": "fewer violations",
    "b is higher": "more violations",
    NOT_DISTINGUISHABLE: "cannot tell",
}


def comparisons(family: Family, exploratory: Sequence[Compared]) -> Section:
    """A forest plot, and a table of each kind.

    Args:
        family: the primary claims.
        exploratory: all other comparisons.
    """
    shown = [one for one in (*family.compared, *exploratory) if one.comparison is not None]
    if not shown:
        given = (*family.compared, *exploratory)
        reasons = tuple(dict.fromkeys(f"{one.a} and {one.b}: {one.reason}." for one in given))
        return Section("forest", TITLE, (Missing(TITLE, _COMMAND), *reasons))
    several = len({one.agent for one in shown}) > 1
    drawn = [(f"{one.agent}: {one.name}" if several else one.name, one) for one in shown[:FOREST]]
    blocks: list[Block] = [forest(drawn, "Violation, second arm less first")]
    blocks.append(_primary(family))
    if exploratory:
        blocks.append(_exploratory(exploratory))
    return Section("forest", TITLE, tuple(blocks))


def _primary(family: Family) -> Table:
    rows = [_row(one, (one.agent, one.primary, one.name), one.at) for one in family.compared]
    notes = (
        "The same variants, seeds and replicates in both arms, at the setting with the most pairs (main:"
        " the one below the first table)."
        " p-values are exact (McNemar, or sign flips of whole variants where there are replicates)"
        f" and adjusted (Holm) over the {family.size} of these comparisons that have pairs; they are"
        " the same wherever a claim is shown.",
    )
    columns = ("pairs", "difference", "pairs that changed", "p, adjusted", "in words", "setting")
    return Table(PRIMARY, ("model", "claim", "arms"), columns, tuple(rows), notes)


def _exploratory(given: Sequence[Compared]) -> Table:
    rows = [_row(one, (one.agent, one.name), None) for one in given]
    notes = (
        "Not among the claims that were declared: the p-values are not adjusted, and of this many"
        " comparisons some are small by chance. No conclusion is drawn from them.",
    )
    columns = ("pairs", "difference", "pairs that changed", "p, not adjusted")
    return Table(EXPLORATORY, ("model", "arms"), columns, tuple(rows), notes)


def _row(one: Compared, heads: tuple[str, ...], at: str | None) -> Row:
    """The row of a comparison; with its verdict and setting if it is primary."""
    comparison = one.comparison
    primary = at is not None
    if comparison is None:
        words = (one.reason, at or "-") if primary else ()
        return Row(heads, ("-", "not paired", "-", "-", *words), one.anchor)
    p_value = comparison.p_value if comparison.adjusted is None else comparison.adjusted
    changed = f"{comparison.only_b} more, {comparison.only_a} fewer"
    cells = (str(comparison.n), points(comparison.difference), changed, p_text(p_value))
    words = (_WORDS[comparison.verdict], at or "-") if primary else ()
    return Row(heads, (*cells, *words), one.anchor)
