"""The paper's pool of summarizer injections (section 6): six framings of one request."""

from __future__ import annotations

from pathlib import Path

from constraintrot.attacks.attack_file import read_attack_file
from constraintrot.scenario.schema import Locale

POOL = (
    "inject_deprecation",
    "inject_irrelevance",
    "inject_budget",
    "inject_note",
    "inject_system",
    "inject_authority",
)


def injection(name: str, locale: Locale) -> str:
    """The text of one attack of the pool; what an adversary fills in is left open."""
    file = read_attack_file(Path(__file__).with_name(f"{name}.yaml"))
    (text,) = file.locales[locale].texts
    return text
