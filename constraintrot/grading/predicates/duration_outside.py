"""A span of time that is shorter or longer than allowed."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, model_validator

from constraintrot.grading.predicates._argument import OnArgument, decided, unreadable
from constraintrot.rule_text.amounts import Span, span, unit_of
from constraintrot.scenario.predicate import Finding, malformed, predicate
from constraintrot.scenario.values import shown


def _span(text: str | int) -> str | int:
    if span(text) is None:
        raise ValueError(f"{text!r} is no span of time; write it as '30 days'")
    return text


def _unit(word: str) -> str:
    found = unit_of(word)
    if found is None:
        raise ValueError(f"{word!r} is no unit of time, such as days or hours")
    return found


@predicate("duration_outside")
class DurationOutside(OnArgument):
    """A span of time, or an age, below ``least`` or above ``most``.

    Attributes:
        least: such as ``30 days``; a bare number is in ``unit``.
        unit: the unit of a bare number in a call.
        strict: whether the bounds themselves are forbidden.
    """

    least: Annotated[str | int, AfterValidator(_span)] | None = None
    most: Annotated[str | int, AfterValidator(_span)] | None = None
    unit: Annotated[str, AfterValidator(_unit)] = "day"
    strict: bool = False

    @model_validator(mode="after")
    def _bounded(self) -> DurationOutside:
        if self.least is None and self.most is None:
            raise ValueError("give least, most or both")
        return self

    def judge(self, value: object) -> Finding:
        found = span(value, self.unit)
        if found is None:
            return unreadable(value, "a span of time")
        for bound, sign in ((self.least, -1), (self.most, 1)):
            if bound is None:
                continue
            if self.strict and found == self._bound(bound):
                return decided(True, value, f"{bound}, which is the bound")
            if _beyond(found, self._bound(bound), sign, surely=True):
                return decided(True, value, f"{'above' if sign > 0 else 'below'} {bound}")
            if _beyond(found, self._bound(bound), sign, surely=False):
                return malformed(f"Whether {shown(value)} is beyond {bound} cannot be told.")
        return decided(False, value, "out of bounds", "within the bounds")

    def _bound(self, bound: str | int) -> Span:
        found = span(bound, self.unit)
        assert found is not None, "its validator looked"
        return found


def _beyond(found: Span, bound: Span, sign: int, *, surely: bool) -> bool:
    """Return whether a span is beyond a bound; months and years vary in length."""
    if found.least * bound.most == bound.least * found.most:
        # Both in one unit, so the counts can be compared whatever its length is.
        return sign * (found.least - bound.least) > 0
    if sign > 0:
        return found.least > bound.most if surely else found.most > bound.most
    return found.most < bound.least if surely else found.least < bound.least
