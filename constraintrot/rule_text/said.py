"""The standing rules in a text, their binding clauses, and texts that read as a rule."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from constraintrot.rule_text import cues
from constraintrot.rule_text.extraction import belonging, paragraphs
from constraintrot.rule_text.units import fold

Kind: TypeAlias = Literal["rules", "document", "log", "tool"]
"""The origin of a text: somebody who may rule, a document, a log of changes, a tool's result."""
# Beginnings of a rule without a word that forbids or obliges.
IMPERATIVE = re.compile(
    r"(?:please )?(?:use|run|keep|prefer|write|add|avoid|ask|check|test|follow|put|make|name|format"
    r"|commit|open|update|document|include|leave|stick|set|return|validate|handle|import|log"
    r"|target|answer|reply|call|create|store|usa|ejecuta|escribe|evita)\b",
    re.IGNORECASE,
)
# Introductions that are not part of a rule, such as its number or occasion.
_LEAD_IN = re.compile(
    r"^(?:(?:please )?keep in mind|bear in mind|please note|note|before (?:(?:i|we) forget"
    r"|you (?:start|begin)|we (?:start|begin)|anything else|that)"
    r"|(?:one|two|three|four|a few|some|another|another few|the) (?:more )?(?:things?|rules?|notes?|points?|words?)"
    r"|first(?: of all)?|also|by the way|important|reminder|heads[- ]up|(?:house|ground) rules?)\b"
    r"[^:;.]{0,80}:\s+(?=\S)",
    re.IGNORECASE,
)
# A run of blanks is matched from its start only, which keeps these linear.
_SEGMENT = re.compile(
    r";\s*|\s[—–-]\s|(?<=[.!?])\s+|(?:,|(?<!\s))\s+(?=(?:because|since|so that|otherwise|or else)\b)"
    r"|,\s+(?=as (?:it|we|they|that|this|the)\b)"
)
_REASON = re.compile(
    r"(?:because|since|so that|otherwise|or else|as|it|that|this|they|those|these|there|we|i|if|he|she)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:(?<!\s)\s+)?\([^()`\d]{0,200}\b(?:we|it|they|this|that|is|are|was|has|have)\b[^()`\d]{0,200}\)"
)
# An imperative that chooses one of several ways, which asks for more than one act.
CHOOSES = re.compile(r",? not \w|\b(?:instead of|rather than)\b")
_VALUE = re.compile(r"[`\d]")
_AND = re.compile(
    r"(?:[,;]|(?<!\s))\s+(?:and|but)\s+(?=(?:please\s+)?(?:never|do not|don't|always|avoid)\s)"
    r"|[,;]\s+(?=(?:please\s+)?(?:never|do not|don't|always)\s)",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|them|these|those|that|there)\b", re.IGNORECASE)
# Longer texts are documents, not rules.
_LONGEST = 1_200
# Numbers of lines, as agents read files.
_LINE_NUMBER = re.compile(r"^[ \t]*\d+(?:\t|→|: |\| )", re.MULTILINE)
_ANAPHORA = re.compile(
    r"(?i)(?:they|it|this|these|those|that|such|he|she|there|them|all of (?:it|them)|otherwise|so)\b"
)
# A sentence that reports, or asks for one thing.
_NO_RULE = re.compile(
    r"(?:i|i'm|it|it's|that|this|there|he|she|they|what|why|how|which|maybe|perhaps|if|sorry|thanks"
    r"|(?:please )?(?:do not|don't) (?:forget|worry|bother|hesitate))\b"
)
_ASKS = re.compile("[哪吗]|多少|忘了")
_HAN = re.compile("[\u3400-\u9fff]")
# Marks of code; prose has few.
_MARKS = "{}()[];=<>|_\\"
_MOST_MARKS = 0.03
_NEVER = re.compile(
    r"(?i)(?:never|always|do not|don't|only|no|nobody|nothing|avoid|nunca|jam[aá]s|siempre)\b"
)
# Not a row of a table, half of a wrapped line, or an introduction to code.
_SENTENCE = re.compile(r"(?![a-z|:`#/]).*(?<![:,(])$", re.DOTALL)
_LEGALESE = re.compile(
    r"\b(?:copyright|warrant\w*|licen[sc]\w*|liab\w+|redistribut\w+|sublicens\w*|derivative)\b",
    re.IGNORECASE,
)

# May bind, if a single word is enough.
_MAY_BIND = cues.Cues(
    r"\b(?:only (?:to|in|with|by|from|after|if|when|on|at|for|the)|at least|no later|limit(?:s|ed)? of"
    r"|unless|always|siempre|solo|unicamente|hochstens|nur|darf|durfen|stets|immer)\b|^only\b|n't\b|\bmin\w*mum\b|一律|未经|务必|不可|仅限|只可|请勿",
    r"\b(?:do|does|may|can|should|are|is|be) not\b|\bnot (?:allowed|permitted|for|without|leave|to)\b",
)
_GENEROUS = (cues.RULE, cues.BINDING, cues.OBLIGED, cues.FORCE, cues.DECISIVE, _MAY_BIND)
# Emphasis of Markdown; an underscore within a word belongs to a name.
_EMPHASIS = re.compile(r"[*`~](?!\w)|(?<!\w)[*`~]|(?<![^\W_])_|_(?![^\W_])")
_APOSTROPHE = re.compile(r"(?<=\w)[ʼ`´](?=\w)")
_TRADITIONAL = str.maketrans("準許嚴須務僅請過規則經", "准许严须务仅请过规则经")


def said(text: str) -> Iterator[str]:
    """Yield the standing rules in a text of a session, for a person to confirm.

    They are more than ``pin_extract`` pins: also sentences that forbid or oblige without saying
    for how long, unless they are about this occasion.
    """
    return _told(text, every=True)


def standing(text: str) -> Iterator[str]:
    """Yield the rules in a text that hold beyond the occasion, as ``pin_extract`` pins them."""
    return _told(text, every=False)


def stated(text: str, kind: Kind) -> Iterator[str]:
    """Yield the rules that a text states, read more strictly unless its kind is ``rules``.

    Pages that an agent reads often forbid something to somebody, in library docs or licences. So
    a sentence of theirs counts only if it is standing and addresses those who work there; source
    code never counts.
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
    if kind == "document" and _NEVER.match(told.rpartition(": ")[2]):
        return True
    binding = (cues.OBLIGED, cues.DECISIVE) if kind == "document" else ()
    return any(one.search(fold(told)) for one in (cues.OURS, *binding))


def _told(text: str, *, every: bool) -> Iterator[str]:
    """Yield the rules of a text; a sentence that is not one is joined to the one before."""
    text = _without_numbers(text)
    for paragraph in paragraphs(text):
        taken = set(belonging(paragraph))
        told, alone = "", False
        for at, read in enumerate(paragraph):
            sentence = " ".join(text[read.unit.start : read.unit.end].split())
            bare = _LEAD_IN.sub("", sentence)
            sentence = sentence if bare[:1].islower() else bare
            chooses = IMPERATIVE.match(sentence) and CHOOSES.search(sentence)
            binds = _binds(sentence, read.unit.plain)
            stands = binds or read.standing or bool(chooses)
            follows = bool(told) and (at in taken or (every and binds))
            if follows and not (stands and (alone or not _ANAPHORA.match(sentence))):
                told, alone = f"{told} {sentence}", alone or stands
                continue
            if alone:
                yield from _single(told)
            told, alone = (sentence, stands) if at in taken or (every and binds) else ("", False)
        if alone:
            yield from _single(told)


def _single(told: str) -> list[str]:
    return parted(told) if _words(told) > 2 and len(told) <= _LONGEST else []


def _without_numbers(text: str) -> str:
    """Return a text without line numbers, if more than a third of its lines have one."""
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


def has_force(plain: str) -> bool:
    """Return whether a folded sentence has words that forbid or oblige."""
    plain = cues.NO_FORCE.without(plain)
    return any(one.search(plain) for one in (cues.FORCE, cues.BINDING, cues.OBLIGED))


def ruling(text: str) -> str:
    """Return a rule without its introduction and reasons: "Never force-push to main; ...".

    Its clauses that forbid or oblige, and those with a value, are kept, without the final stop.
    """
    parts = _SEGMENT.split(_ASIDE.sub("", _LEAD_IN.sub("", text.strip())))
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
    """Return the rules that one sentence joins: "Never force-push, and do not add packages."."""
    found = [sentence]
    joints = list(_AND.finditer(sentence)) if len(sentence) <= _LONGEST else []
    for joint in reversed(joints):
        left, right = sentence[: joint.start()], sentence[joint.end() :]
        whole = len(ruling(left).split()) > 3 and _rules(_LEAD_IN.sub("", left))
        if whole and len(right.split()) > 2 and not _REFERS.search(right):
            found[:1] = [left, right]
            sentence = left
    return found


def reads_as_rule(text: str) -> bool:
    """Return whether a text holds a word of rules, in the locales' languages.

    Blanks, emphasis of Markdown, Unicode forms and invisible signs do not matter. The reading is
    generous, because a playbook never merges or prunes rules: a false rule costs space, but a
    missed one may be lost.
    """
    plain = fold(_EMPHASIS.sub(" ", _APOSTROPHE.sub("'", text)))
    if not plain.isascii():
        plain = re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", plain).translate(
            _TRADITIONAL
        )
    return any(one.search(plain) for one in _GENEROUS)


def names_rule(word: str) -> bool:
    """Return whether a word for a kind of text means a rule: requirement, restricción, 约束."""
    return any(stem in word for stem in ("requir", "restric", "prohib", "约束", "限制"))
