"""The generated Markdown: the index of runs, a page per run, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from constraintrot.report import defenses, matrix, table
from constraintrot.report.page import design
from constraintrot.report.page.markdown import escaped
from constraintrot.report.page.primary import DEFAULT
from constraintrot.report.page.view import NOT_MEASURED, Compared, p_text, points, rate_text
from constraintrot.stats.interval import Estimate
from results.tools.claims import REPRODUCTION, Answered
from results.tools.committed import FRAMES, RUNS, Counted, Printed

if TYPE_CHECKING:
    import pandas as pd

MADE = "<!-- Made by `make report` from {}; change that instead. -->"
_VALUES = {
    "violation": "violated", "survived": "policy survived", "mentions": "policy mentioned",
    "utility": "allowed task done", "over_refusal": "declined what is allowed",
}  # fmt: skip
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


def reproduction(answered: Sequence[Answered], left: pd.DataFrame, n: int) -> str:
    """The page of the paper's claims.

    Args:
        answered: the claims with their figures.
        left: the episodes that no claim uses.
        n: number of all episodes.
    """
    agents = sorted({str(name) for name in left["agent"]})
    differences = sum(len(one.compared) for one in answered)
    lines = [
        MADE.format(REPRODUCTION), "", "# The paper's claims, one by one", "",
        "Governance Decay, arXiv 2606.22528, measured seven large served models; what is here was"
        " measured with a small local one, which its makers made to complete code. **A small local"
        " model is not the paper's models.** Where the two differ, the paper is not refuted; where"
        " they agree, it is not confirmed for any model but this one.", "",
        "*same*: our episodes show what the claim says. *different*: they do not, be it that they"
        " show the opposite or that they tell nothing apart. *not measured*: no episode asks it,"
        " with the reason. Figures are k/n with 95 % intervals, computed from the"
        f" {n} episodes under [{FRAMES}]({FRAMES}/); differences are paired, episode by episode, their"
        f" p-values exact. Those of the primary claims, declared in [{DEFAULT}]({DEFAULT}), are adjusted"
        " over all of them (Holm) and the same on every page; the others are exploratory, not adjusted,"
        f" and of {differences} differences on this page some are small by chance. Some of the paper's"
        " figures are missing in the text that we"
        " have, and are not guessed.", "",
        *_loose(("claim", "verdict"), [[_anchor(one), one.claim.verdict] for one in answered]), "",
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
    yield from (line for compared in one.compared for line in (_difference(compared), ""))
    yield from (f"**{claim.verdict.capitalize()}.** {claim.words}", "")


def _rate(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOT_MEASURED
    method = getattr(estimate, "method", "")
    return rate_text(estimate) + (f", {method}" if method else "")


def _difference(one: Compared) -> str:
    what = f"{one.a} → {one.b}"
    if one.comparison is None:
        return f"{what}: not paired ({one.reason})."
    figures = f"{what}: {points(one.comparison.difference)} over {one.comparison.n} pairs"
    if not one.primary or one.comparison.adjusted is None:
        return f"{figures}, {p_text(one.comparison.p_value)} ({one.comparison.test}), not adjusted: exploratory."
    words = {"b is lower": "fewer", "b is higher": "more"}
    verdict = words.get(one.comparison.verdict, one.comparison.verdict)
    p_value = p_text(one.comparison.adjusted)
    return f"{figures}, {p_value} ({one.comparison.test}), adjusted, a primary claim: {verdict}."


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
