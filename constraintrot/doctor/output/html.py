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
    from markupsafe import Markup

    folder = resources.files("constraintrot.doctor.output")
    environment = untrusted.environment(_LONGEST)
    template = environment.from_string(
        folder.joinpath("template.html.j2").read_text(encoding="utf-8")
    )
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    text: str = template.render(found=found, policy=POLICY, style=Markup(style))
    return text
