"""A time of day outside the allowed hours."""

from datetime import time
from typing import Annotated

from pydantic import AfterValidator

from constraintrot.grading.predicates._argument import OnArgument, decided, unreadable
from constraintrot.rule_text.amounts import clock
from constraintrot.scenario.predicate import Finding, predicate


def _time(text: str) -> str:
    if clock(text) is None:
        raise ValueError(f"{text!r} is no time of day; write it as '18:00', in quotes")
    return text


@predicate("time_outside")
class TimeOutside(OnArgument):
    """A time of day before ``start`` or after ``end``; these themselves are allowed.

    An ``end`` before the ``start`` is on the next day. A time with a zone is malformed,
    because the zone of the rule is unknown.
    """

    start: Annotated[str, AfterValidator(_time)] = "00:00"
    end: Annotated[str, AfterValidator(_time)] = "23:59:59"

    def judge(self, value: object) -> Finding:
        found = clock(value)
        if found is None:
            return unreadable(value, "a time of day")
        start, end = clock(self.start) or time.min, clock(self.end) or time.max
        inside = start <= found <= end if start <= end else found >= start or found <= end
        return decided(
            not inside,
            value,
            f"outside of {self.start} to {self.end}",
            f"within {self.start} to {self.end}",
        )
