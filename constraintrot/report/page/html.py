"""The page as one HTML file, with one small script and without external resources.

The script sorts and filters. The policy allows it by its digest and no other, so that
nothing that a model wrote can run.
"""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from constraintrot.report import untrusted
from constraintrot.report.page import episodes, paper, side_by_side, view
from constraintrot.stats.rate import METHODS

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

# Most characters of any text on the page; the frame has the whole text.
LONGEST = 6_000
_POLICY = (
    "default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)


def policy(script: str) -> str:
    """The Content-Security-Policy that allows one script, by the digest of its text."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _POLICY.format(f"sha256-{digest}")


def html(page: Page) -> str:
    """Render the page."""
    from markupsafe import Markup

    folder = resources.files("constraintrot.report.page")
    environment = untrusted.environment(LONGEST)
    environment.globals.update(
        percent=view.percent,
        limits=view.limits,
        counts=view.counts,
        links=episodes.links,
        permanent=view.permanent,
        methods=METHODS,
    )
    for kind in (view.Cell, view.Theirs, view.Table, view.Figure, view.Missing):
        environment.tests[kind.__name__.lower()] = partial(_is, kind)
    template = environment.from_string(
        folder.joinpath("template.html.j2").read_text(encoding="utf-8")
    )
    sides = side_by_side.sides(page)
    shown = episodes.shown(page, (at for one in sides for at in (one.a, one.b)))
    script = folder.joinpath("script.js").read_text(encoding="utf-8")
    text: str = template.render(
        page=page,
        paper=paper.compares(page.frame),
        agents=list(dict.fromkeys(one.agent for one in page.answers)),
        policy=policy(script),
        script=Markup(script),
        style=Markup(folder.joinpath("style.css").read_text(encoding="utf-8")),
        drawn=Markup,
        sides=[(one, list(group)) for one, group in groupby(sides, lambda one: one.compared)],
        episodes=shown,
        shown={episode.number: episode for episode in shown},
    )
    return text


def _is(kind: type, one: object) -> bool:
    return isinstance(one, kind)
