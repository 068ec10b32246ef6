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

from constraintrot.rule_text import cues
from constraintrot.rule_text.survival import sentences
from constraintrot.rule_text.survival.mentions import Value, folded, held

_CJK = re.compile("[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[;:—–()]|,\s|\s(?:but|and then|so that|because|while|pero)\s|\s-\s")
_LIMITS = re.compile(r"\b(?:(?:more|less) than|at (?:most|least)|maximum|limits?)\b")


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


def force(rule: str, *, numbers: bool) -> Force:
    """The force of a rule, from its words.

    Args:
        rule: its text.
        numbers: whether one of its values is a number.
    """
    plain = folded(rule)
    return Force(
        cues.DENIES.search(plain) is not None,
        cues.DEMANDS.search(plain) is not None,
        numbers or _LIMITS.search(plain) is not None,
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
    plain = cues.NO_FORCE.without(folded(window).replace("’", "'"))
    if rule.forbids and cues.BANS.search(plain):
        return True
    clauses = (clause for sentence in sentences(plain) for clause in _CLAUSE.split(sentence))
    return any(_has(clause, rule) and held(clause, about) for clause in clauses)


def _has(clause: str, rule: Force) -> bool:
    denies = cues.DENIES.search(clause) is not None
    return (rule.forbids and denies) or (rule.demands and cues.DEMANDS.search(clause) is not None)
