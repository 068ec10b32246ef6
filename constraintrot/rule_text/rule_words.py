"""Whether a text reads as a rule: then its bullet is a constraint, whatever a model called it.

A list of words, read generously. What is taken for a rule and is none stays a bullet that
is never merged and never pruned, which costs room; a rule that is taken for advice can be
lost, which is what a playbook is not to do. A rule in other words than these is found only
if the curator calls it a constraint.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Each makes a rule by itself.
_ALONE: Final = frozenset(
    [
        "never",
        "must",
        "mustn't",
        "shall",
        "forbid",
        "forbids",
        "forbidden",
        "forbade",
        "prohibit",
        "prohibits",
        "prohibited",
        "prohibition",
        "banned",
        "mandatory",
        "don't",
        "doesn't",
        "can't",
        "cannot",
        "shouldn't",
        "isn't",
        "aren't",
        "maximum",
        "minimum",
        "policy",
        "policies",
        "rule",
        "rules",
        "restrict",
        "restricts",
        "restricted",
        "restriction",
        "restrictions",
        "exclusively",
        "always",
        "nunca",
        "jamás",
        "jamas",
        "prohibido",
        "prohibida",
        "prohibidos",
        "prohibidas",
        "prohíbe",
        "prohibe",
        "prohíben",
        "debe",
        "deben",
        "deberá",
        "deberán",
        "obligatorio",
        "obligatoria",
        "siempre",
        "exclusivamente",
        "solo",
        "sólo",
        "únicamente",
        "unicamente",
        "política",
        "políticas",
        "norma",
        "normas",
        "regla",
        "reglas",
        "requiere",
        "requieren",
    ]
)
# Each makes one together with others, which the pattern names.
_TOGETHER: Final = frozenset(
    [
        "not",
        "only",
        "most",
        "more",
        "less",
        "later",
        "fewer",
        "up",
        "limit",
        "limited",
        "limits",
        "require",
        "requires",
        "required",
        "requiring",
        "without",
        "under",
        "no",
        "como",
        "máximo",
    ]
)
_PHRASE: Final = re.compile(
    r"""\b(?: (?:do|does|may|can|should|are|is|be)\ not\b | not\ (?:allowed|permitted|for|without|leave|to)
            | only\ (?:to|in|with|by|from|after|if|when|on|at|for|the) | \Aonly\b
            | (?:at|no)\ (?:most|more|less|later|fewer)\b | up\ to | limit(?:s|ed)?\ (?:to|of)
            | requir(?:e|es|ed|ing)\b .{0,60}? \b(?:approval|review|consent|confirmation|permission)
            | without\ (?:an?\ |the\ |prior\ |written\ )*(?:approval|review|consent|confirmation|permission)
            | under\ no\ circumstances | no\ (?:se\ )?(?:puede\w*|permit\w*|debe\w*|est[aá])\b | como\ m[aá]ximo )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CHINESE: Final = re.compile(
    """不得|不能|不可|不准|不允许|不许|禁止|严禁|必须|务必|只能|仅限|只可|切勿|请勿"""
    """|最多|不超过|上限|规定|规则|政策|一律|未经"""
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# As typed or typeset: quotation marks and a backtick in a word.
_APOSTROPHE: Final = re.compile(r"(?<=\w)[’‘ʼ`´](?=\w)")
# An underscore within a word is a name's.
_EMPHASIS: Final = re.compile(r"[*`~]|(?<![^\W_])_|_(?![^\W_])")
_TRADITIONAL: Final = str.maketrans("準許嚴須務僅請過規則經", "准许严须务仅请过规则经")


def reads_as_rule(text: str) -> bool:
    """Return whether a text holds a word by which rules are made, in English, Spanish or Chinese.

    How it is set makes no difference: line ends and other blanks, emphasis of Markdown, the
    form of its letters in Unicode, what is invisible.
    """
    folded = _folded(text)
    words = _WORD.findall(folded)
    if not _ALONE.isdisjoint(words):
        return True
    if not _TOGETHER.isdisjoint(words) and _PHRASE.search(folded):
        return True
    return not text.isascii() and _CHINESE.search(_simplified(folded)) is not None


def _folded(text: str) -> str:
    """A text in lower case and one form, its words with one blank between them."""
    # Most texts have none of these, and are then in their one form but for case.
    marked = "*" in text or "_" in text or "`" in text or "~" in text or "  " in text
    if text.isascii() and text.isprintable() and not marked:
        return text.casefold()
    text = _APOSTROPHE.sub("'", text)
    if not text.isascii():
        shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
        text = "".join(shown)
    return " ".join(_EMPHASIS.sub(" ", text.casefold()).split())


def _simplified(text: str) -> str:
    return text.replace(" ", "").translate(_TRADITIONAL)
