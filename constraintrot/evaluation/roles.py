"""The roles of models (``--model-role ROLE=MODEL``) that this package asks.

Inspect takes any name for a role and asks nobody for one that nothing looks up. A slip of
the pen in ``summarizer`` would play every episode with the agent's own summaries, and the
figures would look like those of the model that was meant.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from constraintrot.errors import UnknownNameError

# What each does is told in docs/models.md.
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
# ``summarizer`` are .71: what begins alike is taken for one of ours too.
_CUTOFF = 0.75
_BEGINNING = 5


def check(given: Iterable[str], *, others: bool = True) -> None:
    """Refuse a role that nobody will be asked for.

    Args:
        given: the names of roles.
        others: whether another package may ask roles of its own beside these, as in an
            evaluation; then only what looks like one of ours is refused.

    Raises:
        UnknownNameError: such a name is given.
    """
    for name in given:
        if name not in ROLES and not (others and _is_another(name)):
            raise UnknownNameError("model role", name, ROLES)


def _is_another(name: str) -> bool:
    folded = name.lower()
    begins = any(role[:_BEGINNING] == folded[:_BEGINNING] for role in ROLES)
    return not (begins or get_close_matches(folded, ROLES, n=1, cutoff=_CUTOFF))
