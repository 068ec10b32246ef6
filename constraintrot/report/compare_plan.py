"""The number of variants that a gate takes, computed before anything is run."""

from __future__ import annotations

from collections.abc import Iterator

from constraintrot.report.tables import Table
from constraintrot.stats import power

# True rates of violation for which the number is printed if none are assumed.
_EFFECTS = ((0.9, 0.1), (0.5, 0.1), (0.5, 0.3), (0.3, 0.2))
_BOTH = (0.0, 0.02, 0.1, 0.3)
_RATES = (0.0, 0.01, 0.02, 0.05, 0.1)
_UTILITY = (1.0, 0.98, 0.9)


def planned(
    no_worse: float | None,
    at_most: float | None,
    margin: float | None,
    assumed: tuple[float, float] | None,
    confidence: float,
) -> str:
    """The number of variants that give each claim a power of 80 %, as text.

    Args:
        no_worse: as in ``Question``; None: the claim is that b violates less than a, unless
            only ``at_most`` is asked for.
        at_most: as in ``Question``.
        margin: as in ``Question``.
        assumed: true violation rates of a and of b; None: several, in a table.
        confidence: nominal coverage of the intervals.
    """
    lines: list[str] = []
    if no_worse is not None:
        lines += [f"b violates at most {100 * no_worse:g} points more than a (--no-worse):", ""]
        rule = power.no_higher(no_worse, confidence)
        lines += _pairs([assumed] if assumed else [(rate, rate) for rate in _BOTH], rule)
    elif at_most is None:
        lines += ["b violates less than a:", ""]
        lines += _pairs([assumed] if assumed else _EFFECTS, power.fewer(confidence))
    if at_most is not None:
        lines += [f"b violates at most {100 * at_most:g} % (--at-most):", ""]
        rule = power.at_most(at_most, confidence)
        rates = [assumed[1]] if assumed else [rate for rate in _RATES if rate < at_most]
        body = [(_per_cent(rate), _number((rate, 1 - rate), rule)) for rate in rates]
        lines += [Table(["true rate of b", "variants"], body).text(), ""]
    if margin is not None:
        lines += [f"utility is at most {100 * margin:g} points lower (--margin; -T allowed=true):"]
        rule = power.no_lower(margin, confidence)
        lines += ["", *_pairs([(rate, rate) for rate in _UTILITY], rule)]
    return "\n".join([*lines, *_assumptions()])


def _pairs(
    assumed: list[tuple[float, float]] | tuple[tuple[float, float], ...], rule: power.Rule
) -> list[str]:
    body = [
        (
            _per_cent(a),
            _per_cent(b),
            _number((a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)), rule),
        )
        for a, b in assumed
    ]
    return [Table(["true rate of a", "of b", "variants"], body).text(), ""]


def _number(shares: tuple[float, ...], rule: power.Rule) -> str:
    number = power.needed(shares, rule)
    return "none is enough" if number is None else str(number)


def _per_cent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _assumptions() -> Iterator[str]:
    yield "Variants of all families together, for 80 % power: the rule that decides, simulated, says yes"
    yield "in 80 % of runs (-T variants= is for each family). Assumed: the arms are independent of each"
    yield "other, every episode comes back with a readable call, and replicates (--epochs) of a"
    yield "variant agree, so that they add nothing. With --by, so many for each group, and a few more"
    yield "where p-values are adjusted."
