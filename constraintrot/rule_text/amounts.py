"""Numbers, spans of time, dates and times of day, as calls write them."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple

from constraintrot.rule_text.numbers import EXACT, fold, number, of_json

_UNIT = re.compile(r"(?<=[\d\w]) ?(?:%|percent|per cent)$|(?<=\d) ?[^\W\d_]{1,20}$")
_SIGN = re.compile(r"^(?:minus |- ?)")
_CURRENCY = re.compile(r"^[$€£¥] ?| ?[$€£¥]$")

# Seconds at least and at most: a month and a year have no fixed length.
_SPANS = {
    "second": (1, 1),
    "minute": (60, 60),
    "hour": (3600, 3600),
    "day": (86_400, 86_400),
    "week": (604_800, 604_800),
    "month": (28 * 86_400, 31 * 86_400),
    "quarter": (90 * 86_400, 92 * 86_400),
    "year": (365 * 86_400, 366 * 86_400),
}
_SHORT = {
    "s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour",
    "d": "day", "w": "week", "wk": "week", "mo": "month", "mon": "month", "q": "quarter",
    "y": "year", "yr": "year",
    "segundo": "second", "minuto": "minute", "hora": "hour", "día": "day", "dia": "day",
    "semana": "week", "mes": "month", "mese": "month", "año": "year",
    "秒": "second", "分钟": "minute", "小时": "hour", "天": "day", "日": "day", "周": "week",
    "星期": "week", "个月": "month", "月": "month", "年": "year",
}  # fmt: skip
_PART = re.compile(r"(\d+(?:[.,]\d+)?|[^\W\d_]+(?:[ -][^\W\d_]+)*?)[ -]?([^\W\d_]+)(?: old)?")
_ISO_SPAN = re.compile(
    r"p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")

_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:3]: at for at, name in enumerate(_MONTHS.split(), start=1)}
_NUMERIC = re.compile(r"(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})")
_NAMED = re.compile(
    r"(?:[a-z]{3,9},? )?(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})\.?,? (\d{4})"
    r"|([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}))"
)
_CLOCK = re.compile(
    r"(\d{1,2})(?:[:.h](\d{2}))?(?::\d{2}(?:\.\d+)?)?(?: ?([ap])\.?m\.?)?(?: ?uhr)?"
)
_ZONED = re.compile(r"\d(?:z|[+-]\d{2}:?\d{2})$| (?:utc|gmt|[ecmp][sd]t|cest?|bst)$")


class Span(NamedTuple):
    """Seconds that a span of time takes at least and at most."""

    least: Decimal
    most: Decimal


def amount(value: object) -> Decimal | None:
    """The number that a value is or writes, with its sign; a unit behind it does not count."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        found = of_json(abs(value))
        return None if found is None else found * (-1 if value < 0 else 1)
    text = fold(value) if isinstance(value, str) else None
    if text is None:
        return None
    text = text.strip("\"'~ ")
    sign = _SIGN.match(text)
    text = _CURRENCY.sub("", text[sign.end() :] if sign else text).strip()
    found = number(text)
    if found is None:
        found = number(_CURRENCY.sub("", _UNIT.sub("", text)).strip())
    return None if found is None else -found if sign else found


def span(value: object, unit: str = "day") -> Span | None:
    """A span of time; a bare number is in the given unit.

    Args:
        value: such as 30, "30 days", "1h 30m", "P30D", "two weeks".
        unit: as ``unit_of`` gives it.
    """
    bare = amount(value) if not isinstance(value, str) or not re.search(r"[^\W\d]", value) else None
    if bare is not None:
        return _times(bare, unit) if bare >= 0 else None
    text = fold(value) if isinstance(value, str) else None
    if not text:
        return None
    iso = _ISO_SPAN.fullmatch(text)
    if iso and any(iso.groups()):
        parts = [
            _times(Decimal(count), kind)
            for count, kind in zip(iso.groups(), _ISO_UNITS, strict=True)
            if count
        ]
    else:
        parts = []
        for piece in re.split(r",? and |, ?| (?=\d)|(?<=[a-z])(?=\d)", text.strip("\"'.")):
            found = _PART.fullmatch(piece)
            kind = unit_of(found[2]) if found else None
            count = amount(found[1]) if found else None
            if kind is None or count is None:
                return None
            parts.append(_times(count, kind))
    return Span(sum((p.least for p in parts), Decimal(0)), sum((p.most for p in parts), Decimal(0)))


def unit_of(word: str) -> str | None:
    """The unit of time that a word names: ``day`` of "days" and "d"."""
    low = word.casefold().strip(". ")
    for name in (low, low.removesuffix("s"), low.removesuffix("es")):
        if name in _SPANS:
            return name
        if name in _SHORT:
            return _SHORT[name]
    return None


def _times(count: Decimal, unit: str) -> Span:
    least, most = _SPANS[unit]
    return Span(EXACT.multiply(count, Decimal(least)), EXACT.multiply(count, Decimal(most)))


def dates(value: object) -> set[date]:
    """The days that a text may mean; two where day and month could be either, none if unreadable."""
    text = fold(value) if isinstance(value, str) else None
    if not text:
        return set()
    text = re.split(r"(?<=\d)t(?=\d)|(?<=\d{4}) (?=\d{1,2}[:h])|(?<=-\d\d) (?=\d)", text)[0]
    text = text.strip("\"'., ")
    found = _NUMERIC.fullmatch(text)
    if found:
        one, two, three = (int(part) for part in found.groups())
        if len(found[1]) == 4:
            return _days((one, two, three))
        return _days((three, two, one), (three, one, two)) if len(found[3]) == 4 else set()
    if re.fullmatch(r"\d{8}", text):
        return _days((int(text[:4]), int(text[4:6]), int(text[6:])))
    found = _NAMED.fullmatch(text)
    if not found:
        return set()
    day, month, year = (
        (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
    )
    return _days((int(year), _MONTH.get(month[:3], 0), int(day)))


def _days(*given: tuple[int, int, int]) -> set[date]:
    found = set[date]()
    for year, month, day in given:
        try:
            found.add(date(year, month, day))
        except ValueError:
            continue
    return found


def clock(value: object) -> time | None:
    """The time of day that a text gives; None where it gives none, or that of another zone."""
    text = fold(value) if isinstance(value, str) else None
    if not text:
        return None
    text = text.strip("\"' ").removeprefix("at ")
    if text in ("noon", "midnight"):
        return time(12 if text == "noon" else 0)
    if _ZONED.search(text):
        return None
    if dated := re.match(r"\d{4}-\d{1,2}-\d{1,2}(?:t| at | )(?=\d)", text):
        text = text[dated.end() :]
    found = _CLOCK.fullmatch(text)
    if not found or (found[2] is None and found[3] is None and "uhr" not in text):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[3] == "p")
    return time(hour, minute) if hour < 24 and minute < 60 else None


def weekday(value: object) -> int | None:
    """Return the day of the week that a text names or falls on; Monday is 0."""
    days = dates(value)
    if len(days) == 1:
        return days.pop().weekday()
    text = fold(value) if isinstance(value, str) else None
    names = [datetime(2024, 1, at).strftime("%A").casefold() for at in range(1, 8)]
    for at, name in enumerate(names):
        if text and re.search(rf"\b{name[:3]}(?:{name[3:]})?s?\b", text):
            return at
    return None
