"""The page as one HTML file, without scripts or external resources."""

from __future__ import annotations

from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from constraintrot.report import untrusted
from constraintrot.report.page import episodes, view

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

# Most characters of any text on the page; the frame has the whole text.
LONGEST = 6_000
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'"
)


def html(page: Page) -> str:
    """Render the page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = resources.files("constraintrot.report.page")
    # Every printed text goes through ``finalize`` and then through autoescaping.
    environment: Any = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        percent=view.percent, limits=view.limits, counts=view.counts, links=episodes.links
    )
    for kind in (view.Cell, view.Theirs, view.Table, view.Figure, view.Missing):
        environment.tests[kind.__name__.lower()] = partial(_is, kind)
    template = environment.from_string(
        folder.joinpath("template.html.j2").read_text(encoding="utf-8")
    )
    shown = episodes.shown(page)
    text: str = template.render(
        page=page,
        agents=list(dict.fromkeys(one.agent for one in page.answers)),
        policy=POLICY,
        style=Markup(folder.joinpath("style.css").read_text(encoding="utf-8")),
        drawn=Markup,
        episodes=shown,
        shown_numbers={episode.number for episode in shown},
    )
    return text


def _is(kind: type, one: object) -> bool:
    return isinstance(one, kind)


def _shown(value: object) -> object:
    # Markup is trusted: the stylesheet, and drawings whose texts were escaped when drawn.
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return untrusted.cut(value, LONGEST)
    return value
