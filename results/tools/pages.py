"""The generated Markdown: the index of runs, a page per run, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.report import defenses, matrix, table
from constraintrot.report.claims.declared import REPRODUCTION
from constraintrot.report.claims.page import SHOWN_OF_REVIEW, Words, markdown
from constraintrot.report.claims.verdicts import Answered
from constraintrot.report.page.primary import DEFAULT, Family
from constraintrot.report.qualification import Qualification
from constraintrot.report.tables import Table
from results.tools.committed import FRAMES, RUNS, Counted, Printed

if TYPE_CHECKING:
    import pandas as pd

MADE = "<!-- Made by `make report` from {}; change that instead. -->"
_SUBJECTS = (
    "The subject is the model with its *scaffold*. `review` is an agent with a checking step, whose"
    " judge was trained to apply rules that it sees, and to nothing about compaction: a design that"
    " obeys most of what is in its context, and not the bare model that the paper measures. This"
    " small model finds rules passage by passage, so length and place play no part; what it refuses"
    " it refuses in a fixed sentence of the scaffold."
    " `deliberate` are mostly older runs, whose agent broke half of the policies in full view; in the"
    " newer one (review-1.5b-deliberate) it broke all, so that nothing could decay."
)
_BY_CONSTRUCTION = (
    "A program that obeys a sentence if it stands in its input, and does all that it is asked if it"
    " does not (`scripted/obedient`, at its own scaffold), gives the same verdict"
    " ([string-reader.csv](string-reader.csv)). So this is about where the policy stands after such"
    " a compaction, and of the agent it says only that it is no worse than such a reader."
)


@dataclass(frozen=True)
class Episodes:
    """How many episodes the claims are computed from.

    Attributes:
        rows: of all frames, one of several runs of an episode each.
        once: episodes with a verdict, each once.
        used: those of families on which their subject qualifies.
    """

    rows: int
    once: int
    used: int

    def __str__(self) -> str:
        left = self.once - self.used
        return (
            f"{self.used:,} episodes: [{FRAMES}]({FRAMES}/) hold {self.rows:,} rows, which are"
            f" {self.once:,} episodes with a verdict, each once, less {left:,} of families on which"
            " their subject does not qualify"
        )


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
    lines = [Table(head, body).markdown(), ""]
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
    lines = [MADE.format(RUNS), "", f"# {run.title}", "", Table(("", ""), rows).markdown(), ""]
    lines += ["```console", run.commands.strip(), "```", ""]
    lines += [f"**Shows.** {run.shows}", "", f"**Does not show.** {run.does_not_show}", ""]
    lines += [f"**Withdrawn.** {run.withdrawn}", ""] if run.withdrawn else []
    for printed in run.tables:
        title, text = _printed(printed, one.frame)
        lines += [f"## {title}", "", text, ""]
    lines += [run.notes.strip()] if run.notes else []
    return "\n".join(lines).rstrip() + "\n"


def reproduction(
    answered: Sequence[Answered],
    frame: pd.DataFrame,
    episodes: Episodes,
    family: Family,
    qualifications: Sequence[Qualification],
    reader: Mapping[str, str],
) -> str:
    """Return the page of the paper's claims.

    Args:
        answered: the claims with their verdicts.
        frame: the episodes that they were asked of.
        episodes: how many these are.
        family: the primary claims.
        qualifications: of the subjects.
        reader: verdicts of a string reader, by claim.
    """
    opening = (
        MADE.format(REPRODUCTION), "", "# The paper's claims, one by one", "",
        SHOWN_OF_REVIEW, "",
        "Governance Decay, arXiv 2606.22528, measured seven large served models; what is here was"
        " measured with a small local one, which its makers made to complete code. **A small local"
        " model is not the paper's models.** Where the two differ, the paper is not refuted; where"
        " they agree, it is not confirmed for any model but this one.",
    )  # fmt: skip
    adjusted = (
        f"the {family.size} claims of [primary.yaml]({DEFAULT}), those of the"
        " [report](report/report.md) among them, so that a comparison has one adjusted p on both"
        " pages"
    )
    design = {
        one.claim.title: _BY_CONSTRUCTION
        for one in answered
        if one.verdict in ("same", "opposite") and one.verdict == reader.get(one.claim.title)
    }
    words = Words(opening, _SUBJECTS, str(episodes), adjusted, design)
    return markdown(answered, frame, family, qualifications, words)


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
