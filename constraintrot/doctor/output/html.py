"""The findings as one HTML page, without scripts and without anything from elsewhere.

Every text goes through ``untrusted.cut`` and then through autoescaping, and the page's
policy allows no script, so that nothing that a session holds can run.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from constraintrot.report import untrusted

_LONGEST = 8_000
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(found: Mapping[str, Any]) -> str:
    """Render the page.

    Args:
        found: what ``data`` gives.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = resources.files("constraintrot.doctor.output")
    environment: Any = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string(
        folder.joinpath("template.html.j2").read_text(encoding="utf-8")
    )
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    text: str = template.render(found=found, policy=POLICY, style=Markup(style))
    return text


def _shown(value: object) -> object:
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return untrusted.cut(value, _LONGEST)
    return value
