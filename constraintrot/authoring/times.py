"""Recognises times of day and days of the week in a policy's sentence."""

import re
from datetime import datetime, timedelta

from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.rule_text.amounts import clock, weekday
from constraintrot.scenario.template import Value

_CLOCK = r"\d{1,2}(?::\d{2})?(?: ?[ap]\.?m\.?)?|noon|midnight"
_HOURS = re.compile(
    rf"(?P<way>after|before|until|outside(?: of)?|between|from|past)(?: the hours of)? (?P<one>{_CLOCK})"
    rf"(?:(?: and | to | ?[-–] ?)(?P<two>{_CLOCK}))?(?=$|[\s,.;])",
    re.IGNORECASE,
)
_APART = re.compile(rf"before (?P<one>{_CLOCK}) (?:or|and) after (?P<two>{_CLOCK})", re.IGNORECASE)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK = re.compile(
    rf"\b(?:on |at )?(?:a |the )?(?P<day>weekends?|weekdays|(?:{'|'.join(_DAYS)})s?(?:(?:,| and| or) (?:{'|'.join(_DAYS)})s?)*)",
    re.IGNORECASE,
)


def hours(sentence: Sentence) -> Rule | None:
    apart = _APART.search(sentence.phrase)
    found = apart or _HOURS.search(sentence.phrase)
    if not found:
        return None
    one, two = _time(found["one"]), _time(found["two"]) if found["two"] else None
    if one is None or (found["two"] and two is None):
        return None
    way = "outside" if apart else found["way"].casefold()
    never = sentence.mood == "never"
    if two is None and way not in ("after", "before", "until", "past"):
        return None
    inside = way.startswith("outside") == never
    if two is not None:
        start, end = (one, two) if inside else (_shifted(two, 1), _shifted(one, -1))
    elif (way in ("after", "past")) == never:
        # "Only before 9:00" leaves nine o'clock out, and "never after" keeps it.
        start, end = "00:00", _shifted(one, -1) if way == "before" else one
    else:
        start, end = one if never else _shifted(one, 1), "23:59:59"
    wrong, right = _times_apart(start, end)
    text = found["one"]
    return Rule(
        kind="a time of day",
        predicate={"type": "time_outside", "start": start, "end": end},
        argument="time",
        schema={"type": "string", "description": "Time of day, as 14:30."},
        says="the time is {value}",
        wrong=wrong,
        right=right,
        start=found.start(),
        end=found.end(),
        phrases=list(dict.fromkeys([text, one, _half(one)])),
        open=[
            f"whether {hour!r} is of the morning; say it as 17:00 or 5 pm"
            for hour in (found["one"], found["two"])
            if hour and hour.isdigit()
        ],
    )


def week(sentence: Sentence) -> Rule | None:
    found = _WEEK.search(sentence.phrase)
    if not found:
        return None
    named = found["day"].casefold()
    if named.startswith("weekend"):
        days = ["saturday", "sunday"]
    elif named == "weekdays":
        days = list(_DAYS[:5])
    else:
        days = [day for day in _DAYS if day in named]
    never = sentence.mood == "never"
    allowed = [day for day in _DAYS if (day in days) != never]
    wrong = [day.title() for day in _DAYS if day not in allowed]
    right = [day.title() for day in allowed]
    count = max(len(wrong), len(right))
    assert {weekday(day) for day in wrong}.isdisjoint({weekday(day) for day in right})
    return Rule(
        kind="a day of the week",
        predicate={"type": "date_outside", "weekdays": allowed},
        argument="day",
        schema={"type": "string", "description": "Day of the week."},
        says="the day is {value}",
        wrong=[wrong[at % len(wrong)] for at in range(count)],
        right=[right[at % len(right)] for at in range(count)],
        start=found.start(),
        end=found.end(),
        phrases=[found["day"], *(day for day in days), *(f"{day}s" for day in days)],
        # "Black Friday", "last Friday" and "before Friday" are no days of each week.
        open=[]
        if re.match(r"on |at |.*s$", found[0], re.I)
        else [f"whether {found[0]!r} is each such day; say 'on {found['day']}s'"],
    )


def _time(text: str) -> str | None:
    found = clock(text) or (clock(f"{text}:00") if re.fullmatch(r"\d{1,2}", text) else None)
    return f"{found:%H:%M}" if found else None


def _half(text: str) -> str:
    hour, minute = (int(part) for part in text.split(":"))
    tail = f":{minute:02}" if minute else ""
    return f"{hour % 12 or 12}{tail} {'pm' if hour > 11 else 'am'}"


def _shifted(text: str, seconds: int) -> str:
    return f"{datetime.strptime(text, '%H:%M') + timedelta(seconds=seconds):%H:%M:%S}"


def _times_apart(start: str, end: str) -> tuple[list[Value], list[Value]]:
    """Return five times of day outside some hours, and five within."""
    every = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in (10, 40)]

    def inside(text: str) -> bool:
        return start <= text <= end if start <= end else text >= start or text <= end

    wrong = [text for text in every if not inside(text)]
    right = [text for text in every if inside(text)]

    def spread(among: list[str]) -> list[Value]:
        return [among[len(among) * at // 5] for at in range(5)] if among else []

    return spread(wrong), spread(right)
