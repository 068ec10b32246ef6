"""The page as one HTML file, and a page of plain tables; without external resources.

The page's one small script sorts and filters. The content security policy allows only that
script, by its digest, so that no text of a model can run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from constraintrot.report import untrusted
from constraintrot.report.page import episodes, paper, view
from constraintrot.stats.rate import METHODS

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

# Most characters of any text on the page; the frame has the whole text.
LONGEST = 6_000
_INERT = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class PlainTable:
    """A table of words.

    The first cell of each row is its head.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def policy(script: str) -> str:
    """Return the Content-Security-Policy that allows one script, by the digest of its text."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _POLICY.format(digest)


def html(page: Page) -> str:
    sides = episodes.sides(page)
    shown = episodes.shown(page, (at for one in sides for at in (one.a, one.b)))
    script = _file("script.js")
    return _rendered(
        "template.html.j2",
        page=page,
        paper=paper.compares(page.frame),
        agents=list(dict.fromkeys(one.agent for one in page.answers)),
        policy=policy(script),
        script=_trusted(script),
        drawn=_trusted,
        sides=[(one, list(group)) for one, group in groupby(sides, lambda one: one.compared)],
        episodes=shown,
        shown={episode.number: episode for episode in shown},
    )


def plain_page(
    title: str,
    tables: Sequence[PlainTable],
    lists: Iterable[tuple[str, Sequence[str]]] = (),
    lines: Sequence[str] = (),
) -> str:
    """Render a page of plain tables, without a script.

    Each of ``lines`` is a paragraph above the tables; ``lists`` (heading, items) come below them.
    """
    given = {"title": title, "tables": tables, "lists": lists, "lines": lines}
    return _rendered("plain.html.j2", policy=_INERT, **given)


def _rendered(template: str, **values: Any) -> str:
    environment = untrusted.environment(LONGEST)
    environment.globals.update(
        percent=view.percent,
        limits=view.limits,
        counts=view.counts,
        links=episodes.links,
        permanent=view.permanent,
        methods=METHODS,
        style=_trusted(_file("style.css")),
    )
    for kind in (view.Cell, view.Theirs, view.Table, view.Figure, view.Missing):
        environment.tests[kind.__name__.lower()] = partial(_is, kind)
    text: str = environment.from_string(_file(template)).render(**values)
    return text


def _file(name: str) -> str:
    folder = resources.files("constraintrot.report.page")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _trusted(text: str) -> str:
    from markupsafe import Markup

    return Markup(text)


def _is(kind: type, one: object) -> bool:
    return isinstance(one, kind)
