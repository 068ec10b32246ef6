"""The report as Markdown: the same answers and tables, without the drawings and episodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from constraintrot.report import tables, untrusted
from constraintrot.report.page import paper
from constraintrot.report.page.view import (
    Block,
    Cell,
    Content,
    Figure,
    Missing,
    Table,
    Theirs,
    rate_text,
)

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|!~$&])|(https?)(:)", re.IGNORECASE)

_LOADED = re.compile(r"[<>]|!(?=\[)|(?<=\])\((?!#)|(?<=http):|(?<=https):", re.IGNORECASE)


def markdown(page: Page) -> str:
    return "\n".join(_lines(page)).rstrip() + "\n"


def escaped(text: str) -> str:
    """Return a text escaped for Markdown, shortened to 600 characters, on one line."""
    shown = untrusted.cut(" ".join(text.split()), 600)
    return _ACTIVE.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", shown)


def inert(page: str) -> str:
    """Return a Markdown page that loads nothing, links only within itself, and hides no character.

    For a page whose own markup has no HTML, pictures or addresses.
    """
    return _LOADED.sub(lambda found: f"\\{found[0]}", untrusted.visible(page))


def _lines(page: Page) -> Iterator[str]:
    yield from ("# ConstraintRot report", "")
    for agent in dict.fromkeys(answer.agent for answer in page.answers):
        yield from (f"## {escaped(agent)}", "")
        for answer in (one for one in page.answers if one.agent == agent):
            qualifies = f" ({page.qualifies[agent]})" if answer.claim else ""
            said = escaped(f"{answer.line}{qualifies} {answer.text}".strip())
            yield from (f"**{answer.question} {escaped(answer.word)}.** {said}", "")
    if page.pooled:
        yield from ("## All models", "")
    yield from (text for line in page.pooled for text in (escaped(line), ""))
    for notice in page.source.notices:
        yield from (f"> {escaped(notice)}", "")
    for section in page.sections:
        yield from (f"## {section.title}", "")
        for block in section.blocks:
            yield from _block(block)
    yield from ("## How it was run", "")
    for run in page.source.runs:
        command = untrusted.visible(run.command).replace("```", "'''")
        line = f"{run.log}: {run.finished} of {run.planned} episodes, SHA-256 {run.sha256}"
        yield from (f"{escaped(line)}", "", "```", command, "```", "")
    for name, digest in page.source.inputs:
        yield from (f"Frame {escaped(name)}, SHA-256 {digest}", "")
    if paper.compares(page.frame):
        yield "Columns marked “paper” are the figures of arXiv 2606.22528, of other models."


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        head = [escaped(one) for one in (*block.heads, *block.columns)]
        body = [
            [*(escaped(one) for one in row.heads), *(_content(one) for one in row.cells)]
            for row in block.rows
        ]
        yield from (f"{escaped(block.caption)}:", "", tables.Table(head, body).text(), "")
        yield from (line for note in block.notes for line in (escaped(note), ""))
    elif isinstance(block, Missing):
        command = untrusted.visible(block.command)
        yield from (f"Not measured: {escaped(block.what)}. This would: `{command}`", "")
    elif isinstance(block, Figure):
        return
    else:
        yield from (escaped(block), "")


def _content(content: Content) -> str:
    if isinstance(content, Cell):
        silent = f" (! {content.silent} silent)" if content.silent else ""
        return escaped(rate_text(content.estimate) + silent)
    if isinstance(content, Theirs):
        return f"*{escaped(content.text)}*"
    return escaped(content)
