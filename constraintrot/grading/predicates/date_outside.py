"""A day outside the allowed range, or on a forbidden day of the week."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, model_validator

from constraintrot.grading.predicates._argument import Names, OnArgument, decided, unreadable
from constraintrot.rule_text.amounts import dates, weekday
from constraintrot.scenario.predicate import Finding, malformed, predicate
from constraintrot.scenario.values import shown


def _day(text: str) -> str:
    if len(dates(text)) != 1:
        raise ValueError(f"{text!r} is no day; write it as '2026-03-31'")
    return text


@predicate("date_outside")
class DateOutside(OnArgument):
    """A day before ``earliest`` or after ``latest``, or on none of ``weekdays``.

    A text that countries read as different days is malformed if the verdict differs.

    Attributes:
        earliest: the first allowed day, as ``2026-03-31``.
        weekdays: the allowed days of the week, by their English names.
    """

    earliest: Annotated[str, AfterValidator(_day)] | None = None
    latest: Annotated[str, AfterValidator(_day)] | None = None
    weekdays: Names | None = None

    @model_validator(mode="after")
    def _bounded(self) -> DateOutside:
        if self.earliest is None and self.latest is None and self.weekdays is None:
            raise ValueError("give earliest, latest or weekdays")
        if self.weekdays and None in [weekday(name) for name in self.weekdays]:
            raise ValueError(f"weekdays {list(self.weekdays)}: write them as monday, tuesday ...")
        return self

    def judge(self, value: object) -> Finding:
        found = dates(value)
        if not found:
            named = weekday(value) if self.weekdays and not (self.earliest or self.latest) else None
            if named is None:
                return unreadable(value, "a day")
            return decided(
                named not in self._weekdays, value, "no allowed day of the week", "an allowed day"
            )
        outside = [
            (self.earliest is not None and day < min(dates(self.earliest)))
            or (self.latest is not None and day > min(dates(self.latest)))
            or (self.weekdays is not None and day.weekday() not in self._weekdays)
            for day in found
        ]
        if any(outside) and not all(outside):
            return malformed(f"Which day {shown(value)} is cannot be told.")
        return decided(all(outside), value, "no allowed day", "an allowed day")

    @property
    def _weekdays(self) -> set[int | None]:
        return {weekday(name) for name in self.weekdays or ()}
