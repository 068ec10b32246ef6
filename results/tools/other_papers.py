"""The claims of the other source papers, as a section of the page of claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from results.tools.pipeline import claims as pipeline
from results.tools.playbook import claims as playbook
from results.tools.wiki import claims as wiki


class Claim(Protocol):
    """A claim of a paper's, as each of the three pages has it."""

    @property
    def title(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def told(self) -> str: ...
    @property
    def verdict(self) -> str: ...


def section(folder: Path) -> str:
    """The section, in Markdown; empty where a folder has none of their tables."""
    papers: list[tuple[str, str, Sequence[Claim]]] = []
    if playbook.steps(folder):
        title = "Agentic Context Engineering, arXiv 2510.04618"
        papers.append((title, playbook.PAGE, playbook.listed(folder)))
    if (folder / f"{wiki.REACH}.csv").is_file():
        title = "The Living Wiki: Schema-Driven LLM Knowledge Bases as Persistent Agent Memory"
        papers.append((title, wiki.PAGE, wiki.listed(folder)))
    if pipeline.there(folder):
        papers.append(("04 - Context Engineering", pipeline.PAGE, pipeline.listed(folder)))
    if not papers:
        return ""
    lines = ["## The other papers", "", *(line for one in papers for line in _paper(*one))]
    return "\n".join(lines).rstrip() + "\n"


def _paper(title: str, page: str, claims: Sequence[Claim]) -> Iterator[str]:
    yield from (
        f"**{title}.** {counts(claims)}; what each verdict takes, and the command that would measure"
        f" what is not measured: [{page}]({page}).",
        "",
        "| claim | the paper | here | verdict |",
        "| --- | --- | --- | --- |",
    )
    for one in claims:
        yield f"| {one.title} | {one.paper} | {one.told} | {one.verdict} |"
    yield ""


def counts(claims: Sequence[Claim]) -> str:
    """How many claims there are, and how many of each verdict."""
    told = [one.verdict for one in claims]
    by_verdict = ", ".join(f"{told.count(name)} {name}" for name in dict.fromkeys(told))
    return f"Of {len(told)} claims {by_verdict}"
