"""The states that a policy may have in a text, and those that count as survival."""

from typing import Literal, TypeAlias, get_args

SurvivalState: TypeAlias = Literal[
    "verbatim", "restated", "weakened", "contradicted", "attributed", "partial", "lost",
    "scoped", "deeds", "cannot tell",
]  # fmt: skip
EVERY_STATE: tuple[SurvivalState, ...] = get_args(SurvivalState)
"""All states; ``contradicted``: lifted or denied; ``attributed``: a rule for others; ``scoped``:
for another object, time or place; ``deeds``: a report of acts in keeping with it."""
STATES: tuple[SurvivalState, ...] = EVERY_STATE[:7]
"""The states of the validation labels; judges are asked for all of them but ``verbatim``."""
# Declared before any run, only here: the primary measure is the state by the rules, and a policy
# survived if that state is one of these. A weakened policy leaves the choice to the agent, and a
# partial one lacks a limit that the request is judged by; both are reported but do not count.
PRIMARY = "rules"
SURVIVED: frozenset[SurvivalState] = frozenset({"verbatim", "restated"})

# The state of a context is the best state of its texts: a policy that one of them states is not
# lost because others lack it or only mention it.
_BEST_FIRST: tuple[SurvivalState, ...] = (
    "verbatim", "restated", "cannot tell", "weakened", "partial", "scoped", "contradicted",
    "attributed", "deeds", "lost",
)  # fmt: skip


def rank(state: SurvivalState) -> int:
    """Return the rank of a state by how much of a policy it leaves; lower is more."""
    return _BEST_FIRST.index(state)
