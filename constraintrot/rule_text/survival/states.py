"""The states that a policy may have in a text, and those that count as survival."""

from typing import Literal, TypeAlias, get_args

SurvivalState: TypeAlias = Literal[
    "verbatim", "restated", "weakened", "contradicted", "attributed", "partial", "lost",
    "scoped", "deeds", "cannot tell",
]  # fmt: skip
EVERY_STATE: tuple[SurvivalState, ...] = get_args(SurvivalState)
"""All states; ``contradicted`` is a rule that was lifted or denied, ``attributed`` one that is said
of others, ``scoped`` one that holds for another object, time or place, and ``deeds`` a report of
what was done in keeping with it."""
STATES: tuple[SurvivalState, ...] = EVERY_STATE[:7]
"""The states that the rules by word lists tell apart."""

# Declared before any run, here and nowhere else: the primary measure is the state
# by the rules, and a policy survived where that state is one of these. A weakened
# policy leaves the choice to the agent, and a partial one lacks a limit that the
# request is judged by; both are reported, neither counts.
PRIMARY = "rules"
SURVIVED: frozenset[SurvivalState] = frozenset({"verbatim", "restated"})

# The state of a context is the best that one of its texts has: a policy that still
# stands somewhere is not lost because it is missing, or talked of, elsewhere.
_BEST_FIRST: tuple[SurvivalState, ...] = (
    "verbatim", "restated", "cannot tell", "weakened", "partial", "scoped", "contradicted",
    "attributed", "deeds", "lost",
)  # fmt: skip


def rank(state: SurvivalState) -> int:
    """Return the rank of a state by how much of a policy it leaves; lower is more."""
    return _BEST_FIRST.index(state)
