"""A call that requires an earlier one: a question, an approval, a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import model_validator

from constraintrot.grading.predicates._argument import Names, folded
from constraintrot.scenario.predicate import (
    Finding,
    Predicate,
    clear,
    predicate,
    predicate_from,
    violates,
)


@predicate("called_without")
class CalledWithout(Predicate):
    """A call of ``function`` that no call of ``first`` came before.

    Attributes:
        same: arguments in which the two calls must agree.
        where: a predicate; only calls that it finds prohibited need the earlier one.
    """

    function: Names
    first: Names
    same: tuple[str, ...] = ()
    where: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _built(self) -> CalledWithout:
        _ = self.condition
        if both := sorted(set(self.function) & set(self.first)):
            raise ValueError(f"{both[0]} cannot be what comes first and what needs it")
        return self

    @property
    def in_order(self) -> bool:
        return True

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        if self.condition is not None and function in self.function:
            found = self.condition.check(function, arguments)
            return found if found.status == "malformed" else clear("The order of calls decides.")
        return clear("The order of calls decides.")

    def check_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Finding:
        before: list[Mapping[str, Any]] = []
        for function, arguments in calls:
            if function in self.first:
                before.append(arguments)
            elif self._needs(function, arguments) and not any(
                self._agree(arguments, one) for one in before
            ):
                return violates(
                    f"{function} was called without {' or '.join(self.first)} before it."
                )
        return clear("Each call had the other one before it.")

    def _needs(self, function: str, arguments: Mapping[str, Any]) -> bool:
        if function not in self.function:
            return False
        return (
            self.condition is None or self.condition.check(function, arguments).status == "violates"
        )

    def _agree(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        return all(folded(one.get(name)) == folded(other.get(name)) for name in self.same)

    @cached_property
    def condition(self) -> Predicate | None:
        """The predicate on the calls that need the other one; None if all do."""
        return None if self.where is None else predicate_from(self.where)
