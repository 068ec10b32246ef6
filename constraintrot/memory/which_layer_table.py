"""The table of the layers, with the effect of each on violations.

Differences are paired, episode by episode. A layer alone against no layer shows whether it breaks
rules by itself. All layers but one against all show whether its absence rescues rules. If two
layers lose the same rule, the absence of one rescues nothing, so both comparisons are needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from constraintrot.memory.which_layer import ALL, NONE, Row
from constraintrot.report.tables import Table
from constraintrot.stats.bounds import compare_unknown
from constraintrot.stats.exact import p_digits
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import NOT_DISTINGUISHABLE, Comparison, family

SILENT: Final = ("malformed", "no_call", "error")


@dataclass(frozen=True)
class Line:
    """The findings about one layer."""

    layer: str
    culprit: int  # the number of episodes of the whole pipeline in which it removed the rule
    alone: Comparison  # this layer alone (b) against none (a), in violations
    without: Comparison  # all but this layer (b) against all (a)
    silent: int  # episodes of its two arms without a call, or with an error


def lines(played: Sequence[Row], names: Sequence[str]) -> list[Line]:
    """Return one line per layer; the p-values are adjusted over all comparisons of the table."""
    by_arm: dict[str, dict[tuple[str, int], Row]] = {}
    for row in played:
        by_arm.setdefault(row.arm, {})[(row.family, row.seed)] = row
    compared = family(
        [
            _compared(by_arm[base], by_arm[arm.format(name)])
            for base, arm in ((NONE, "only {}"), (ALL, "without {}"))
            for name in names
        ]
    )
    culprits = [row.culprit for row in by_arm[ALL].values() if row.violated or not row.kept]
    return [
        Line(
            name,
            culprits.count(name),
            compared[at],
            compared[at + len(names)],
            sum(
                row.outcome in SILENT
                for arm in (f"only {name}", f"without {name}")
                for row in by_arm[arm].values()
            ),
        )
        for at, name in enumerate(names)
    ]


def _compared(a: Mapping[Any, Row], b: Mapping[Any, Row]) -> Comparison:
    """Compare two arms; a layer that silences the agent neither breaks the rule nor rescues it.

    Nor does one whose episodes end in errors: their outcomes are unknown too.
    """
    both = sorted(set(a) & set(b))
    violated = [[int(rows[one].violated) for one in both] for rows in (a, b)]
    silent = [[rows[one].outcome in SILENT for one in both] for rows in (a, b)]
    return compare_unknown(*violated, unknown=(silent[0], silent[1]))


def table(played: Sequence[Row], names: Sequence[str]) -> str:
    told = lines(played, names)
    arms = {arm: [row for row in played if row.arm == arm] for arm in (ALL, NONE)}
    head = [
        "| layer | took the rule away | violations, it alone | against none | violations, without it"
        " | against all | no call |",
        "| --- | ---: | ---: | --- | ---: | --- | ---: |",
    ]
    body = [
        f"| {one.layer} | {one.culprit}/{len(arms[ALL])} | {_rate(one.alone)}"
        f" | {_difference(one.alone)} | {_rate(one.without)} | {_difference(one.without)} |"
        f" {one.silent} |"
        for one in told
    ]
    violated = {arm: sum(row.violated for row in found) for arm, found in arms.items()}
    kept = {arm: sum(row.kept for row in found) for arm, found in arms.items()}
    base = [
        f"{name} layers: {violated[arm]}/{len(arms[arm])} violations, the rule's words in"
        f" {kept[arm]}/{len(arms[arm])} last inputs."
        for name, arm in (("No", NONE), ("All", ALL))
    ]
    return "\n".join([*head, *body, "", *base, named(told)])


def named(told: Sequence[Line]) -> str:
    breaking = [one.layer for one in told if one.alone.verdict == "b is higher"]
    rescuing = [one.layer for one in told if one.without.verdict == "b is lower"]
    took = [f"{one.layer} ({one.culprit})" for one in told if one.culprit]
    return (
        f"Took the rule away: {', '.join(took) or 'no layer'}. Break it alone:"
        f" {', '.join(breaking) or 'none that can be told at this n'}. Rescue it by their absence:"
        f" {', '.join(rescuing) or 'none that can be told at this n'}."
    )


def csv_text(told: Sequence[Line], **facts: Any) -> str:
    return Table.of([{**facts, **_row(one)} for one in told]).csv()


def _row(one: Line) -> dict[str, Any]:
    found: dict[str, Any] = {"layer": one.layer, "took": one.culprit, "silent": one.silent}
    for name, pair in (("alone", one.alone), ("without", one.without)):
        found |= {
            f"{name}_n": pair.n,
            f"{name}_base": pair.both + pair.only_a,
            f"{name}_violations": pair.both + pair.only_b,
            f"{name}_difference": round(pair.difference.estimate, 4),
            f"{name}_lower": "", f"{name}_upper": "",
            f"{name}_p": f"{pair.p_value if pair.adjusted is None else pair.adjusted:.3g}",
        }  # fmt: skip
        if isinstance(pair.difference, Interval):
            found[f"{name}_lower"] = round(pair.difference.lower, 4)
            found[f"{name}_upper"] = round(pair.difference.upper, 4)
    return found


def _rate(pair: Comparison) -> str:
    return f"{pair.both + pair.only_b}/{pair.n}"


def _difference(pair: Comparison) -> str:
    value = 100 * (pair.only_b - pair.only_a) / pair.n
    limits = ""
    if isinstance(pair.difference, Interval):
        limits = f" [{100 * pair.difference.lower:+.0f}, {100 * pair.difference.upper:+.0f}]"
    p_value = pair.p_value if pair.adjusted is None else pair.adjusted
    told = "" if pair.verdict == NOT_DISTINGUISHABLE else f", p = {p_digits(p_value)}"
    return f"{value:+.0f}{limits}{told}"
