"""The page of claims, in Markdown: figures, verdicts and reasons."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import pandas as pd

from constraintrot.report.claims import qualified, verdicts
from constraintrot.report.claims.declared import Claim, Verdict
from constraintrot.report.claims.tested import Tested
from constraintrot.report.claims.verdicts import Answered
from constraintrot.report.page import design
from constraintrot.report.page.markdown import escaped
from constraintrot.report.page.primary import Family
from constraintrot.report.page.qualified import UNKNOWN, note
from constraintrot.report.page.view import NOT_MEASURED, p_text, points, rate_text
from constraintrot.report.qualification import Qualification, table
from constraintrot.report.qualified import Level
from constraintrot.report.tables import Table
from constraintrot.stats.interval import Estimate

VALUES = {
    "violation": "violated", "survived": "policy survived", "mentions": "policy mentioned",
    "utility": "allowed task done", "over_refusal": "declined what is allowed",
}  # fmt: skip
_GROUPED_BY = ("agent", "condition", "attack", "defense", *design.SETTINGS)


SHOWN_OF_REVIEW = (
    "What was shown: a summarizer that was not asked for rules drops them, and a reviewing agent"
    " that finds no rule in its context does what it is asked."
)
"""The first sentence of a page on the scaffold ``review`` whose summaries lost the policy."""


@dataclass(frozen=True)
class Words:
    """The publisher's text on a page, in Markdown.

    Attributes:
        opening: the title and the paragraphs below it.
        subjects: description of the subjects, below the table of verdicts.
        counted: description of the episodes that the figures are computed from.
        adjusted: the comparisons of the adjustment, after "(Holm) over".
        by_construction: by title, why a claim's verdict is about the design and not the agent.
        by_survival: by title, a note that the verdict follows from survival.
        level: the families of the claims, as in ``report.qualified.usable``.
    """

    opening: Sequence[str]
    subjects: str
    counted: str
    adjusted: str
    by_construction: Mapping[str, str] = field(default_factory=dict[str, str])
    by_survival: Mapping[str, str] = field(default_factory=dict[str, str])
    level: Level = qualified.LEVEL


def markdown(
    answered: Sequence[Answered],
    frame: pd.DataFrame,
    family: Family,
    qualifications: Sequence[Qualification],
    words: Words,
) -> str:
    """Return the page of claims that were tested on a frame and belong to a family.

    Without qualifications of the subjects the page says so.
    """
    episodes = {one.claim.title: frame.loc[sorted(one.rows)] for one in answered}
    qualified.check(qualifications, episodes, words.level)
    decided = [episodes[one.claim.title] for one in answered if one.verdict in ("same", "opposite")]
    most = max((part["family"].nunique() for part in decided), default=0)
    lines = [
        *words.opening, "",
        f"**Of {len(answered)} claims: {counted(answered)}.** *Cannot tell* speaks neither for nor"
        f" against a claim. {_of_families(most)}", "",
        Table(
            ("claim", "verdict", "why", "scaffold"), [_summary(one, words) for one in answered]
        ).markdown(), "",
        words.subjects, "",
        *legend(family, words.adjusted), "",
        f"Figures are k/n with 95 % intervals, computed from {words.counted}; differences are"
        " paired, episode by episode, unless it says"
        " otherwise. An episode without a verdict is in no figure. A pair is a variant; several are of one family, so p-values are about further"
        " variants of these families, not about other policies. Some of the paper's figures are"
        " missing in the text that we have, and are not guessed. *Compressed to* is the median of the"
        " tokens after an episode's last compaction over those before it. *Silent* are the planned"
        " episodes of an arm that neither called a tool readably nor refused, or have no verdict.", "",
        *_who(qualifications, words.level), "",
    ]  # fmt: skip
    for one in answered:
        beside = qualified.beside(qualifications, episodes[one.claim.title], words.level)
        title = one.claim.title
        why = {
            "By construction": words.by_construction.get(title, ""),
            "By survival": words.by_survival.get(title, ""),
        }
        lines += _claim(one, beside if qualifications else "", why)
    lines += _unused(verdicts.unused(answered, frame))
    return "\n".join(lines).rstrip() + "\n"


def _who(qualifications: Sequence[Qualification], level: Level) -> list[str]:
    if not qualifications:
        return [f"**Who qualifies.** {UNKNOWN}"]
    tables = [f"{table(one)}\n\n{note(one, level)}" for one in qualifications]
    return ["## Who qualifies", "", "\n\n".join(tables)]


def _unused(left: pd.DataFrame) -> list[str]:
    if left.empty:
        return []
    agents = sorted({str(name) for name in left["agent"]})
    which = f" of {', '.join(agents)}" if len(agents) == 1 else ""
    lines = ["## Episodes that no claim rests on", ""]
    lines += [f"{len(left)} episodes{which} are in none of the figures above:", ""]
    return lines + [f"- {line}" for line in _groups(left)]


def _claim(one: Answered, beside: str, by: Mapping[str, str]) -> Iterator[str]:
    claim = one.claim
    yield from (f"## {claim.title}", "")
    if beside:
        yield from (f"**Who qualifies.** {beside}", "")
    yield from (f"**Claim.** {claim.claim}", "")
    yield from (f"**The paper.** {claim.paper}", "")
    rows = [
        [
            name, VALUES[claim.arms[name].value], _rate(estimate), str(one.silent.get(name, 0)),
            compressed(one.compression[name]),
        ]
        for name, estimate in one.arms.items()
    ]  # fmt: skip
    heads = ("here", "", "k/n, 95 % interval", "silent", "compressed to")
    yield from (Table(heads, rows).markdown(), "")
    yield from (line for tested in one.tests for line in (test_line(tested), ""))
    verdict = one.verdict.capitalize() + (f" ({reasons(one)})" if one.why else "")
    over = ""
    if one.adjusted is not None and one.adjusted < 1:
        over = f" Adjusted over the primary claims, {p_text(one.adjusted)}."
        if claim.looks > 1:
            over = f"{over[:-1]}, for {claim.looks} looks at its pairs."
    yield from (f"**{verdict}.**{over} {claim.words}".rstrip(), "")
    for name, text in by.items():
        if text:
            yield from (f"**{name}.** {text}", "")
    if claim.history:
        yield from (f"**Before.** {' '.join(_earlier(claim))}", "")


def _earlier(claim: Claim) -> Iterator[str]:
    for then in claim.history:
        yield f"*{then.verdict}* until {then.until}: {then.because}"


def counted(answered: Sequence[Answered]) -> str:
    """Return how many claims have each verdict: ``3 same, 0 opposite, ...``."""
    verdicts = [one.verdict for one in answered]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in get_args(Verdict))


def _summary(one: Answered, words: Words) -> list[str]:
    verdict = f"**{one.verdict}**" if one.verdict in ("same", "opposite") else one.verdict
    return [_anchor(one), verdict, why(one, words.by_construction), ", ".join(one.scaffolds)]


def why(one: Answered, by_construction: Container[str] = ()) -> str:
    """Return the reasons for a claim's verdict, or what no episode was played of."""
    lacking = [name for name, estimate in one.arms.items() if estimate is None]
    if one.verdict == NOT_MEASURED and lacking:
        return f"no episode of {', '.join(lacking)}"
    return reasons(one, by_construction)


def reasons(one: Answered, by_construction: Container[str] = ()) -> str:
    """Return the kinds of reasons for a claim's verdict."""
    design_ = ["by construction"] if one.claim.title in by_construction else []
    return ", ".join(dict.fromkeys([*(why.reason for why in one.why), *design_]))


def _of_families(most: int) -> str:
    if most == 0:
        return "None is decided."
    return (
        f"The decided ones are about further variants of the same policies: each has episodes of {most}"
        f" families at most, and taken by families {most} that all agree have p = {2 ** (1 - most):.2g}"
        " before any adjustment."
    )


def legend(family: Family, adjusted: str) -> Iterator[str]:
    """Yield what the verdicts and their reasons mean, as lines of Markdown."""
    points_ = f"{100 * family.declared.margin:.0f} points"
    yield from (
        "- *same*: every test says what the claim expects, and could have said otherwise. A claim of"
        " no difference takes as much as one of a difference: the interval has to lie within"
        f' {points_} of 0 (an equivalence test; "not higher" and "not lower" are one side of it).',
        "- *opposite*: a test says the contrary: the other direction, a difference of more than"
        f" {points_} where none is claimed, or one of less than {points_} where one is claimed and"
        " none is shown.",
        "- *cannot tell*: neither. *ceiling*, *floor*: what is compared with is so close to 100 or 0 %"
        " that no more or no less could show. *n*: too few pairs, or too few that differ."
        " *degenerate*: a counterfactual that had nothing to take out. *no control*: nobody asked"
        " what happens without the treatment. *silence*: it depends on episodes without a readable"
        " call, without a verdict, or of which no reader could tell whether the policy survived; a"
        " verdict has to hold whichever way they are counted."
        " *premise*: what the claim presupposes is not so of this subject, so that its tests,"
        " whatever they say, are of something else. *withdrawn*: a fault of the test was found later.",
        "- *not measured*: no episode asks it.",
        "",
        "Each claim has one p-value: for *same* the largest of its tests', since all have to hold,"
        f" for *opposite* the smallest times their number. It is adjusted (Holm) over {adjusted}."
        " A single difference"
        " that is no claim of its own is *exploratory*: its p is not adjusted, and decides nothing"
        " by itself.",
    )


def compressed(ratio: float | None) -> str:
    """Return the median length after the last compaction, as a share of the length before it."""
    return "-" if ratio is None else f"{100 * ratio:.1f} %"


def _rate(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOT_MEASURED
    method = getattr(estimate, "method", "")
    return rate_text(estimate) + (f", {method}" if method else "")


def test_line(tested: Tested) -> str:
    test, decided = tested.test, tested.decided
    expected = f"{test.a} → {test.b}, expected {test.b_is}"
    because = "; ".join(f"{why.reason}: {why.words}" for why in tested.why)
    if decided is None:
        return f"{expected}: cannot tell ({because})."
    says = "as expected" if decided.p_same <= decided.p_opposite else "the contrary"
    return (
        f"{expected}: {points(decided.difference)}, {_p(tested)}:"
        f" {f'cannot tell ({because})' if because else says}."
    )


def _p(tested: Tested) -> str:
    comparison = None if tested.compared is None else tested.compared.comparison
    if comparison is None:
        return "unpaired"
    p_value, kind = comparison.adjusted, "adjusted"
    if p_value is None:
        p_value, kind = comparison.p_value, "exploratory, not adjusted"
    told = f"{comparison.n} pairs of {comparison.clusters} requests, {p_text(p_value)} {kind} ({comparison.test})"
    by = [
        f"by {unit} ({one.clusters}), {p_text(one.p_value)}" for unit, one in tested.by_unit.items()
    ]
    return "; ".join([told, *by])


def _anchor(one: Answered) -> str:
    kept = "".join(c for c in one.claim.title.lower() if c.isalnum() or c in " -_")
    return f"[{one.claim.title}](#{kept.replace(' ', '-')})"


def _groups(left: pd.DataFrame) -> Iterator[str]:
    differing = [name for name in _GROUPED_BY if left[name].nunique(dropna=False) > 1]
    if not differing:
        return
    for values, group in left.groupby(differing, dropna=False, sort=True):
        facts = (f"{name} {value}" for name, value in zip(differing, values, strict=True))
        yield escaped(f"{len(group)}: {', '.join(facts)}")
