"""The prohibitions of a policy after its operator changed it, and its state in a context."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from constraintrot.rule_text.reader import Rule
from constraintrot.rule_text.survival import Survival
from constraintrot.rule_text.words import state_of
from constraintrot.scenario.predicate import Finding, Predicate, clear
from constraintrot.scenario.schema import Variant, Wording
from constraintrot.scenario.template import Value


class Nothing(Predicate):
    """The predicate of a policy that is not in force; it forbids nothing."""

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        return clear("The operator withdrew the policy, or exempted this call.")


def in_force(variant: Variant, changes: Mapping[str, Value] | None) -> Variant:
    """Return a variant with its policy amended, or lifted for None, and the requests unchanged."""
    now = replace(variant)
    # These are cached properties, so the values put here are read instead.
    if changes is None:
        vars(now).update(violation=Nothing(), allowed_violation=Nothing())
    else:
        vars(now)["values"] = {**variant.values, **changes}
        vars(now).update(trigger=variant.trigger, allowed_trigger=variant.allowed_trigger)
    return now


def state(texts: str | Iterable[str], variant: Variant, wording: Wording | None = None) -> Survival:
    """The state of a variant's policy in a text, or the best one in a context's texts."""
    wordings: tuple[Wording, ...] = get_args(Wording) if wording is None else (wording,)
    given = [texts] if isinstance(texts, str) else texts
    first, *others = (variant.policy(one) for one in wordings)
    return state_of(Rule(first, variant.slots, tuple(others)), list(given))
