"""Numbers, spans of time, dates and times of day, as calls write them."""

import re
from calendar import day_name
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple

from constraintrot.rule_text.numbers import EXACT, fold, number, of_json

_UNIT = re.compile(r"(?<=[\d\w]) ?(?:%|percent|per cent)$|(?<=\d) ?[^\W\d_]{1,20}$")
_SIGN = re.compile(r"^(?:minus |- ?)")
_CURRENCY = re.compile(r"^[$€£¥] ?| ?[$€£¥]$")

# Least and most seconds (months and years have no fixed length), and other names.
_UNITS = {
    "second": (1, 1, "s sec segundo 秒"),
    "minute": (60, 60, "m min minuto 分钟"),
    "hour": (3600, 3600, "h hr hora 小时"),
    "day": (86_400, 86_400, "d día dia 天 日"),
    "week": (604_800, 604_800, "w wk semana 周 星期"),
    "month": (28 * 86_400, 31 * 86_400, "mo mon mes mese 个月 月"),
    "quarter": (90 * 86_400, 92 * 86_400, "q"),
    "year": (365 * 86_400, 366 * 86_400, "y yr año 年"),
}
_UNIT_OF = {word: unit for unit, (_, _, more) in _UNITS.items() for word in [unit, *more.split()]}
_PART = re.compile(r"(\d+(?:[.,]\d+)?|[^\W\d_]+(?:[ -][^\W\d_]+)*?)[ -]?([^\W\d_]+)(?: old)?")
_ISO_SPAN = re.compile(
    r"p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")

# With months as three letters, and one mark between the parts.
_DATES = ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%b-%d-%Y")
_CLOCK = re.compile(
    r"(\d{1,2})(?:[:.h](\d{2}))?(?::(?P<second>[0-5]\d)(?:\.\d+)?)?(?: ?(?P<half>[ap])\.?m\.?)?(?: ?uhr)?"
)
_ZONED = re.compile(r"\d(?:z|[+-]\d{2}:?\d{2})$| (?:utc|gmt|[ecmp][sd]t|cest?|bst)$")


class Span(NamedTuple):
    """The least and the most seconds of a span of time."""

    least: Decimal
    most: Decimal


def amount(value: object) -> Decimal | None:
    """Return a value's number with its sign and without its unit; None if it has none."""
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
    """Parse a span of time, as "1h 30m", "P30D" or a bare number in ``unit``; None for others."""
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
    """Return the unit of time that a word names, ``day`` for "days" and "d", or None."""
    low = word.casefold().strip(". ")
    names = (low, low.removesuffix("s"), low.removesuffix("es"))
    return next((_UNIT_OF[name] for name in names if name in _UNIT_OF), None)


def _times(count: Decimal, unit: str) -> Span:
    least, most, _ = _UNITS[unit]
    return Span(EXACT.multiply(count, Decimal(least)), EXACT.multiply(count, Decimal(most)))


def dates(value: object) -> set[date]:
    """Return the days that a text may mean; two if day and month are ambiguous."""
    text = fold(value) if isinstance(value, str) else None
    if not text:
        return set()
    text = re.split(r"(?<=\d)t(?=\d)|(?<=\d{4}) (?=\d{1,2}[:h])|(?<=-\d\d) (?=\d)", text)[0]
    text = re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", text.strip("\"'., "))
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)?(?: of)?(?=[, ])", "", text)
    text = re.sub(r"([a-z]{3})[a-z]{0,6}(?![a-z])", r"\1", re.sub("[-/., ]+", "-", text))
    text = re.sub(r"^[a-z]{3}-(?=[a-z]|\d+-[a-z])", "", text)
    found = set[date]()
    for form in _DATES:
        with suppress(ValueError):
            found.add(datetime.strptime(text, form).date())
    return found


def clock(value: object) -> time | None:
    """Return the time of day in a text; None if it has none, or names a zone."""
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
    if not found or (found[2] is None and found["half"] is None and "uhr" not in text):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"] == "p")
    second = int(found["second"] or 0)
    return time(hour, minute, second) if hour < 24 and minute < 60 else None


def weekday(value: object) -> int | None:
    """Return the day of the week that a text names or whose date it is; Monday is 0."""
    days = dates(value)
    if len(days) == 1:
        return days.pop().weekday()
    text = fold(value) if isinstance(value, str) else None
    for at, name in enumerate(map(str.casefold, day_name)):
        if text and re.search(rf"\b{name[:3]}(?:{name[3:]})?s?\b", text):
            return at
    return None
