"""The clauses of a sentence that state a rule, and those that say why, lead in, or state another."""

from __future__ import annotations

import re

from constraintrot.rule_text import cues
from constraintrot.rule_text.units import fold

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


def has_force(plain: str) -> bool:
    """Return whether a folded sentence forbids or obliges, by the words of it."""
    plain = cues.NO_FORCE.without(plain)
    return any(one.search(plain) for one in (cues.BINDING, cues.OBLIGED))


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
