"""Return whether a text reads as a rule: then its bullet is a constraint, whatever a model called it.

Read generously. What is taken for a rule and is none stays a bullet that is never merged and
never pruned, which costs room; a rule that is taken for advice can be lost, which is what a
playbook is not to do. A rule in other words than these is found only if the curator calls it a
constraint.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LATIN: Final = re.compile(
    r"""(?<![^\W_]) (?:
        (?: never | must(?:n't)? | shall | forb(?:id(?:s|den)?|ade) | prohibit(?:s|ed|ion)? | banned
          | mandatory | (?:do|does|ca|should|is|are)n't | cannot | maximum | minimum | polic(?:y|ies)
          | rules? | restrict(?:s|ed|ions?)? | exclusively | always | nunca | jam[aá]s
          | prohibid[oa]s? | proh[ií]ben? | deb(?:en?|er[aá]n?) | obligatori[oa] | siempre
          | nie | niemals | nur | stets | immer | muss | m[üu]ssen | darf | d[üu]rfen | verboten | untersagt
          | ausschlie(?:ss|ß)lich | h[öo]chstens | maximal | verpflichtend | \w*(?:richtlinie|regel|vorgabe|vorschrift)n?
          | exclusivamente | s[oó]lo | [uú]nicamente | pol[ií]ticas? | normas? | reglas? | requieren?
        ) (?![^\W_])
      | (?:do|does|may|can|should|are|is|be)\ not\b | not\ (?:allowed|permitted|for|without|leave|to)
      | only\ (?:to|in|with|by|from|after|if|when|on|at|for|the) | (?<=\A)only\b
      | (?:at|no)\ (?:most|more|less|later|fewer)\b | up\ to | limit(?:s|ed)?\ (?:to|of)
      | requir(?:e|es|ed|ing)\b .{0,60}? \b(?:approval|review|consent|confirmation|permission)
      | without\ (?:an?\ |the\ |prior\ |written\ )*(?:approval|review|consent|confirmation|permission)
      | under\ no\ circumstances | no\ (?:se\ )?(?:puede|permit|debe|est[aá]\b) | como\ m[aá]ximo
    )""",
    re.VERBOSE | re.DOTALL,
)
_CHINESE: Final = re.compile(
    """不得|不能|不可|不准|不允许|不许|禁止|严禁|必须|务必|只能|仅限|只可|切勿|请勿"""
    """|最多|不超过|上限|规定|规则|政策|一律|未经"""
)
# As typed or typeset: quotation marks and a backtick in a word.
_APOSTROPHE: Final = re.compile(r"(?<=\w)[’‘ʼ`´](?=\w)")
# An underscore within a word is a name's.
_EMPHASIS: Final = re.compile(r"[*`~]|(?<![^\W_])_|_(?![^\W_])")
_TRADITIONAL: Final = str.maketrans("準許嚴須務僅請過規則經", "准许严须务仅请过规则经")


def reads_as_rule(text: str) -> bool:
    """Return whether a text holds a word by which rules are made, in the locales' languages.

    How it is set makes no difference: line ends and other blanks, emphasis of Markdown, the
    form of its letters in Unicode, what is invisible.
    """
    folded = _folded(text)
    if _LATIN.search(folded):
        return True
    return not text.isascii() and _CHINESE.search(_simplified(folded)) is not None


def names_rule(word: str) -> bool:
    """Return whether a word for a kind of text means a rule: requirement, restricción, 约束."""
    return any(stem in word for stem in ("requir", "restric", "prohib", "约束", "限制"))


def _folded(text: str) -> str:
    """A text in lower case and one form, its words with one blank between them."""
    # Most texts have none of these, and are then in their one form but for case.
    if text.isascii() and text.isprintable() and not re.search(r"[*_`~]|  ", text):
        return text.casefold()
    text = _APOSTROPHE.sub("'", text)
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return " ".join(_EMPHASIS.sub(" ", "".join(shown).casefold()).split())


def _simplified(text: str) -> str:
    return text.replace(" ", "").translate(_TRADITIONAL)
