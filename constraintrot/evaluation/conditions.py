"""Conditions: the settings of an experiment that differ while everything else is equal.

Floor, control and compaction are from the paper's section 4, the ablations from its
section 5. Conditions with an attack or a defense are in the same tables.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from constraintrot.errors import ParameterError, UnknownNameError

Edit: TypeAlias = Literal["removed", "restored", "sham"]

# Default length of ``long_context``, as a multiple of the other conditions' history.
LONG_FACTOR = 5


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        edit: the counterfactual made of the compacted context (``counterfactual.edited``).
        long: whether the history is lengthened to ``long_tokens``.
        long_tokens: length in o200k tokens; None for ``LONG_FACTOR`` times the task's.
        allowed: whether the permitted counterpart is asked for, whatever the task asks.
    """

    name: str
    policy: bool = True
    compacts: bool = True
    edit: Edit | None = None
    long: bool = False
    long_tokens: int | None = None
    attack: str | None = None
    defense: str | None = None
    distractors: int = 0
    allowed: bool = False

    def history_tokens(self, context_tokens: int) -> int:
        """Return the length of this condition's history; like the argument, in o200k tokens."""
        if not self.long:
            return context_tokens
        return self.long_tokens or LONG_FACTOR * context_tokens


def _named(*conditions: Condition) -> Mapping[str, Condition]:
    return {condition.name: condition for condition in conditions}


# Each task has its own table of conditions and refuses those of other tasks. A forged
# message, for example, means nothing in a task that has no operator channel.
FAMILY = _named(
    Condition("floor", policy=False, compacts=False),
    Condition("control", compacts=False),
    Condition("compaction"),
    Condition("long_context", compacts=False, long=True),
    Condition("summary_removed", edit="removed"),
    Condition("sham", edit="sham"),
    Condition("summary_restored", edit="restored"),
    Condition("attack_volume", attack="volume"),
    Condition("attack_inject", attack="inject_deprecation"),
    Condition("defense_pin", defense="pin"),
    Condition("defense_pin_attack", attack="inject_deprecation", defense="pin"),
)
STRESS = {
    **FAMILY,
    **_named(
        Condition("stress_rescind", attack="rescind_notice"),
        Condition("stress_overload", distractors=15),
        Condition("stress_overload_50", distractors=50),
        Condition("stress_impersonate", attack="impersonate_rescind"),
    ),
}
OPERATOR = {
    **FAMILY,
    **_named(
        Condition("forged_rescind", attack="impersonate_rescind"),
        Condition("forged_rescind_document", attack="impersonate_rescind:channel=document"),
        Condition("forged_rescind_memory", attack="impersonate_rescind:channel=memory_entry"),
        Condition("forged_pasted", attack="impersonate_signed"),
        Condition("forged_wrong_key", attack="impersonate_rescind"),
        Condition("forged_scope", attack="impersonate_rescind"),
        Condition("forged_replayed", attack="impersonate_rescind"),
        Condition("forged_expired", attack="impersonate_rescind"),
        Condition("forged_order", attack="impersonate_rescind"),
        Condition("genuine_rescind"),
        Condition("genuine_exempt"),
        Condition("genuine_amend"),
        Condition("genuine_amend_other"),
    ),
}
LAUNDERING = {
    **FAMILY,
    **_named(
        Condition("approved_control", compacts=False, allowed=True),
        Condition("approved", allowed=True),
        Condition("launder", attack="launder"),
        Condition("launder_order", attack="launder_order"),
        Condition("launder_stale", attack="launder_stale"),
        Condition("launder_user", attack="launder_user"),
        Condition("launder_system", attack="launder_system"),
    ),
}
QUALIFICATION = _named(
    FAMILY["floor"], FAMILY["control"], Condition("allowed", compacts=False, allowed=True)
)
# Every condition of the package's tasks, in the order of the reports.
CONDITIONS: Mapping[str, Condition] = {
    **FAMILY,
    **STRESS,
    **OPERATOR,
    **LAUNDERING,
    **QUALIFICATION,
}
WITHOUT_POLICY = frozenset(one.name for one in CONDITIONS.values() if not one.policy)
"""Names of the conditions in which no policy is stated, so that none survives or is lost."""
DEFAULT = ("floor", "control", "compaction")
EDITS = tuple(condition.name for condition in FAMILY.values() if condition.edit)


def conditions(
    given: str | Iterable[str], known: Mapping[str, Condition] = FAMILY
) -> tuple[Condition, ...]:
    """Parse ``floor,control,long_context:8000``, or a list of such names."""
    names = given.split(",") if isinstance(given, str) else list(given)
    parsed = tuple(_one(name.strip(), known) for name in names if name.strip())
    if not parsed:
        raise ParameterError(f"conditions is empty; known: {', '.join(known)}")
    if len({condition.name for condition in parsed}) != len(parsed):
        raise ParameterError(
            f"conditions names one twice: {', '.join(names)}; lengths of long_context are"
            " compared over several runs"
        )
    return parsed


def _one(text: str, known: Mapping[str, Condition]) -> Condition:
    name, colon, length = text.partition(":")
    if name not in known:
        raise UnknownNameError("condition of this task", name, known)
    condition = known[name]
    if not colon:
        return condition
    if not condition.long or not length.isdecimal() or int(length) < 1:
        raise ParameterError(
            f"{text!r}: only long_context takes a length, in tokens, as long_context:8000"
        )
    return replace(condition, long_tokens=int(length))
