"""Numbers as people write them: figures, grouped figures, scales and words."""

import re
import unicodedata
from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache
from importlib import import_module

from constraintrot.rule_text.units import visible

# Longer than any written amount; it also bounds every pattern here.
LONGEST = 200

# Enough digits that no product of two written amounts is rounded.
EXACT = Context(prec=2 * LONGEST, traps=[])

_LANGUAGES = ("en", "es", "fr", "de")
_MARKS = str.maketrans("‐‑‒–—―−‘’ʼ´`′٫٬，。", "-------''''''.,,.")
# Powers of ten; "mil" is Spanish for 1000, and English slang for a million, which is more.
_SCALES = {
    word: power
    for power, words in {
        2: "hundred 百", 3: "k thousand thousands grand mil 千", 4: "万 萬",
        6: "m mm mn mio million millions millón millon millones", 8: "亿 億",
        9: "b bn billion billions", 12: "trillion trillions",
    }.items()
    for word in words.split()
}  # fmt: skip
_SCALED = re.compile(r"(.+?) ?(" + "|".join(sorted(_SCALES, key=len, reverse=True)) + ")")
_GROUPED = re.compile(r"(\d{1,3}(?:(?P<gap>[ ',._])\d{3})(?:(?P=gap)\d{3})*)(?:([.,])(\d+))?")
_SIMPLE = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,4})?|\d*,\d+")
# Numerals without a value in Unicode: spoken forms of 0, 1 and 2.
_SPOKEN = {"零": 0, "幺": 1, "两": 2, "兩": 2}
_ON_CHEQUES = str.maketrans("壹贰貳叁參肆伍陆陸柒捌玖拾佰仟", "一二二三三四五六六七八九十百千")
_PARTS = {"half": "0.5", "a half": "0.5", "half a": "0.5", "quarter": "0.25", "a quarter": "0.25"}
_COUNTED = {"dozen": 12, "dutzend": 12, "docena": 12, "pair": 2, "couple": 2, "par": 2}


def fold(text: str) -> str | None:
    """Fold a text, digits as ASCII; None if it is too long, or holds a digit as in ``10²``."""
    text = visible(text).strip()
    if len(text) > LONGEST:
        return None
    shapes = (unicodedata.decomposition(char).partition(">")[0] for char in text)
    if any(shape in ("<super", "<sub", "<fraction") for shape in shapes):
        return None
    digits = "".join(str(unicodedata.decimal(char, char)) for char in text)
    folded = unicodedata.normalize("NFKC", digits).casefold().translate(_MARKS)
    return re.sub(r"\s+", " ", folded).strip()


def number(text: str) -> Decimal | None:
    """Return the number in a folded text, or None if it is not a number."""
    text = text.removeprefix("+").strip()
    if not text or len(text) > LONGEST:
        return None
    for read in (_figures, _words, _han, _scaled):
        found = read(text)
        if found is not None:
            return found
    return None


def of_json(value: object) -> Decimal | None:
    """Return a JSON number as an exact decimal; None for a negative or infinite one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # By its printed form, which is the decimal that was meant.
    exact = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    return exact if exact.is_finite() and exact >= 0 else None


def _figures(text: str) -> Decimal | None:
    grouped = _GROUPED.fullmatch(text)
    if grouped and _is_grouping(grouped):
        whole = re.sub(r"\D", "", grouped[1])
        return Decimal(f"{whole}.{grouped[4] or 0}")
    if _SIMPLE.fullmatch(text):
        return Decimal(text.replace(",", "."))
    return None


def _is_grouping(found: re.Match[str]) -> bool:
    """Return whether the first mark separates thousands and not cents."""
    gap, mark = found["gap"], found[3]
    if mark == gap or re.match(r"0\D", found[1]):
        return False
    # 1.299 stays a decimal fraction, because the field is in dollars.
    return gap != "." or mark is not None or found[1].count(".") > 1


def _words(text: str) -> Decimal | None:
    if text in _PARTS:
        return Decimal(_PARTS[text])
    if text.endswith(" and a half"):
        lead = number(text.removesuffix(" and a half"))
        return None if lead is None else lead + Decimal("0.5")
    named = re.fullmatch(r"(?:(.+?) )?([a-z]+?)s?(?: of)?", text)
    if named and named[2] in _COUNTED:
        lead = Decimal(1) if named[1] in (None, "a") else number(named[1])
        return None if lead is None else lead * _COUNTED[named[2]]
    return _spelled(re.sub(r"^an? (?=\w)", "one ", text))


def digits_of(text: str, language: str = "en") -> str:
    """Return a text with its number words as figures: ``3`` for ``three``."""
    # By name, because it ships no types; and here, so that importing this module stays cheap.
    figures: Callable[[str, str, float], str] = import_module("text_to_num").alpha2digit
    return figures(text, language, 0.0)


@lru_cache(maxsize=256)
def _spelled(text: str) -> Decimal | None:
    """Parse a number in the words of one language, such as ``ninety-nine``."""
    text = text.replace(", ", " ")
    # "once" is one time in English, and eleven in Spanish; "null" is zero only in German.
    if text in ("once", "null") or not re.fullmatch(r"[^\W\d_]+(?:[ -][^\W\d_]+)*", text):
        return None
    read = (digits_of(text, language) for language in _LANGUAGES)
    return next((_figures(one) for one in read if re.fullmatch(r"\d+(?:[.,]\d+)?", one)), None)


def _han(text: str) -> Decimal | None:
    """Parse a whole number in Chinese numerals, such as ``一千二百零五``, also in cheque forms."""
    text = text.translate(_ON_CHEQUES)
    if not re.fullmatch("[零〇一二三四五六七八九两兩十百千万萬亿億]+", text):
        return None
    if not re.search("[十百千万萬亿億]", text):
        return Decimal("".join(str(int(numeral(char))) for char in text))
    total = section = digit = 0
    for char in text:
        unit = int(numeral(char))
        if unit < 10:
            digit = unit
        elif unit < 10_000:
            section, digit = section + (digit or 1) * unit, 0
        else:
            total, section, digit = (total + section + digit) * unit, 0, 0
    return Decimal(total + section + digit)


def numeral(char: str) -> float:
    """Return the value of one character, such as a Chinese numeral; -1 if it has none."""
    return _SPOKEN[char] if char in _SPOKEN else unicodedata.numeric(char, -1)


def _scaled(text: str) -> Decimal | None:
    found = _SCALED.fullmatch(text)
    if not found:
        return None
    lead = number(re.sub(r"(?: of)? an?$", "", found[1]))
    scale = _SCALES[found[2]]
    if lead is None or (scale == 2 and lead >= 100):  # "one hundred one hundred" is no number
        return None
    return EXACT.multiply(lead, Decimal(10) ** scale)
