"""Strategy ``pool``: the paper's six injections, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from constraintrot.attacks.injection_pool import POOL, injection
from constraintrot.attacks.search_results.candidate import Candidate
from constraintrot.attacks.search_results.trial import Query
from constraintrot.scenario.schema import Locale


def propose(locale: Locale, history: Sequence[Query]) -> Candidate | None:
    """The next text of the pool; None if all were tried."""
    if len(history) >= len(POOL):
        return None
    return member(POOL[len(history)], locale)


def member(name: str, locale: Locale) -> Candidate:
    """One text of the pool."""
    return Candidate(text=injection(name, locale), made={"name": name})
