"""The generated Markdown: the index of runs, a page per run, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from constraintrot.report import defenses, matrix, table
from constraintrot.report.page import design
from constraintrot.report.page.markdown import escaped
from constraintrot.report.page.primary import DEFAULT, Family
from constraintrot.report.page.view import NOT_MEASURED, p_text, points, rate_text
from constraintrot.stats.interval import Estimate
from results.tools.claim_tests import Tested
from results.tools.claims import REPRODUCTION, Verdict
from results.tools.committed import FRAMES, RUNS, Counted, Printed
from results.tools.verdicts import Answered

if TYPE_CHECKING:
    import pandas as pd

MADE = "<!-- Made by `make report` from {}; change that instead. -->"
_VALUES = {
    "violation": "violated", "survived": "policy survived", "mentions": "policy mentioned",
    "utility": "allowed task done", "over_refusal": "declined what is allowed",
}  # fmt: skip
_SUBJECTS = (
    "The subject is the model with its *scaffold*. `review` is an agent with a checking step, whose"
    " judge was trained to apply rules that it sees, and to nothing about compaction: a design that"
    " obeys most of what is in its context, and not the bare model that the paper measures. This"
    " small model finds rules passage by passage, so length and place play no part; what it refuses"
    " it refuses in a fixed sentence of the scaffold."
    " `deliberate` are mostly older runs, whose agent broke half of the policies in full view; in the"
    " newer one (review-1.5b-deliberate) it broke all, so that nothing could decay."
)
_GROUPED_BY = ("agent", "condition", "attack", "defense", *design.SETTINGS)


def index(runs: Sequence[Counted]) -> str:
    """The runs as a table, and below it how each was made."""
    head = ("run", "when", "episodes", "shows", "does not show", "withdrawn")
    body = [
        [
            f"[{one.run.title}]({one.run.name}.md)", one.run.date, str(len(one.frame)),
            one.run.shows, one.run.does_not_show, one.run.withdrawn,
        ]
        for one in runs
    ]  # fmt: skip
    lines = [*_loose(head, body), ""]
    for one in runs:
        lines += [f"**{one.run.title}**, {one.run.machine}.", "", *_models(one), ""]
        lines += ["```console", one.run.commands.strip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def run_page(one: Counted) -> str:
    """The page of a run: how it was made, what it shows and does not show, and its tables."""
    run = one.run
    rows = [
        ["run on", run.date],
        ["episodes", _size(one)],
        ["frame", ", ".join(f"[{name}]({FRAMES}/{name})" for name in run.files)],
        ["models", "; ".join(f"`{name}`, SHA-256 `{of}`" for name, of in run.models.items())],
        ["machine", run.machine],
        ["versions", ", ".join(f"{name} {version}" for name, version in run.versions.items())],
        ["settings", run.settings],
    ]
    lines = [MADE.format(RUNS), "", f"# {run.title}", "", *_loose(("", ""), rows), ""]
    lines += ["```console", run.commands.strip(), "```", ""]
    lines += [f"**Shows.** {run.shows}", "", f"**Does not show.** {run.does_not_show}", ""]
    lines += [f"**Withdrawn.** {run.withdrawn}", ""] if run.withdrawn else []
    for printed in run.tables:
        title, text = _printed(printed, one.frame)
        lines += [f"## {title}", "", text, ""]
    lines += [run.notes.strip()] if run.notes else []
    return "\n".join(lines).rstrip() + "\n"


def reproduction(
    answered: Sequence[Answered], left: pd.DataFrame, n: int, family: Family, most: int
) -> str:
    """The page of the paper's claims.

    Args:
        answered: the claims with their figures and verdicts.
        left: the episodes that no claim uses.
        n: number of all episodes.
        family: the primary claims, which they are members of.
        most: families of policies that a decided claim has episodes of, at most.
    """
    agents = sorted({str(name) for name in left["agent"]})
    lines = [
        MADE.format(REPRODUCTION), "", "# The paper's claims, one by one", "",
        "Governance Decay, arXiv 2606.22528, measured seven large served models; what is here was"
        " measured with a small local one, which its makers made to complete code. **A small local"
        " model is not the paper's models.** Where the two differ, the paper is not refuted; where"
        " they agree, it is not confirmed for any model but this one.", "",
        f"**Of {len(answered)} claims: {_counts(answered)}.** *Cannot tell* speaks neither for nor"
        f" against a claim. {_of_families(most)}", "",
        *_loose(("claim", "verdict", "why", "scaffold"), [_summary(one) for one in answered]), "",
        _SUBJECTS, "",
        *_bars(family), "",
        f"Figures are k/n with 95 % intervals, computed from the {n} episodes under"
        f" [{FRAMES}]({FRAMES}/); differences are paired, episode by episode, unless it says"
        " otherwise. An episode without a verdict is in no figure. A pair is a variant; several are of one family, so p-values are about further"
        " variants of these families, not about other policies. Some of the paper's figures are"
        " missing in the text that we have, and are not guessed.", "",
    ]  # fmt: skip
    for one in answered:
        lines += _claim(one)
    if len(left):
        which = f" of {', '.join(agents)}" if len(agents) == 1 else ""
        lines += ["## Episodes that no claim rests on", ""]
        lines += [f"{len(left)} episodes{which} are in none of the figures above:", ""]
        lines += [f"- {line}" for line in _groups(left)]
    return "\n".join(lines).rstrip() + "\n"


def _claim(one: Answered) -> Iterator[str]:
    claim = one.claim
    yield from (f"## {claim.title}", "", f"**Claim.** {claim.claim}", "")
    yield from (f"**The paper.** {claim.paper}", "")
    rows = [
        [name, _VALUES[claim.arms[name].value], _rate(estimate)]
        for name, estimate in one.arms.items()
    ]
    yield from (*_loose(("here", "", "k/n, 95 % interval"), rows), "")
    yield from (line for tested in one.tests for line in (_test(tested), ""))
    verdict = one.verdict.capitalize() + (f" ({_reasons(one)})" if one.why else "")
    over = ""
    if one.adjusted is not None and one.adjusted < 1:
        over = f" Adjusted over the primary claims, {p_text(one.adjusted)}."
    yield from (f"**{verdict}.**{over} {claim.words}", "")


def _counts(answered: Sequence[Answered]) -> str:
    verdicts = [one.verdict for one in answered]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in get_args(Verdict))


def _summary(one: Answered) -> list[str]:
    verdict = f"**{one.verdict}**" if one.verdict in ("same", "opposite") else one.verdict
    lacking = [name for name, estimate in one.arms.items() if estimate is None]
    missing = f"no episode of {', '.join(lacking)}" if one.verdict == NOT_MEASURED else ""
    return [_anchor(one), verdict, missing or _reasons(one), ", ".join(one.scaffolds)]


def _reasons(one: Answered) -> str:
    return ", ".join(dict.fromkeys(why.reason for why in one.why))


def _of_families(most: int) -> str:
    if most == 0:
        return "None is decided."
    return (
        f"The decided ones are about further variants of the same policies: each has episodes of {most}"
        f" families at most, and taken by families {most} that all agree have p = {2 ** (1 - most):.2g}"
        " before any adjustment."
    )


def _bars(family: Family) -> Iterator[str]:
    """What each verdict takes."""
    points_ = f"{100 * family.declared.margin:.0f} points"
    yield from (
        "- *same*: every test says what the claim expects, and could have said otherwise. A claim of"
        " no difference takes as much as one of a difference: the interval has to lie within"
        f' {points_} of 0 (an equivalence test; "not higher" and "not lower" are one side of it).',
        "- *opposite*: a test says the contrary: the other direction, a difference of more than"
        f" {points_} where none is claimed, or one of less than {points_} where one is claimed.",
        "- *cannot tell*: neither. *ceiling*, *floor*: what is compared with is so close to 100 or 0 %"
        " that no more or no less could show. *n*: too few pairs, or too few that differ."
        " *degenerate*: a counterfactual that had nothing to take out. *no control*: nobody asked"
        " what happens without the treatment. *silence*: it depends on what the episodes without a"
        " readable call, or without a verdict, would have done; a verdict has to hold whichever way"
        " they are counted."
        " *premise*: what the claim presupposes is not so of this subject, so that its tests,"
        " whatever they say, are of something else.",
        "- *not measured*: no episode asks it.",
        "",
        "Each claim has one p-value: for *same* the largest of its tests', since all have to hold,"
        " for *opposite* the smallest times their number. It is adjusted (Holm) over the"
        f" {family.size} claims of [primary.yaml]({DEFAULT}), those of the [report](report/report.md)"
        " among them, so that a comparison has one adjusted p on both pages. A single difference"
        " that is no claim of its own is *exploratory*: its p is not adjusted, and decides nothing"
        " by itself.",
    )


def _rate(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOT_MEASURED
    method = getattr(estimate, "method", "")
    return rate_text(estimate) + (f", {method}" if method else "")


def _test(tested: Tested) -> str:
    """A test's arms, what is expected, the difference, and what it says."""
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
    """The pairs of a test, and the p-value of its comparison as the report has it."""
    comparison = None if tested.compared is None else tested.compared.comparison
    if comparison is None:
        return "unpaired"
    p_value, kind = comparison.adjusted, "adjusted"
    if p_value is None:
        p_value, kind = comparison.p_value, "exploratory, not adjusted"
    return f"{comparison.n} pairs, {p_text(p_value)} {kind} ({comparison.test})"


def _printed(printed: Printed, frame: pd.DataFrame) -> tuple[str, str]:
    if printed.matrix is not None:
        row, column = printed.matrix
        return f"{row.capitalize()} against {column}", matrix.text(frame, row, column)
    by = f" by {', '.join(printed.by)}" if printed.by else ""
    if printed.defenses:
        return f"Defenses{by}", defenses.text(frame, printed.by)
    return f"Conditions{by}", table.text(frame, printed.by)


def _size(one: Counted) -> str:
    policies = one.frame["family"].nunique()
    return f"{len(one.frame)}, of {one.variants} variants of {policies} policies"


def _models(one: Counted) -> Iterator[str]:
    for name, digest in one.run.models.items():
        yield f"- `{name}`, SHA-256 `{digest}`"


def _anchor(one: Answered) -> str:
    kept = "".join(c for c in one.claim.title.lower() if c.isalnum() or c in " -_")
    return f"[{one.claim.title}](#{kept.replace(' ', '-')})"


def _groups(left: pd.DataFrame) -> Iterator[str]:
    """The number of episodes by the facts in which they differ, as lines of text."""
    differing = [name for name in _GROUPED_BY if left[name].nunique(dropna=False) > 1]
    if not differing:
        return
    for values, group in left.groupby(differing, dropna=False, sort=True):
        facts = (f"{name} {value}" for name, value in zip(differing, values, strict=True))
        yield escaped(f"{len(group)}: {', '.join(facts)}")


def _loose(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """A pipe table without padding, so that a long cell does not lengthen the other lines."""
    ruled = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(' '.join(cell.split()) for cell in line)} |" for line in ruled]
