"""Prices in dollars as people write them, and the least and the most that they can be."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from constraintrot.rule_text.numbers import EXACT, fold, number, of_json
from constraintrot.scenario.values import is_list, is_mapping, leaves

_DOLLAR = (
    r"(?:(?:us|u\.s\.) ?\$|\$ ?us|\$|(?:us ?|u\.s\. |american )?dollars?(?: us)?|usd|bucks?"
    r"|d[oó]lar(?:es)?(?: estadounidenses?)?|美元|美金)"
)
_BEFORE = re.compile(rf"^(?:{_DOLLAR}[ :=]*){{1,2}}")
_AFTER = re.compile(rf"(?: *(?:{_DOLLAR}|\({_DOLLAR}\))){{1,2}}$")
# What may follow a price: that it is a unit's, and that there is no more to it.
_EACH = re.compile(
    r" ?(?:each|ea|apiece|a piece|/ ?ea|/ ?each|(?:per |/ ?)(?:unit|item|piece)|c/u|cada un[oa]"
    r"|[/每] ?[个個件台只支盒箱把卷袋份包])\.?$"
)
_ONLY = re.compile(r"[ ,]*\(?(?:only|net|flat|in total|total|en total|sólo|solo|整)\)?\.?$")
_CENTS = re.compile(rf"^(?:(.+?) ?(?:{_DOLLAR})?,? and |(.+?) ?{_DOLLAR} )?(.+?) ?(?:cents?|¢)$")
# Swiss and German prices end in a dash for no cents: 80.- or 80,--
_NO_CENTS = re.compile(r"(?<=\d)[.,]-+$")

_OVER = re.compile(r"(?:over|above|more than|m[aá]s de|超过|高于|>) ?(.+)|(.+?) ?(?:\+|and up)")
_LEAST = re.compile(
    r"(?:at least|from|min(?:imum)?\.?|al menos|desde|m[ií]nimo|至少|最少|>=|≥) ?(.+)|(.+?) ?(?:以上|起)"
)
_MOST = re.compile(
    r"(?:up to|at most|max(?:imum)?\.?|under|below|less than|hasta|como m[aá]ximo|menos de"
    r"|最多|不超过|低于|<=?|≤) ?(.+)|(.+?) ?(?:以下|以内)"
)
_ABOUT = re.compile(
    r"(?:about|around|approx(?:imately)?\.?|roughly|circa|ca\.|unos|unas|aproximadamente|约|大约|~"
    r"|≈) ?(.+)|(.+?) ?(?:左右)"
)
_RANGE = re.compile(r"(?:between |entre )?(.+?) ?(?:-| to | and | a | y |至|到|~) ?(.+)")
_TIMES = re.compile(r"([1-9]\d{0,5}) ?[x×*] ?(.+)")
_EACH_OF = re.compile(
    r"(.+?) ?(?:each|ea|apiece|c/u|per unit|per piece),? ?(?:x ?|for )?(\d{1,6})"
    r" ?(?:x|pieces|pcs|units|unidades|个)?"
)
# Dollars that one of these has always been worth more than, since there is the euro.
_FOREIGN = {
    "eur": "0.8",
    "euro": "0.8",
    "euros": "0.8",
    "€": "0.8",
    "gbp": "1",
    "£": "1",
    "chf": "0.5",
}
_CURRENCY = re.compile(r"(eur|euros?|€|gbp|£|chf) ?(.+)|(.+?) ?(eur|euros?|€|gbp|£|chf)")


class Price(NamedTuple):
    """The lowest and the highest price of one unit; without an upper end if ``most`` is None.

    Attributes:
        least: in dollars.
        most: in dollars.
        more: whether it is more than ``least``, rather than at least that.
    """

    least: Decimal
    most: Decimal | None
    more: bool = False


def price(value: object) -> Price | None:
    """The price that an argument's value writes, or None where it writes none."""
    if is_list(value) or is_mapping(value):
        return _held(value)
    exact = _amount(value)
    if exact is not None:
        return Price(exact, exact)
    text = fold(value) if isinstance(value, str) else None
    return None if text is None else _bounded(text.strip("\"'“”"))


def _held(value: object) -> Price | None:
    """Return the one number in a list or mapping, which the tool does not take as a price."""
    found = [amount for leaf in leaves(value) if (amount := _amount(leaf)) is not None]
    return Price(found[0], None) if len(found) == 1 else None


def _bounded(text: str) -> Price | None:
    """Such as ``over 600``, ``600-700``, ``about 600``, ``12 x 50`` or ``600 EUR``."""
    for pattern in (_OVER, _LEAST, _MOST, _ABOUT):
        found = pattern.fullmatch(text)
        amount = _written(found[1] or found[2]) if found else None
        if amount is not None:
            return {
                _OVER: Price(amount, None, more=True),
                _LEAST: Price(amount, None),
                _MOST: Price(Decimal(0), amount),
                _ABOUT: Price(amount / 2, amount * 2),
            }[pattern]
    return _foreign(text) or _between(text) or _product(text)


def _between(text: str) -> Price | None:
    found = _RANGE.fullmatch(text)
    ends = [_written(found[1]), _written(found[2])] if found else []
    known = [end for end in ends if end is not None]
    return Price(min(known), max(known)) if len(known) == 2 else None


def _product(text: str) -> Price | None:
    times, each_of = _TIMES.fullmatch(text), _EACH_OF.fullmatch(text)
    found = times or each_of
    if found is None:
        return None
    count, each = (found[1], found[2]) if times else (found[2], found[1])
    unit = _written(each)
    if unit is None:
        return None
    total = EXACT.multiply(Decimal(count), unit)
    return Price(total, total)


def _foreign(text: str) -> Price | None:
    found = _CURRENCY.fullmatch(text)
    if not found:
        return None
    amount = number((found[2] or found[3]).strip())
    worth = Decimal(_FOREIGN[found[1] or found[4]])
    return None if amount is None else Price(EXACT.multiply(amount, worth), None)


def _amount(value: object) -> Decimal | None:
    if not isinstance(value, str):
        return of_json(value)
    text = fold(value)
    if text is None:
        return None
    text = _EACH.sub("", _ONLY.sub("", text.strip("\"'“”")))
    return _written(re.sub(r"(?<=[^\W\d_])\.$", "", text).strip())  # a sentence's full stop


def _written(text: str) -> Decimal | None:
    return _cents(text) if re.search("cents?$|¢$", text) else _dollars(text)


def _dollars(text: str) -> Decimal | None:
    bare = _AFTER.sub("", _BEFORE.sub("", text)).strip()
    return number(_NO_CENTS.sub("", bare))


def _cents(text: str) -> Decimal | None:
    """Such as ``99 cents`` or ``80 dollars and 50 cents``."""
    found = _CENTS.match(text)
    cents = number(found[3]) if found else None
    if not found or cents is None:
        return None
    lead = found[1] or found[2]
    whole = Decimal(0) if lead is None else _dollars(lead)
    return None if whole is None else whole + cents / 100
