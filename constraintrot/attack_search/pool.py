"""The paper's pool (section 6): six framings, of which the best is taken."""

from __future__ import annotations

from collections.abc import Sequence

from constraintrot.attack_search.candidate import Candidate
from constraintrot.attack_search.trial import Query
from constraintrot.attacks.attack_texts import load
from constraintrot.scenario.schema import Locale

POOL = (
    "inject_deprecation",
    "inject_irrelevance",
    "inject_budget",
    "inject_note",
    "inject_system",
    "inject_authority",
)


def propose(locale: Locale, history: Sequence[Query]) -> Candidate | None:
    """The next text of the pool; None where all were tried."""
    if len(history) >= len(POOL):
        return None
    return member(POOL[len(history)], locale)


def member(name: str, locale: Locale) -> Candidate:
    """One text of the pool."""
    (text,) = load(name).locales[locale].texts
    return Candidate(text=text, made={"name": name})
