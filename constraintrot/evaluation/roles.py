"""The roles of models (``--model-role ROLE=MODEL``) that this package asks.

Inspect accepts any name for a role and ignores a role that nothing looks up. A typo in
``summarizer`` would play every episode with the agent's own summaries, and the figures would
look like those of the intended model.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from constraintrot.errors import UnknownNameError

# docs/models.md describes each role.
ROLES = (
    "agent",
    "summarizer",
    "rule_judge",
    "verifier",
    "extractor",
    "judge",
    "prober",
    "attacker",
    "reflector",
    "curator",
    "wiki_writer",
)
# Above ``target`` for ``agent`` (.73). ``verify`` for ``verifier`` and ``summary`` for
# ``summarizer`` are .71, so a common beginning counts as similar too.
_CUTOFF = 0.75
_BEGINNING = 5


def check(given: Iterable[str], *, others: bool = True) -> None:
    """Refuse a role that is never asked.

    With ``others``, another package may use roles of its own, as in an evaluation; then only names
    similar to this package's roles are refused.
    """
    for name in given:
        if name not in ROLES and not (others and _is_another(name)):
            raise UnknownNameError("model role", name, ROLES)


def _is_another(name: str) -> bool:
    folded = name.lower()
    begins = any(role[:_BEGINNING] == folded[:_BEGINNING] for role in ROLES)
    return not (begins or get_close_matches(folded, ROLES, n=1, cutoff=_CUTOFF))
