"""Recognises limits in a policy's sentence: numbers, amounts of money, spans of time."""

import re
from collections.abc import Iterator
from dataclasses import replace

from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.rule_text.amounts import amount, unit_of
from constraintrot.scenario.template import Value

_BELOW = r"younger|newer|less|fewer|shorter|under|below|within|sooner|smaller|lower|min(?:imum)?|at least|no less|no fewer"
_ABOVE = r"older|more|greater|longer|over|above|beyond|exceed(?:s|ing)?|larger|higher|up to|at most|max(?:imum)?|no more|no longer|no older"
_WORDS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|ninety|(?:a|one) hundred|(?:a|one) thousand)"
_FIGURE = r"\d[\d,]*(?:\.\d+)?k?"
_SMALL = (
    "a|an|and|at|but|by|except|for|from|if|in|of|on|or|per|the|to|unless|until|when|with|without"
)
_UNIT = rf"(?:[ -]?(?P<unit>%|(?!(?:{_SMALL})\b)(?<=[ -])[a-z]+))?"
_AMOUNT = (
    rf"(?P<sign>[$€£])?(?P<number>{_FIGURE}|{_WORDS})(?: ?(?P<currency>usd|eur|gbp|dollars?|euros?|pounds?)\b)?"
    rf"{_UNIT}(?P<old> old)?(?: (?:long|in length))?"
)
_COMPARED = re.compile(
    rf"(?:\b(?P<low>{_BELOW})|\b(?P<high>{_ABOVE}))(?: than| of)?(?: the)? {_AMOUNT}", re.IGNORECASE
)
# "1000 dollars or more": the bound itself is included.
_REACHED = re.compile(
    rf"(?:\b(?:of|for|costs?|costing|with|worth) )?{_AMOUNT} (?:(?P<high>or (?:more|above|over|longer|older))"
    r"|(?P<low>or (?:less|fewer|below|under|younger|shorter)))",
    re.IGNORECASE,
)
# These name an allowed bound, so the sentence's mood does not reverse it.
_BOUND = re.compile(
    r"at least|no less|no fewer|min(?:imum)?|up to|at most|max(?:imum)?|no more|no longer|no older",
    re.I,
)
# Limits on several calls together; a session counts as one such span.
_TOGETHER = re.compile(
    r" (?:(?:per|an?|each|every|in (?:an?|one)) (?:day|week|month|quarter|year|hour|session|conversation)"
    r"|in total|altogether|overall|combined|all told)$",
    re.IGNORECASE,
)
# Elsewhere "1.000" is a thousand.
_PLAIN = re.compile(r"\d+\.\d{1,2}|\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?")
# From here on a number tells the policy by itself.
_TELLING = 100


def compared(sentence: Sentence) -> Rule | None:
    """Return the rule on a number or a span of time, above or below a limit."""
    reached = _REACHED.search(sentence.phrase)
    found = reached or _COMPARED.search(sentence.phrase)
    if not found:
        return None
    low = found["low"] is not None
    # "Never more than 5" and "at most 5" set the most; "only older than 5" sets the least.
    bound = _BOUND.fullmatch(found["low"] or found["high"]) is not None
    least = low if bound else low == (sentence.mood in ("never", "other"))
    unit = unit_of(found["unit"]) if found["unit"] else None
    if found["number"].endswith("k"):
        return None
    number = amount(found["number"])
    if number is None or number <= 0:
        return None
    limit: Value = int(number) if number == int(number) else float(number)
    wrong, right = _around(float(limit), least)
    # "Only older than 30 days" excludes 30 days; "never younger than" allows them.
    limits = sentence.mood in ("only", "always")
    # "Within 5 minutes" includes the fifth.
    reaches = bool(reached) or (found["low"] or "").casefold() == "within"
    strict = {"strict": True} if not bound and limits != reaches else {}
    asked = f"whether {found[0]!r} is what the rule forbids or what it asks for"
    doubts = [asked] if bound and sentence.mood == "never" else []
    doubts += _unclear(found, unit)
    if unit is not None:
        rule = _span(found, limit, least, unit, wrong, right)
        return replace(rule, predicate={**rule.predicate, **strict}, open=doubts)
    money = found["sign"] or found["currency"]
    noun = "percent" if found["unit"] == "%" else found["unit"] or "items"
    name = f"amount_{_currency(money)}" if money else noun.casefold()
    together = _TOGETHER.match(sentence.phrase, found.end()) if not least else None
    what = {"usd": "dollars", "eur": "euros", "gbp": "pounds"}[_currency(money)] if money else noun
    return Rule(
        kind="an amount" if money else "a number",
        predicate={
            "type": "number_outside",
            "least" if least else "most": "{{limit}}",
            **strict,
            **({"together": True} if together else {}),
        },
        argument=name,
        schema={"type": "number" if money else "integer", "description": f"How many {what}."},
        says=f"it comes to {{value}} {what}",
        wrong=wrong,
        right=right,
        start=found.start(),
        end=together.end() if together else found.end(),
        written=(found["number"], "limit"),
        values={"limit": limit},
        phrases=[
            *_phrases(float(limit), found["number"], what, bool(money)),
            found[0].strip().replace(found["number"], "{{limit}}"),
        ],
        open=doubts,
    )


def _unclear(found: re.Match[str], unit: str | None) -> Iterator[str]:
    """The questions about what a figure counts."""
    counted, currency = found["unit"] or "", (found["currency"] or "").casefold()
    money = currency or found["sign"]
    if currency.startswith("pound"):
        yield f"whether {found[0].strip()!r} is money or a weight; say GBP for money"
    if counted and (money or not (unit or re.search(r"%$|s$|percent$|people$", counted, re.I))):
        yield f"what {counted!r} means for the rule"
    if re.search(r"[.,]", found["number"]) and not _PLAIN.fullmatch(found["number"]):
        yield f"which number {found['number']!r} is"


def _span(
    found: re.Match[str], limit: Value, least: bool, unit: str,
    wrong: list[Value], right: list[Value],
) -> Rule:  # fmt: skip
    aged = bool(found["old"]) or re.match("young|new|old|no older", found[0], re.I) is not None
    units = f"{unit}s"
    return Rule(
        kind="a span of time",
        predicate={
            "type": "duration_outside",
            "least" if least else "most": f"{{{{limit}}}} {units}",
            "unit": units,
        },
        argument=f"age_{units}" if aged else units,
        schema={
            "type": "integer",
            "description": f"How old it is, in {units}." if aged else f"How many {units}.",
        },
        says=f"it is {{value}} {units} old" if aged else f"it is for {{value}} {units}",
        wrong=wrong,
        right=right,
        start=found.start(),
        end=found.end(),
        written=(found["number"], "limit"),
        values={"limit": limit},
        phrases=[f"{{{{limit}}}} {units}", f"{{{{limit}}}} {unit}", f"{{{{limit}}}}-{unit}",
                 *_in_words(found["number"], f" {units}")],
    )  # fmt: skip


def _phrases(limit: float, written: str, what: str, money: bool) -> list[Value]:
    """Return the slot of a number; a small number is common, so it needs its unit."""
    if limit >= _TELLING:
        return ["{{limit}}"]
    sign = {"dollars": "$", "euros": "€", "pounds": "£"}.get(what) if money else None
    if what == "percent":
        return ["{{limit}}%", "{{limit}} %", "{{limit}} percent", "{{limit}} per cent"]
    signed = [f"{sign}{{{{limit}}}}", f"{{{{limit}}}} {what[:-1]}"] if sign else []
    return [f"{{{{limit}}}} {what}", *signed, *_in_words(written, f" {what}")]


def _around(limit: float, least: bool) -> tuple[list[Value], list[Value]]:
    """Return five values that a limit forbids, and five that it allows."""
    below = [limit * part for part in (0.1, 0.2, 0.4, 0.6, 0.8)]
    above = [limit * part for part in (1.5, 2.2, 3.1, 4.3, 6.2)]
    if limit >= 5 and limit == int(limit):
        below, above = [max(1, round(one)) for one in below], [round(one) for one in above]
    else:
        below, above = [round(one, 3) for one in below], [round(one, 3) for one in above]
        if limit == int(limit):
            below = [float(at) for at in range(1, int(limit))] or [0.0]
            above = [limit + at for at in range(1, 6)]
            below = [below[at % len(below)] for at in range(5)]
    small: list[Value] = [int(one) if one == int(one) else one for one in below]
    large: list[Value] = [int(one) if one == int(one) else one for one in above]
    return (small, large) if least else (large, small)


def _currency(written: str) -> str:
    low = written.casefold()
    if low in ("€", "eur") or low.startswith("euro"):
        return "eur"
    return "gbp" if low in ("£", "gbp") or low.startswith("pound") else "usd"


def _in_words(written: str, unit: str) -> list[str]:
    """Return a small number in words with its unit, as a summary may write it."""
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
             10: "ten", 12: "twelve", 14: "fourteen", 20: "twenty", 30: "thirty", 60: "sixty",
             90: "ninety"}  # fmt: skip
    number = amount(written)
    found = words.get(int(number)) if number is not None and number == int(number) else None
    return [f"{found}{unit}"] if found else []
