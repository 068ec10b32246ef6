"""An answer of ``report.compare`` for a terminal, as plain data, and as JUnit XML.

Names of models and tasks come from logs and are untrusted: control characters and
marks of writing direction are escaped.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree

from constraintrot.report.compare import Answer, Finding, points
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.paired import Comparison
from constraintrot.stats.power import Power
from constraintrot.stats.rate import shown

_LONGEST = 500


def plain(text: str) -> str:
    """One line of printable characters: others are escaped, and a text too long is cut."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def text(answer: Answer) -> str:
    """The answer as text for a terminal."""
    question = answer.question
    lines = [f"{arm}: {_facts(facts)}" for arm, facts in question.arms.items()]
    for finding in answer.findings:
        lines += ["", *_block(finding, question.margin)]
    if answer.notes:
        lines += ["", *(f"! {note}." for note in answer.notes)]
    lines += ["", f"{answer.decision.upper()}: {reason(answer)}"]
    return "\n".join(plain(line) for line in lines)


def reason(answer: Answer) -> str:
    """The reason of the decision, in one sentence."""
    deciding = [one for one in answer.findings if one.decision == answer.decision]
    if len(deciding) == 1 or (answer.decision == "holds" and not answer.question.by):
        return "; ".join(one.reason for one in deciding)
    judged = sum(one.decision is not None for one in answer.findings)
    return f"{answer.decision} in {len(deciding)} of {judged} comparisons"


def summary(answer: Answer) -> dict[str, Any]:
    """The answer as plain data; a missing interval is null, with the reason next to it."""
    question = answer.question
    return {
        "constraintrot": version("constraintrot"),
        "decision": answer.decision,
        "exit": answer.exit,
        "a": dict(question.a),
        "b": dict(question.b),
        "by": list(question.by),
        "margin": question.margin,
        "confidence": question.confidence,
        "seed": question.seed,
        "comparisons": [_data(finding, question.margin) for finding in answer.findings],
        "notes": list(answer.notes),
    }


def junit(answer: Answer) -> str:
    """The answer as a JUnit test suite: "does not hold" is a failure, "undecided" an error."""
    judged = [one for one in answer.findings if one.decision is not None]
    suite = ElementTree.Element("testsuite", name="constraintrot compare", tests=str(len(judged)))
    for tag, decision in (("failures", "does not hold"), ("errors", "undecided")):
        suite.set(tag, str(sum(one.decision == decision for one in judged)))
    for finding in judged:
        name = ", ".join([finding.value, *_group(finding)])
        arms = " against ".join(_facts(facts) for facts in answer.question.arms.values())
        case = ElementTree.SubElement(suite, "testcase", name=plain(name), classname=plain(arms))
        details = "\n".join(plain(line) for line in _block(finding, answer.question.margin))
        if finding.decision == "holds":
            ElementTree.SubElement(case, "system-out").text = details
            continue
        tag = "failure" if finding.decision == "does not hold" else "error"
        message = plain(finding.reason)
        problem = ElementTree.SubElement(case, tag, type=str(finding.decision), message=message)
        problem.text = details
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _facts(facts: Any) -> str:
    return ", ".join(f"{fact}={value}" for fact, value in facts.items())


def _group(finding: Finding) -> list[str]:
    return [f"{fact}={value}" for fact, value in finding.group.items()]


def _block(finding: Finding, margin: float | None) -> list[str]:
    comparison = finding.comparison
    head = ", ".join([finding.value, *_group(finding)])
    if comparison is None:
        return [f"{head}: nothing to compare", _line("verdict", _verdict(finding))]
    pairs = f"{comparison.n} pairs of {comparison.clusters} variants"
    lines = [f"{head}: {pairs}", _line("a", shown(comparison.a)), _line("b", shown(comparison.b))]
    lines.append(_line("b - a", _difference(comparison.difference)))
    if not isinstance(comparison.bootstrap, Interval):
        lines.append(_line("bootstrap", f"none: {comparison.bootstrap.reason}"))
    lines.append(
        _line(
            "pairs",
            f"a only {comparison.only_a}, b only {comparison.only_b}, both {comparison.both},"
            f" neither {comparison.neither}",
        )
    )
    lines.append(_line("p", _test(comparison)))
    if finding.power is not None:
        lines.append(_line("power", _power(finding.power)))
    if finding.value == "utility" and finding.decision == "undecided" and margin is not None:
        lines.append(_line("needed", _enough(finding, margin)))
    if finding.bounds is not None and finding.bounds.unknown:
        lower, upper = (100 * limit for limit in (finding.bounds.lower, finding.bounds.upper))
        lines.append(
            _line("silence", f"b - a from {lower:+.1f} to {upper:+.1f} points, whatever it hid")
        )
    return [*lines, _line("verdict", _verdict(finding))]


def _line(name: str, value: str) -> str:
    return f"  {name:<10}{value}"


def _verdict(finding: Finding) -> str:
    return f"{finding.decision}: {finding.reason}" if finding.decision else finding.reason


def _difference(estimate: Estimate) -> str:
    if isinstance(estimate, Interval):
        return f"{points(estimate)} ({estimate.method})"
    return f"{100 * estimate.estimate:+.1f} points, no interval: {estimate.reason}"


def _test(comparison: Comparison) -> str:
    p_value = f"{comparison.p_value:.2g} ({comparison.test})"
    if comparison.adjusted is None:
        return p_value
    return f"{p_value}; {comparison.adjusted:.2g} by Holm over all comparisons"


def _power(power: Power) -> str:
    at = f"{100 * power.power:.0f} % power"
    if power.detectable is None:
        text = f"{power.n} pairs with so few discordant ones find no difference ({at})"
    else:
        text = f"{power.n} pairs find {100 * power.detectable:.1f} points or more ({at})"
    if power.needed is None:
        return f"{text}; none is seen"
    return f"{text}; the one seen takes {power.needed}, so {power.more} more"


def _enough(finding: Finding, margin: float) -> str:
    enough = finding.enough(margin)
    if enough is None:
        return "at these rates no number of pairs shows that the margin is kept"
    return f"at these rates {enough} pairs show that the margin is kept"


def _data(finding: Finding, margin: float | None) -> dict[str, Any]:
    comparison, power = finding.comparison, finding.power
    data: dict[str, Any] = {
        "value": finding.value,
        "group": dict(finding.group),
        "decision": finding.decision,
        "reason": finding.reason,
    }
    if comparison is None or power is None:
        return data
    for name in ("a", "b", "difference", "bootstrap"):
        estimate: Estimate = getattr(comparison, name)
        data |= {name: estimate.summary(), f"{name}_reason": estimate.reason}
    bounds = finding.bounds
    return data | {
        "pairs": comparison.n,
        "clusters": comparison.clusters,
        "both": comparison.both,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "neither": comparison.neither,
        "p_value": comparison.p_value,
        "p_holm": comparison.adjusted,
        "test": comparison.test,
        "power": power.power,
        "detectable": power.detectable,
        "pairs_needed": power.needed,
        "pairs_more": power.more,
        "pairs_for_margin": None if margin is None else finding.enough(margin),
        "unpaired": dict(finding.unpaired or {}),
        "unscored": finding.unscored,
        "silent": None if finding.silent is None else dict(finding.silent),
        "bounds": None if bounds is None else {"lower": bounds.lower, "upper": bounds.upper},
    }
