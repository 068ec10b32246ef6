"""The standing rules that somebody says in a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from constraintrot.rule_text import cues
from constraintrot.rule_text.extraction import constraints
from constraintrot.rule_text.ruling import CHOOSES, IMPERATIVE, LEAD_IN, has_force, parted
from constraintrot.rule_text.units import units

# Longer texts are not rules but documents.
_LONGEST = 1_200
# Numbers of lines, as agents read files.
_LINE_NUMBER = re.compile(r"^[ \t]*\d+(?:\t|→|: |\| )", re.MULTILINE)
_ANAPHORA = re.compile(
    r"(?:they|it|this|these|those|that|such|he|she|there|them|all of (?:it|them)|otherwise|so)\b",
    re.IGNORECASE,
)
# A sentence that tells of something, or asks for this one thing.
_NO_RULE = re.compile(
    r"(?:i|i'm|it|it's|that|this|there|he|she|they|what|why|how|which|maybe|perhaps|if|sorry|thanks"
    r"|(?:please )?(?:do not|don't) (?:forget|worry|bother|hesitate))\b"
)
_ASKS = re.compile("[哪吗]|多少|忘了")
_HAN = re.compile("[\u3400-\u9fff]")


def said(text: str) -> Iterator[str]:
    """The standing rules that a text of a session holds.

    More are taken than ``pin_extract`` pins, since somebody confirms them: also a sentence
    that forbids or obliges without saying that it holds for long, unless it is about this
    occasion.
    """
    text = _without_numbers(text)
    taken = list(_standing(text))
    yield from taken
    for unit in units(text):
        sentence = " ".join(text[unit.start : unit.end].split())
        sentence = LEAD_IN.sub("", sentence)
        if _binds(sentence, unit.plain) and not _among(sentence, taken):
            yield from parted(sentence)


def standing(text: str) -> Iterator[str]:
    """Of the rules of a text those that hold beyond the occasion, as ``pin_extract`` pins them."""
    return _standing(_without_numbers(text))


def _standing(text: str) -> Iterator[str]:
    for found in constraints(text):
        for told in _apart(found):
            if _words(told) > 2 and len(told) <= _LONGEST:
                yield from parted(LEAD_IN.sub("", told))


def _among(sentence: str, taken: Sequence[str]) -> bool:
    return any(sentence in told or told in sentence for told in taken)


def _without_numbers(text: str) -> str:
    """A text without the numbers of its lines, where most have one."""
    lines = [line for line in text.splitlines() if line.strip()]
    numbered = sum(_LINE_NUMBER.match(line) is not None for line in lines)
    return _LINE_NUMBER.sub("", text) if numbered > len(lines) / 3 else text


def _binds(sentence: str, plain: str) -> bool:
    if (
        len(sentence) > _LONGEST
        or not 3 < _words(sentence) < 60
        or plain.endswith(("?", ":"))
        or _NO_RULE.match(plain)
    ):
        return False
    if cues.ONCE.search(plain) or _ASKS.search(plain):
        return False
    return has_force(plain)


def _words(text: str) -> int:
    """Return the number of words in a text; two Chinese characters count as one."""
    return max(len(text.split()), len(_HAN.findall(text)) // 2)


def _apart(span: str) -> list[str]:
    """The rules of neighbouring sentences; one that is none by itself belongs to the one before."""
    found: list[str] = []
    alone: list[bool] = []
    for unit in units(span):
        told = " ".join(span[unit.start : unit.end].split())
        chooses = IMPERATIVE.match(told) and CHOOSES.search(told)
        stands = bool(chooses) or next(constraints(told), None) is not None
        stands = stands or _binds(told, unit.plain)
        if found and stands and not alone[-1] and not _ANAPHORA.match(told):
            # What came before is no rule, and this one needs nothing of it.
            found[-1], alone[-1] = told, True
        elif found and not (stands and alone[-1]):
            found[-1] += " " + told
            alone[-1] = alone[-1] or stands
        else:
            found.append(told)
            alone.append(stands)
    return found
