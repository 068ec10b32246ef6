"""Predicates of which one violation is enough: several rules in one."""

from collections.abc import Mapping, Sequence
from typing import Any

from constraintrot.grading.predicates._argument import worst
from constraintrot.grading.predicates.all_of import Several
from constraintrot.scenario.predicate import Finding, predicate


@predicate("any_of")
class AnyOf(Several):
    """A call that one of the predicates ``of`` finds prohibited."""

    @property
    def in_order(self) -> bool:
        return any(part.in_order for part in self.parts)

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        return worst(part.check(function, arguments) for part in self.parts)

    def check_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Finding:
        return worst(part.check_all(calls) for part in self.parts)
