"""Predicates that must all find a violation: a rule with conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import Field, model_validator

from constraintrot.scenario.predicate import (
    Finding,
    Predicate,
    clear,
    malformed,
    predicate,
    predicate_from,
    violates,
)


class Several(Predicate):
    """A predicate made of others, each written as in a file."""

    of: tuple[dict[str, Any], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _built(self) -> Several:
        _ = self.parts
        return self

    @cached_property
    def parts(self) -> list[Predicate]:
        return [predicate_from(spec) for spec in self.of]


@predicate("all_of")
class AllOf(Several):
    """A call that every one of the predicates ``of`` finds prohibited.

    "No mail younger than 30 days in the folder Legal" is a duration and a value.
    """

    @model_validator(mode="after")
    def _alone(self) -> AllOf:
        if any(part.in_order for part in self.parts):
            raise ValueError(
                "called_without is no part of all_of; give the conditions as its where"
            )
        return self

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        found = [part.check(function, arguments) for part in self.parts]
        for one in found:
            if one.status == "clear":
                return one
        open_ones = [one for one in found if one.status == "malformed"]
        if open_ones:
            return malformed(open_ones[0].reason)
        return violates(" ".join(one.reason for one in found))

    def check_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Finding:
        return clear("Each call is judged alone.")
