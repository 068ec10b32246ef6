"""Return whether a text has the force of a rule: it forbids what the rule forbids, or demands it.

The measure tells a binding sentence from a mention by its cue words, whatever the rule.
In work on the same things such words stand too: "bring the release branch up to date and
publish it" limits nothing, and "the release branch must be pushed by Friday" demands what
the rule forbids. So a sentence restates a prohibition only where a clause of it about the
rule forbids, and a duty only where one demands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from constraintrot.rule_text.survival import sentences
from constraintrot.rule_text.survival.mentions import Value, held

_CJK = re.compile("[\u3400-\u9fff]")
_DENIES = re.compile(
    r"\b(?:never|not|cannot|no|nobody|none|nothing|nowhere|neither|nor|avoid\w*|without|only|solely"
    r"|exclusively|un(?:less|til)|nunca|jam[áa]s|ning[úu]n\w*|nadie|nada|s[óo]lo|sin|[úu]nicamente)\b"
    r"|n't\b",
    re.IGNORECASE,
)
# Their meaning needs no clause of the rule's own words.
_BANS = re.compile(
    r"\b(?:forbid\w*|prohib\w+|proh[ií]b\w+|ban(?:s|ned)?|disallow\w*|off[- ]limits|out of the question"
    r"|not an option|no[- ]go|under no circumstances?|refrain\w*|reject(?:s|ed)|refused|taboo"
    r"|not (?:be )?(?:allowed|permitted|authori[sz]ed|acceptable)|does(?: not|n't) (?:allow|permit|want)"
    r"|read-only|hands off|(?:nowhere|nothing|nobody|no one) else|no other|not ok(?:ay)?|immutable|frozen|bajo ning\w+|(?:limited|restricted|confined|reserved) (?:to|for))\b"
    r"|\b(?:leave|left|keep|kept|stays?|remains?)\b.{0,60}\b(?:as (?:they|it) (?:are|is)|alone|closed"
    r"|untouched|unchanged|intact|whole)\b",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\b(?:must|shall|always|needs?|required?|requires|mandatory|obligatory|ha(?:s|ve) to|only|every"
    r"|each|first|at all times|solely|exclusively|ensure|make sure|approv\w+|consent\w*|permission"
    r"|debe\w*|tienen? que|hay que|siempre|obligatori\w+|s[óo]lo|[úu]nicamente)\b",
    re.IGNORECASE,
)
# A denial demands something where it leaves it as the one way.
_BUT = re.compile(
    r"\b(?:without|unless|until|before|but|except|other|else|than|outside|sin|salvo|otr[oa]s?)\b",
    re.IGNORECASE,
)
# What was not done, or could not be, forbids nothing.
_TOLD = re.compile(
    r"\b(?:could|was|were|did|has|have|had|does)(?: not|n't)\b(?! (?:to |allow|permit|want))"
    r"|\b(?:had to|was able|were able)\b"
    r"|\bi (?:can't|cannot|can not|never|always|only|do not|don't|must|need|have to)\b(?! (?:want|allow|permit|accept|wish|approve))",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(
    r"\b(?:never|not|cannot|nobody|no one|nothing|avoid|without|unless|only|forbid\w*|prohib\w+|banned"
    r"|nunca|jam[áa]s|no|ning[úu]n\w*|nadie|s[óo]lo)\b|n't\b",
    re.IGNORECASE,
)
_LIMITING = re.compile(r"\b(?:(?:more|less) than|at (?:most|least)|maximum|limits?)\b", re.I)
_CLAUSE = re.compile(r"[;:—–()]|,\s|\s(?:but|and then|so that|because|while|pero)\s|\s-\s")
_BARE_NO = re.compile(r"(?:(?<=^)|(?<=[-*•:;,.(] )|(?<=with )|(?<=and ))no(?= )", re.I | re.M)
# Not what was not there: "no force pushes were made".
_OCCURRED = re.compile(
    r"\b(?:was|were|has|have|had|yet|so far|came|arrived|left|remains?|failed|found)\b"
)
_NEVER = "never\u200b", "Never\u200b"


@dataclass(frozen=True)
class Force:
    """What a rule does with its action.

    Attributes:
        forbids: it says that something is not done.
        demands: it says that something is done.
        limits: it names a number or a limit, which is said in too many ways to list.
    """

    forbids: bool
    demands: bool
    limits: bool


@lru_cache(maxsize=1024)
def force(rule: str, *, numbers: bool) -> Force:
    """The force of a rule, from its words.

    Args:
        rule: its text.
        numbers: whether one of its values is a number.
    """
    return Force(
        _FORBIDDING.search(rule) is not None,
        _DEMANDS.search(rule) is not None,
        numbers or _LIMITING.search(rule) is not None,
    )


def binds(window: str, rule: Force, about: Mapping[str, Sequence[Value]]) -> bool:
    """Return whether some sentences about a rule have its force.

    Args:
        window: the sentences.
        rule: the rule's force.
        about: by slot, the phrases that the rule is told by.
    """
    if rule.limits or not (rule.forbids or rule.demands) or _CJK.search(window):
        return True
    if rule.forbids and _BANS.search(window):
        return True
    plain = _TOLD.sub(" ", window.replace("’", "'"))
    clauses = (clause for sentence in sentences(plain) for clause in _CLAUSE.split(sentence))
    return any(_has(clause, rule) and held(clause, about) for clause in clauses)


def _has(clause: str, rule: Force) -> bool:
    denies = _DENIES.search(clause) is not None
    if rule.forbids and denies:
        return True
    return rule.demands and (
        _DEMANDS.search(clause) is not None or (denies and _BUT.search(clause) is not None)
    )


def with_never(text: str, rule: Force, about: Mapping[str, Sequence[Value]]) -> str:
    """A text with "never" for a "no" that forbids: "No force-pushes to main".

    The measure knows such a "no" before the words of its own families only. ``as_written``
    takes it back.
    """
    if not rule.forbids or not _BARE_NO.search(text):
        return text
    return _BARE_NO.sub(lambda match: _never(match, about), text)


def _never(match: re.Match[str], about: Mapping[str, Sequence[Value]]) -> str:
    behind = re.split(r"[.;\n]", match.string[match.end() : match.end() + 160], maxsplit=1)[0]
    near = " ".join(re.split(r"[\s-]+", behind.strip().casefold())[:3])
    named = {name: about[name] for name in about if name != "asked"}
    if _OCCURRED.search(behind) or not held(near, named):
        return match[0]
    return _NEVER[match[0][0].isupper()]


def as_written(text: str) -> str:
    """A text of ``with_never`` as it was."""
    return text.replace(_NEVER[0], "no").replace(_NEVER[1], "No")
