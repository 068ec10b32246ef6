"""Numbers, amounts, dates and times of a text in one form each, to compare texts.

``1,000`` and ``1000``, ``three`` and ``3``, ``5 min`` and ``five minutes``, ``€5`` and
``5 euros`` become equal. Forms that may differ in meaning (``1.000``, ``3.0`` and ``3``) or are
rare (``5k``, ``三百``) stay different: that may keep a bullet too many, but loses none.
"""

import re
import unicodedata
from calendar import day_name, month_abbr, month_name
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from constraintrot.rule_text.amounts import unit_of
from constraintrot.rule_text.numbers import digits_of

# A run of letters or digits with the inner signs of an address, a path or a number, and a sign
# before it (#channel, @name); or one Chinese character.
_WORD: Final = re.compile(
    r"[#@$]?[^\W_\u4e00-\u9fff](?:[^\W\u4e00-\u9fff]|[./:@-](?=\w))*|[\u4e00-\u9fff]"
)
_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'\u00a0\u2009\u202f]\d{3})+(?![\d,'])")
_COMMA: Final = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![.,]?\d)")
_COMPARED: Final = re.compile(r"([<>]=?|[≤≥≠])(?=\s*[-\u2212$€£¥]?\s?\d)")
# Number words are found by the spaces beside them, which Chinese lacks.
_BESIDE_CHINESE: Final = re.compile(
    r"(?<=[\u4e00-\u9fff])(?=[^\W\d_\u4e00-\u9fff])|(?<=[^\W\d_\u4e00-\u9fff])(?=[\u4e00-\u9fff])"
)
_MINUS: Final = re.compile(r"(?<![^\W\u4e00-\u9fff])(?<!\w[.:/])[-\u2212](?=[$€£¥]?\d)")
_PRICE: Final = re.compile(r"([$€£¥])\s?(\d+(?:[.,:]\d+)*)")
_PRICED: Final = re.compile(r"\b(usd|eur|gbp|jpy|cny|rmb)\s?(\d+(?:[.,:]\d+)*)")
_MARKED: Final = re.compile(r"(?<=\d)\s?([$€£¥%‰°])")
_GLUED: Final = re.compile(r"(\d+(?:[.:]\d+)*)-?([^\W\d_]+)")
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
# The hyphens distinguish these from words of letters alone.
_SIGNS: Final = {
    "<": " less-than ", ">": " more-than ", "<=": " at-most ", ">=": " at-least ",
    "≤": " at-most ", "≥": " at-least ", "≠": " not-equal ", "$": " dollar ", "€": " euro ",
    "£": " pound ", "¥": " yen ", "%": " percent ", "‰": " permille ", "°": " degree ",
    "-": " minus-sign ",
}  # fmt: skip
# Unicode's categories of pictures and of mathematical signs; two of the signs are in quantities.
_SIGN: Final = frozenset(["So", "Sm"])
_IN_QUANTITIES: Final = "°−"
_SHARP: Final = re.compile(r"(?<=\w)#")
_SIGNED: Final = frozenset(sign.strip() for sign in _SIGNS.values())
_BEFORE: Final = frozenset(_SIGNS[sign].strip() for sign in ("<", ">", "<=", ">=", "≠", "-"))
# Units of time are in ``amounts``.
_UNITS: Final[dict[str, str]] = {
    word: words.split()[0]
    for words in (
        "dollar dollars usd dólar dólares", "euro euros eur", "pound pounds gbp", "yen jpy",
        "yuan cny rmb 元 块", "percent pct", "permille", "degree", "byte bytes", "kb", "mb", "gb", "tb",
        "am a.m", "pm p.m",
    )
    for word in words.split()
}  # fmt: skip
# Words that say when, how often or how much.
_TELLING: Final = frozenset(
    f"""{" ".join([*month_name, *month_abbr, *day_name]).casefold()} sept
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    hourly daily nightly weekly fortnightly monthly quarterly yearly annually today tomorrow
    yesterday noon midnight morning evening once twice thrice half quarter double triple single
    hundred thousand million dozen diario semanal mensual anual mañana mitad doble
    cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta
    cincuenta sesenta setenta ochenta noventa cien mil millón millones k 两 半
    """.split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case; each Chinese character is one."""
    return _WORD.findall(_lower(text))


@lru_cache(maxsize=4096)
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, with numbers in one form and joined to their units."""
    found: list[str] = []
    for word in _split(_plain(text)):
        unit = _unit(word)
        if unit and found and _NUMBER.fullmatch(found[-1]):
            found[-1] += unit
        else:
            found.append(word)
    return tuple(_signed(found))


def _unit(word: str) -> str | None:
    return _UNITS.get(word) or unit_of(word)


def is_quantity(word: str) -> bool:
    """Return whether one of ``plain_words`` holds a number, or says when, how often or how much."""
    telling = word in _TELLING or word.removesuffix("s") in _TELLING
    return telling or word in _SIGNED or any(map(str.isnumeric, word))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, with their units."""
    return {word for word in plain_words(text) if any(map(str.isnumeric, word))}


def signs(text: str) -> Counter[str]:
    """Count the signs of a text outside its words, as a check mark or the sign in C#."""
    text = text.replace("!=", "≠").replace("<=", "≤").replace(">=", "≥")
    found = (one for one in text if unicodedata.category(one) in _SIGN)
    return Counter([*(one for one in found if one not in _IN_QUANTITIES), *_SHARP.findall(text)])


def _lower(text: str) -> str:
    # NFC, because a letter and its accent may be two characters.
    return unicodedata.normalize("NFC", text.casefold()).replace("’", "'")


def _plain(text: str) -> str:
    text = _lower(text)
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = digits_of(_BESIDE_CHINESE.sub(" ", text))
    text = _THOUSANDS.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    text = _COMMA.sub(r"\1.\2", text)
    text = _COMPARED.sub(lambda found: _SIGNS[found[1]], text)
    text = _MINUS.sub(_SIGNS["-"], text)
    text = _PRICE.sub(lambda found: f"{found[2]}{_SIGNS[found[1]]}", text)
    text = _PRICED.sub(r"\2 \1", text)
    return _MARKED.sub(lambda found: _SIGNS[found[1]], text)


def _signed(found: list[str]) -> Iterator[str]:
    """Yield words, with the signs before a number joined to it."""
    sign = ""
    for word in found:
        if word in _BEFORE:
            sign += word
        else:
            yield sign + word
            sign = ""
    if sign:
        yield sign


def _split(text: str) -> list[str]:
    """Return words, with numbers split from their units."""
    found: list[str] = []
    for word in _WORD.findall(text):
        glued = _GLUED.fullmatch(word)
        if glued and glued[2] in ("st", "nd", "rd", "th"):
            found.append(glued[1])
        elif glued and _unit(glued[2]):
            found += glued.groups()
        else:
            found.append(word)
    return found
