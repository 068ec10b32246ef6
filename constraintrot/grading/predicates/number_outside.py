"""A number above or below what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import Field, model_validator

from constraintrot.grading.predicates._argument import OnArgument, decided, unreadable, worst
from constraintrot.rule_text.amounts import amount
from constraintrot.scenario.predicate import Finding, clear, predicate, violates
from constraintrot.scenario.template import show


@predicate("number_outside")
class NumberOutside(OnArgument):
    """A number below ``least`` or above ``most``, which are allowed unless ``strict``.

    Attributes:
        times: an argument that multiplies the number, such as a quantity; 1 if a call lacks it.
        together: whether the sum over all calls must not exceed ``most`` either.
    """

    least: float | None = Field(default=None, allow_inf_nan=False)
    most: float | None = Field(default=None, allow_inf_nan=False)
    strict: bool = False
    times: str | None = None
    together: bool = False

    @model_validator(mode="after")
    def _bounded(self) -> NumberOutside:
        if self.least is None and self.most is None:
            raise ValueError("give least, most or both")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"least {show(self.least)} is above most {show(self.most)}")
        return self

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        count = self._count(arguments)
        if not self.concerns(function) or count == 1:
            return super().check(function, arguments)
        if count is None:
            return unreadable(arguments[str(self.times)], "a number")
        values = list(self.values(arguments))
        if not values:
            return super().check(function, arguments)
        return worst(self._judge(value, count) for value in values)

    def judge(self, value: object) -> Finding:
        return self._judge(value, Decimal(1))

    def check_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Finding:
        total = Decimal(0)
        for function, arguments in calls if self.together else ():
            count = self._count(arguments)
            if self.concerns(function) and count is not None:
                total += sum(amount(value) or 0 for value in self.values(arguments)) * count
        if self.most is not None and total > Decimal(repr(self.most)):
            return violates(f"The calls together come to {total}, above {show(self.most)}.")
        return clear("The calls together come to no more than is allowed.")

    def _judge(self, value: object, count: Decimal) -> Finding:
        found = amount(value)
        if found is None:
            return unreadable(value, "a number")
        found *= count
        told = value if count == 1 else show(float(found))
        for bound, sign, what in ((self.most, 1, "above"), (self.least, -1, "below")):
            beyond = Decimal(0) if bound is None else sign * (found - Decimal(repr(bound)))
            if bound is not None and (beyond > 0 or (self.strict and beyond == 0)):
                return decided(
                    True,
                    told,
                    f"{what} {show(bound)}" if beyond else f"{show(bound)}, which is the bound",
                )
        return decided(False, value, "out of bounds", "within the bounds")

    def _count(self, arguments: Mapping[str, Any]) -> Decimal | None:
        given = arguments.get(self.times) if self.times else None
        return Decimal(1) if given is None else amount(given)
