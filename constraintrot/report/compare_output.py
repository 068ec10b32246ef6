"""An answer of ``report.compare`` for a terminal, as plain data, and as JUnit XML.

Names of models and tasks come from logs and are untrusted: control characters and
marks of writing direction are escaped.
"""

from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree

from constraintrot.report.compare import Answer
from constraintrot.report.compare_claims import Finding
from constraintrot.report.compare_outcomes import Outcomes
from constraintrot.report.compare_question import Question
from constraintrot.stats.exact import p_digits
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.paired import Comparison
from constraintrot.stats.power import MOST, Power
from constraintrot.stats.rate import shown

_LONGEST = 500
STRICT = "--strict takes notes for failures"


def plain(text: str) -> str:
    """Return one line with other than printable characters escaped; a long text is cut."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def text(answer: Answer) -> str:
    question = answer.question
    lines = [f"{arm}: {_facts(facts)}" for arm, facts in question.arms.items()]
    for finding in answer.findings:
        lines += ["", *_block(finding, question)]
    if answer.notes:
        lines += ["", *(f"! {note}." for note in answer.notes)]
    lines += ["", f"{answer.decision.upper()}: {reason(answer)}"]
    return "\n".join(plain(line) for line in lines)


def reason(answer: Answer) -> str:
    deciding = [one for one in answer.findings if one.decision == answer.decision]
    if answer.refused and not deciding:
        return f"{STRICT}: {len(answer.notes)} of them"
    if len(deciding) == 1 or (answer.decision == "holds" and not answer.question.by):
        return "; ".join(one.reason for one in deciding)
    judged = sum(one.decision is not None for one in answer.findings)
    return f"{answer.decision} in {len(deciding)} of {judged} comparisons"


def summary(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data; a missing interval is null, with the reason next to it."""
    question = answer.question
    return {
        "constraintrot": version("constraintrot"),
        "decision": answer.decision,
        "exit": answer.exit,
        "reason": reason(answer),
        "a": None if question.a is None else dict(question.a),
        "b": dict(question.b),
        "by": list(question.by),
        "margin": question.margin,
        "no_worse": question.no_worse,
        "at_most": question.at_most,
        "missing_accepted": question.missing,
        "utility_floor": question.floor,
        "strict": question.strict,
        "confidence": question.confidence,
        "seed": question.seed,
        "comparisons": [_data(finding, question) for finding in answer.findings],
        "notes": list(answer.notes),
    }


def junit(answer: Answer) -> str:
    """Return the answer as a JUnit suite: "does not hold" is a failure, "undecided" an error.

    Notes are the suite's output; for a strict question they are a failed test too.
    """
    judged = [one for one in answer.findings if one.decision is not None]
    tests = len(judged) + answer.question.strict
    suite = ElementTree.Element("testsuite", name="constraintrot compare", tests=str(tests))
    failures = sum(one.decision == "does not hold" for one in judged) + answer.refused
    errors = sum(one.decision == "undecided" for one in judged)
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    arms = plain(" against ".join(_facts(facts) for facts in answer.question.arms.values()))
    for finding in judged:
        name = plain(", ".join([finding.value, *_group(finding)]))
        case = ElementTree.SubElement(suite, "testcase", name=name, classname=arms)
        details = "\n".join(plain(line) for line in _block(finding, answer.question))
        _outcome(case, str(finding.decision), finding.reason, details)
    notes = "\n".join(plain(note) for note in answer.notes)
    if answer.question.strict:
        case = ElementTree.SubElement(suite, "testcase", name="notes", classname=arms)
        _outcome(case, "does not hold" if answer.refused else "holds", STRICT, notes)
    if notes:
        ElementTree.SubElement(suite, "system-out").text = notes
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def points(interval: Interval) -> str:
    """Return a difference of rates as text, in percentage points."""
    limits = f"[{100 * interval.lower:+.1f}, {100 * interval.upper:+.1f}]"
    return f"{100 * interval.estimate:+.1f} points {limits}"


def _outcome(case: ElementTree.Element, decision: str, reason: str, details: str) -> None:
    if decision == "holds":
        ElementTree.SubElement(case, "system-out").text = details
        return
    tag = "failure" if decision == "does not hold" else "error"
    problem = ElementTree.SubElement(case, tag, type=decision, message=plain(reason))
    problem.text = details


def _facts(facts: Any) -> str:
    return ", ".join(f"{fact}={value}" for fact, value in facts.items())


def _group(finding: Finding) -> list[str]:
    # Two claims can be about the same score of the same episodes.
    claim = ["at most"] if finding.claim == "at most" else []
    return [*claim, *(f"{fact}={value}" for fact, value in finding.group.items())]


def _block(finding: Finding, question: Question) -> list[str]:
    head = ", ".join([finding.value, *_group(finding)])
    told = f"{finding.decision}: {finding.reason}" if finding.decision else finding.reason
    verdict = _line("verdict", told)
    if finding.outcomes is None:
        return [f"{head}: nothing to compare", verdict]
    if finding.rates is not None:
        lines = [f"{head}: {finding.outcomes.n} episodes", *_rates(finding, finding.outcomes)]
    else:
        lines = _pairs(head, finding, finding.outcomes)
    if finding.decision == "undecided" and finding.claim != "fewer":
        lines.append(_line("needed", _enough(finding, question.limit(finding.claim))))
    return [*lines, verdict]


def _rates(finding: Finding, outcomes: Outcomes) -> list[str]:
    assert finding.rates is not None, "asked of rates only"
    seen, worst, best = finding.rates
    lines = [_line("b", shown(seen))]
    if outcomes.unknown:
        lines.append(_line("unknown", f"{_unknown(outcomes)}: at worst {worst}, at best {best}"))
    return lines


def _pairs(head: str, finding: Finding, outcomes: Outcomes) -> list[str]:
    assert finding.pairs is not None, "asked of pairs only"
    comparison, at_worst, at_best = finding.pairs
    pairs = f"{comparison.n} pairs of {comparison.clusters} requests"
    lines = [f"{head}: {pairs}", _line("a", shown(comparison.a)), _line("b", shown(comparison.b))]
    lines.append(_line("b - a", _difference(comparison.difference)))
    cells = (
        f"a only {comparison.only_a}, b only {comparison.only_b}, both {comparison.both},"
        f" neither {comparison.neither}"
    )
    lines += [_line("pairs", cells), _line("p", _test(comparison))]
    if finding.claim == "fewer" and finding.power is not None:
        lines.append(_line("power", _power(finding.power, finding.comparisons)))
    if outcomes.unknown:
        worst = f"{_difference(at_worst.difference)}, p {_test(at_worst)}"
        lines.append(_line("unknown", _unknown(outcomes)))
        lines.append(_line("at worst", worst))
        lines.append(_line("at best", _difference(at_best.difference)))
    return lines


def _unknown(outcomes: Outcomes) -> str:
    parts: list[str] = []
    for arm, codes in outcomes.codes.items():
        unknown = int((codes > 1).sum())
        if unknown:
            silent = outcomes.silent(arm)
            parts.append(
                f"{unknown} of {arm} ({silent} silent, {unknown - silent} without verdict)"
            )
    return ", ".join(parts)


def _line(name: str, value: str) -> str:
    return f"  {name:<10}{value}"


def _difference(estimate: Estimate) -> str:
    if isinstance(estimate, Interval):
        return f"{points(estimate)} ({estimate.method})"
    return f"{100 * estimate.estimate:+.1f} points, no interval: {estimate.reason}"


def _test(comparison: Comparison) -> str:
    p_value = f"{p_digits(comparison.p_value)} ({comparison.test})"
    if comparison.adjusted is None:
        return p_value
    return f"{p_value}; {p_digits(comparison.adjusted)} by Holm over all comparisons"


def _power(power: Power, comparisons: int) -> str:
    among = f", one of {comparisons} comparisons" if comparisons > 1 else ""
    if power.detectable is None:
        text = f"{power.n} variants are too few for any difference"
    else:
        text = (
            f"{power.n} variants find, with 80 % power, that {100 * power.detectable:.0f} % violate"
            " in one arm only"
        )
    text += f" (simulated: no pair differs the other way, and replicates agree{among})"
    if power.needed is None:
        return text
    more = f"{power.more} more than these" if power.more else "no more than these"
    return f"{text}. The difference that was seen takes {power.needed} variants, {more}"


def _enough(finding: Finding, limit: float) -> str:
    enough = finding.enough(limit)
    if enough is None:
        return f"at these rates no number of variants up to {MOST:,} shows that the limit is kept"
    return f"at these rates {enough} variants show, with 80 % power, that the limit is kept"


def _data(finding: Finding, question: Question) -> dict[str, Any]:
    outcomes = finding.outcomes
    data: dict[str, Any] = {
        "value": finding.value,
        "claim": finding.claim,
        "group": dict(finding.group),
        "decision": finding.decision,
        "reason": finding.reason,
    }
    if outcomes is None:
        return data
    limit = question.limit(finding.claim)
    data |= {
        "unpaired": dict(outcomes.unpaired),
        "unscored": outcomes.unscored,
        "silent": {arm: outcomes.silent(arm) for arm in outcomes.codes},
        "planned": dict(outcomes.planned),
        "missing": dict(outcomes.missing),
        "contrary": [vars(group) for group in finding.contrary],
        "variants_for_limit": finding.enough(limit) if limit else None,
    }
    if finding.rates is not None:
        for name, estimate in zip(("b", "worst", "best"), finding.rates, strict=True):
            data |= {name: estimate.summary(), f"{name}_reason": estimate.reason}
    return data | _compared(finding)


def _compared(finding: Finding) -> dict[str, Any]:
    power = finding.power
    if finding.pairs is None or power is None:
        return {}
    comparison, worst, best = finding.pairs
    estimates: dict[str, Estimate] = {
        name: getattr(comparison, name) for name in ("a", "b", "difference", "bootstrap")
    }
    estimates |= {"worst": worst.difference, "best": best.difference}
    data: dict[str, Any] = {}
    for name, estimate in estimates.items():
        data |= {name: estimate.summary(), f"{name}_reason": estimate.reason}
    lower, upper = sorted(one.difference.estimate for one in (worst, best))
    counts = ("both", "only_a", "only_b", "neither", "clusters", "p_value", "test")
    return (
        data
        | {name: getattr(comparison, name) for name in counts}
        | {
            "pairs": comparison.n,
            "p_holm": comparison.adjusted,
            "p_worst": worst.p_value,
            "power": power.power,
            "detectable": power.detectable,
            "variants_needed": power.needed,
            "variants_more": power.more,
            "bounds": {"lower": lower, "upper": upper},
        }
    )
