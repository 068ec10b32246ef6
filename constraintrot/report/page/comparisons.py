"""All paired comparisons: the primary claims, and the exploratory ones."""

from collections.abc import Iterator, Mapping, Sequence

from constraintrot.report.page import design
from constraintrot.report.page.figure import forest
from constraintrot.report.page.primary import Family
from constraintrot.report.page.qualified import NOT_GIVEN, UNKNOWN
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
WHATEVER = (
    "A difference in words holds whatever the unknown outcomes were (no readable call, no verdict);"
    " the figures beside it take silence as no violation."
)
# Most comparisons in the forest plot; the tables have them all.
FOREST = 40
QUALIFIES = "qualifies"
_EVAL = "inspect eval constraintrot/suite --model MODEL"
_COMMAND = f"{_EVAL} -T conditions=control,compaction,defense_pin"
_ELSEWHERE = "none at the declared setting"
_WORDS = {
    "b is lower": "fewer violations",
    "b is higher": "more violations",
    NOT_DISTINGUISHABLE: "cannot tell",
}


def comparisons(
    family: Family, others: Sequence[Compared], qualifies: Mapping[str, str]
) -> Section:
    """Return the section of paired differences: a forest plot, and a table of each kind.

    A comparison in ``others`` is primary too if it belongs to a further claim of the family.
    ``qualifies`` has, by model, the text about its qualified families (``qualified.beside``).
    """
    primary = [*family.compared, *(one for one in others if one.primary)]
    exploratory = [one for one in others if not one.primary]
    shown = [one for one in (*primary, *exploratory) if one.comparison is not None]
    if not shown:
        given = (*primary, *exploratory)
        reasons = tuple(dict.fromkeys(f"{one.a} and {one.b}: {one.reason}." for one in given))
        return Section("forest", TITLE, (Missing(TITLE, _COMMAND), *reasons))
    several = len({one.agent for one in shown}) > 1
    drawn = [(f"{one.agent}: {one.name}" if several else one.name, one) for one in shown[:FOREST]]
    blocks: list[Block] = [forest(drawn, "Violation, second arm less first")]
    blocks += _primary(family, primary, qualifies)
    if exploratory:
        blocks.append(_exploratory(exploratory))
    return Section("forest", TITLE, tuple(blocks))


def _primary(
    family: Family, primary: Sequence[Compared], qualifies: Mapping[str, str]
) -> Iterator[Block]:
    paired = [one for one in primary if one.comparison is not None]
    given = any(text != NOT_GIVEN for text in qualifies.values())
    rows = tuple(
        _row(one, (one.agent, one.primary, one.name), True, qualifies[one.agent] if given else "")
        for one in paired
    )
    notes = (
        f"The same variants, seeds and replicates in both arms, at {_declared(family)}:"
        f" {_settings(paired)}. p-values are exact (McNemar, or sign flips of whole variants"
        f" where there are replicates) and adjusted (Holm) over {_over(family, len(paired))}; they"
        " are the same wherever a claim is shown.",
        *([WHATEVER] if any(one.comparison and one.comparison.extremes for one in paired) else []),
        *([] if given else [UNKNOWN]),
    )
    always = ("pairs", "difference", "pairs that changed", "p, adjusted", "in words")
    columns = (*always, QUALIFIES) if given else always
    if rows:
        yield Table(PRIMARY, ("model", "claim", "arms"), columns, rows, notes)
    lacking = [one for one in family.compared if one.comparison is None]
    if lacking:
        what = "; ".join(f"{one.primary} of {one.agent} ({one.reason})" for one in lacking)
        named = dict.fromkeys(arm for one in lacking for arm in (one.a, one.b))
        arms = ",".join(arm for arm in named if arm in design.ORDER)
        yield Missing(f"primary claims: {what}", f"{_EVAL} -T conditions={arms}")


def _declared(family: Family) -> str:
    if not family.declared.at:
        return "the setting with the most pairs"
    words = design.words(dict(family.declared.at))
    return f"{words}, for a model with pairs there, else at the setting with the most"


def _over(family: Family, shown: int) -> str:
    if shown == family.size:
        return f"these {shown} comparisons"
    return f"the {family.size} primary claims, these and those of {family.declared.also}"


def _settings(paired: Sequence[Compared]) -> str:
    others = [
        f"{one.primary} of {one.agent}: {one.at}" + (f" ({_ELSEWHERE})" if one.elsewhere else "")
        for one in paired
        if one.elsewhere or one.at not in ("main", "")
    ]
    return "; ".join(["the main one, below the first table", *others])


def _exploratory(given: Sequence[Compared]) -> Table:
    rows = [_row(one, (one.agent, one.name), False) for one in given]
    notes = (
        "Not among the claims that were declared: the p-values are not adjusted, and of this many"
        " comparisons some are small by chance. No conclusion is drawn from them.",
    )
    columns = ("pairs", "difference", "pairs that changed", "p, not adjusted")
    return Table(EXPLORATORY, ("model", "arms"), columns, tuple(rows), notes)


def _row(one: Compared, heads: tuple[str, ...], primary: bool, qualifies: str = "") -> Row:
    comparison = one.comparison
    if comparison is None:
        return Row(heads, ("-", f"not paired: {one.reason}", "-", "-"), one.anchor)
    p_value = comparison.p_value if comparison.adjusted is None else comparison.adjusted
    changed = f"{comparison.only_b} more, {comparison.only_a} fewer"
    cells = (str(comparison.n), points(comparison.difference), changed, p_text(p_value))
    words = (_WORDS[comparison.verdict],) if primary else ()
    beside = (qualifies.removeprefix(f"{QUALIFIES}: "),) if qualifies else ()
    return Row(heads, (*cells, *words, *beside), one.anchor)
