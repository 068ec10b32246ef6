"""The standing rules that somebody says in a session, and the clauses of them that rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from constraintrot.rule_text import cues
from constraintrot.rule_text.extraction import constraints
from constraintrot.rule_text.units import fold, units

Kind: TypeAlias = Literal["rules", "document", "log", "tool"]
"""The origin of a text: who may rule says it, or a document, a log of changes, a tool's result."""

# What begins so is a rule, though no word in it forbids or obliges.
IMPERATIVE = re.compile(
    r"(?:please )?(?:use|run|keep|prefer|write|add|avoid|ask|check|test|follow|put|make|name|format"
    r"|commit|open|update|document|include|leave|stick|set|return|validate|handle|import|log"
    r"|target|answer|reply|call|create|store|usa|ejecuta|escribe|evita)\b",
    re.IGNORECASE,
)
# What leads in to a rule and is no part of it.
LEAD_IN = re.compile(
    r"^(?:before (?:i|we) forget(?: (?:it|this|that))?|(?:please )?keep in mind|bear in mind"
    r"|reminder|please note|note)\s*[:,]\s+(?=\S)",
    re.IGNORECASE,
)
# One that says how many come, or when to read them.
_OPENER = re.compile(
    r"^(?:before (?:you (?:start|begin)|we (?:start|begin)|anything else|that)"
    r"|(?:one|two|three|four|a few|some|another|another few|the) (?:more )?(?:things?|rules?|notes?|points?|words?)"
    r"|first(?: of all)?|also|by the way|important|reminder|heads[- ]up|(?:house|ground) rules?)\b"
    r"[^:;.]{0,80}:\s+(?=\S)",
    re.IGNORECASE,
)
_SEGMENT = re.compile(
    r";\s*|\s[—–-]\s|(?<=[.!?])\s+|,?\s+(?=(?:because|since|so that|otherwise|or else)\b)"
    r"|,\s+(?=as (?:it|we|they|that|this|the)\b)"
)
_REASON = re.compile(
    r"(?:because|since|so that|otherwise|or else|as|it|that|this|they|those|these|there|we|i|if|he|she)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()`\d]*\b(?:we|it|they|this|that|is|are|was|has|have)\b[^()`\d]*\)")
# An imperative that chooses, and asks for more than one thing once.
CHOOSES = re.compile(r",? not \w|\b(?:instead of|rather than)\b")
_VALUE = re.compile(r"[`\d]")
_AND = re.compile(
    r"[,;]?\s+(?:and|but)\s+(?=(?:please\s+)?(?:never|do not|don't|always|avoid)\s)"
    r"|[,;]\s+(?=(?:please\s+)?(?:never|do not|don't|always)\s)",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|them|these|those|that|there)\b", re.IGNORECASE)
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
# Marks of code; prose has few.
_MARKS = "{}()[];=<>|_\\"
_MOST_MARKS = 0.03
_LABEL = re.compile(r"^(?:[\w' -]{2,40}:\s+)?(?:please|also|and|but)?[, ]*", re.IGNORECASE)
_NEVER = re.compile(
    r"(?:never|always|do not|don't|only|no|nobody|nothing|avoid|nunca|jam[aá]s|siempre)\b",
    re.IGNORECASE,
)
# Not a row of a table, the half of a wrapped line, or what leads in to code.
_SENTENCE = re.compile(r"(?![a-z|:`#/]).*(?<![:,(])$", re.DOTALL)
_LEGALESE = re.compile(
    r"\b(?:copyright|warrant\w*|licen[sc]\w*|liab\w+|redistribut\w+|sublicens\w*|derivative)\b",
    re.IGNORECASE,
)


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


def stated(text: str, kind: Kind) -> Iterator[str]:
    """The rules that a text of a kind states; from one that nobody here wrote, read more strictly.

    A page that an agent reads is full of sentences that forbid something to somebody: of a
    library's arguments, a licence's, a parser's. So a rule is taken from one only where the
    sentence is a standing one and speaks to whoever works there; from source code none is.

    Args:
        text: the text.
        kind: where it is from.
    """
    if kind == "rules":
        yield from said(text)
    elif kind != "tool" or (_is_prose(text) and cues.OURS.search(text.casefold())):
        yield from (told for told in standing(text) if _meant(told, kind))


def _is_prose(text: str) -> bool:
    return sum(map(text.count, _MARKS)) <= _MOST_MARKS * len(text)


def _meant(told: str, kind: Kind) -> bool:
    letters = [letter for letter in told if letter.isalpha()]
    if not _SENTENCE.match(told) or (len(told.split()) < 4 and told.isascii()):
        return False
    if _LEGALESE.search(told) or sum(map(str.isupper, letters)) > len(letters) / 2:
        return False
    if kind == "document" and _NEVER.match(_LABEL.sub("", told, count=1)):
        return True
    plain = fold(told)
    ours = cues.OURS.search(plain) is not None
    return ours or (
        kind == "document" and any(one.search(plain) for one in (cues.OBLIGED, cues.DECISIVE))
    )


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


def has_force(plain: str) -> bool:
    """Return whether a folded sentence forbids or obliges, by the words of it."""
    plain = cues.NO_FORCE.without(plain)
    return any(one.search(plain) for one in (cues.FORCE, cues.BINDING, cues.OBLIGED))


def ruling(text: str) -> str:
    """A rule without what leads in to it and why it is: "Never force-push to main; ...".

    Args:
        text: the rule as it was said.

    Returns:
        The clauses that forbid or oblige, and those with a value, without the stop at the end.
    """
    parts = _SEGMENT.split(_ASIDE.sub("", _OPENER.sub("", LEAD_IN.sub("", text.strip()))))
    first = next((at for at, part in enumerate(parts) if _rules(part)), 0)
    kept = parts[: first + 1] + [
        part
        for part in parts[first + 1 :]
        if _VALUE.search(part) or (has_force(fold(part)) and not _REASON.match(part))
    ]
    found = ". ".join(part.strip(" ,.!") for part in kept if part.strip(" ,.!"))
    return found if len(found.split()) > 1 else text


def _rules(part: str) -> bool:
    return IMPERATIVE.match(part) is not None or has_force(fold(part))


def parted(sentence: str) -> list[str]:
    """The rules that one sentence joins: "Never force-push, and do not add packages."."""
    found = [sentence]
    for joint in reversed(list(_AND.finditer(sentence))):
        left, right = sentence[: joint.start()], sentence[joint.end() :]
        whole = len(ruling(left).split()) > 3 and _rules(_OPENER.sub("", left))
        if whole and len(right.split()) > 2 and not _REFERS.search(right):
            found[:1] = [left, right]
            sentence = left
    return found
