"""What a policy is about, as a draft needs it: its predicate, its values, how requests say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from constraintrot.scenario.template import Value

TODO = "TODO"


@dataclass(frozen=True)
class Rule:
    """What a sentence's condition comes to.

    Attributes:
        kind: what the condition is about, for messages: "a span of time".
        predicate: as under ``violation``; the argument's name is filled in later.
        argument: the argument's name, if no tool says another.
        schema: the argument's JSON schema, description included.
        says: a clause by which a request says the value ``{value}``.
        wrong: values that the policy forbids.
        right: as many that it allows.
        start: where in the sentence's phrase the condition begins.
        written: the condition's value as the sentence writes it, and the placeholder
            that takes its place; none where the value stands in requests too.
        values: what the placeholders give.
        phrases: of the slot that holds the value.
        action: what requests ask for, where it is not in the sentence.
    """

    kind: str
    predicate: Mapping[str, Any]
    argument: str
    schema: Mapping[str, Any]
    says: str
    wrong: Sequence[Value]
    right: Sequence[Value]
    start: int
    written: tuple[str, str] | None = None
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    phrases: Sequence[Value] = ()
    action: str = ""


def unknown() -> Rule:
    """What is left to fill in where no condition is recognised."""
    return Rule(
        kind=TODO,
        predicate={
            "type": "value_outside",
            "forbidden": [f"{TODO}: values that the policy forbids, or another predicate"],
        },
        argument="value",
        schema={"type": "string", "description": f"{TODO}: what the policy is about"},
        says="the value is {value}",
        wrong=[f"{TODO}: a value that the policy forbids", f"{TODO}: another that it forbids"],
        right=[f"{TODO}: a value that it allows", f"{TODO}: another that it allows"],
        start=10_000,
        phrases=[f"{TODO}: words that every summary of the policy must keep"],
    )
