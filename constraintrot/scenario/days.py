"""Days and times of day in history templates: comparable, and written as a locale writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import ClassVar

from constraintrot.errors import ScenarioError

_WEEKDAYS: Mapping[str, tuple[str, ...]] = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
_MONTHS: Mapping[str, tuple[str, ...]] = {
    "en": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "es": (
        *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
        *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
    ),
    "de": (
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
    "zh": tuple(f"{month}月" for month in range(1, 13)),
}
_DATES: Mapping[str, Callable[[int, str], str]] = {
    "en": lambda number, month: f"{number} {month}",
    "es": lambda number, month: f"{number} de {month}",
    "de": lambda number, month: f"{number}. {month}",
    "zh": lambda number, month: f"{month}{number}日",
}
_TEXTS: Mapping[str, Callable[[str, str], str]] = {
    "en": lambda weekday, written: f"{weekday} {written}",
    "es": lambda weekday, written: f"{weekday} {written}",
    "de": lambda weekday, written: f"{weekday}, {written}",
    "zh": lambda weekday, written: f"{written}（{weekday}）",
}

# Public holidays of the histories' year that fall on a weekday.
_HOLIDAYS: Mapping[str, frozenset[str]] = {
    "de": frozenset(
        [
            "2025-01-01",
            "2025-04-18",
            "2025-04-21",
            "2025-05-01",
            "2025-05-29",
            "2025-06-09",
            "2025-10-03",
            "2025-12-25",
            "2025-12-26",
        ]
    )
}


@dataclass(frozen=True, order=True)
class Day:
    value: date
    locale: str = field(compare=False)
    MEMBERS: ClassVar[frozenset[str]] = frozenset({"iso", "weekday", "date", "text", "month"})

    @property
    def iso(self) -> str:
        """``2025-06-12``."""
        return self.value.isoformat()

    @property
    def weekday(self) -> str:
        """``Thursday``."""
        return _WEEKDAYS[self.locale][self.value.weekday()]

    @property
    def month(self) -> str:
        """``June``."""
        return _MONTHS[self.locale][self.value.month - 1]

    @property
    def date(self) -> str:
        """``12 June``."""
        return _DATES[self.locale](self.value.day, self.month)

    @property
    def text(self) -> str:
        """``Thursday 12 June``."""
        return _TEXTS[self.locale](self.weekday, self.date)

    def __str__(self) -> str:
        return self.text

    def __add__(self, days: int) -> Day:
        return Day(self.value + timedelta(days=days), self.locale)

    def __sub__(self, other: Day | int) -> Day | int:
        if isinstance(other, Day):
            return (self.value - other.value).days
        return self + -other

    def work(self, days: int) -> Day:
        """Return the working day so many working days later, or earlier if negative."""
        found, step = self.value, 1 if days > 0 else -1
        closed = _HOLIDAYS.get(self.locale, ())
        while days:
            found += timedelta(days=step)
            if found.weekday() < 5 and found.isoformat() not in closed:
                days -= step
        return Day(found, self.locale)


@dataclass(frozen=True, order=True)
class Clock:
    """A time of day, in minutes after midnight."""

    minutes: int
    MEMBERS: ClassVar[frozenset[str]] = frozenset({"hour", "minute", "minutes"})

    @classmethod
    def parse(cls, written: str) -> Clock:
        """Parse ``09:15``."""
        hour, _, minute = written.strip().partition(":")
        if not (hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60):
            raise ScenarioError(f"{written!r} is no time of day")
        return cls(int(hour) * 60 + int(minute))

    @property
    def hour(self) -> int:
        return self.minutes // 60

    @property
    def minute(self) -> int:
        return self.minutes % 60

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}"

    def __add__(self, minutes: int) -> Clock:
        return Clock((self.minutes + minutes) % (24 * 60))

    def __sub__(self, other: Clock | int) -> Clock | int:
        if isinstance(other, Clock):
            return self.minutes - other.minutes
        return self + -other
