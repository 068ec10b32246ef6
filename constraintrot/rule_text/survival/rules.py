"""The state of a policy in a text, by rules on the sentences that hold its slots.

A window of at most three sentences with all slots is searched for words that lift the rule,
weaken it or make it binding. Words outside the window do not count, except in the next sentences
if they continue about the rule ("This no longer applies").

Without a binding word a window is a mention, and the policy is lost: "The email to calder.test
has no attachment" is not a rule.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from constraintrot.rule_text import cues
from constraintrot.rule_text.survival.mentions import (
    WINDOW,
    Phrases,
    Slots,
    folded,
    phrases_of,
    sentences,
    standing,
)
from constraintrot.rule_text.survival.states import SURVIVED, SurvivalState, rank

# Slots that are treated separately: the words that forbid, and the verbs.
_FORCE, _ACTION = "negation", "action"
_CLAUSE = re.compile(
    r"[;；]\s*|,\s+(?=(?:and|but|while|whereas|pero|aunque|mientras)\b)|[，,]\s*(?=但|而|不过)"
)
# A duty binds only next to the policy's values, not with the sentence's other work.
_NEAR = re.compile(r"[,，:：;；]|\s(?:and|y)\s")
# Marks in the text itself are replaced, because this measure writes them.
_OWN = str.maketrans({cues.WHOLE: "S", cues.NAMED: "*"})


@dataclass(frozen=True)
class Survival:
    """A policy's state in a text, and the reason.

    Attributes:
        window: the sentences that it was read from; empty if it is lost.
        cue: the decisive words.
        slots: by slot except ``negation``, whether the window holds it.
    """

    state: SurvivalState
    window: str = ""
    cue: str = ""
    slots: Mapping[str, bool] = field(default_factory=dict[str, bool])

    @property
    def survived(self) -> bool:
        return self.state in SURVIVED


@dataclass(frozen=True)
class _Sentence:
    text: str
    folded: str
    slots: frozenset[str]


def judge(text: str, policies: Sequence[str], slots: Slots) -> Survival:
    """Return the state of a policy in one text."""
    about = {name: phrases for name, phrases in slots.items() if name != _FORCE}
    phrases = phrases_of(about)
    parts = _read(text, policies, phrases)
    windows = _windows(parts, frozenset(about))
    # Most texts have no window, and the next steps are slow.
    if not windows:
        return Survival("lost", slots=dict.fromkeys(about, False))
    # The policy's own words do not weaken it: a rule may have an exception.
    own = " ".join(_sentence(policy, phrases).folded for policy in policies)
    whole = [_weigh(parts, span, about, own) for span in windows]
    found = [one for one in whole if one.state != "lost"]
    return _latest(found) or Survival("lost", slots=dict.fromkeys(about, False))


def _read(text: str, policies: Sequence[str], about: Phrases) -> list[_Sentence]:
    """Return the sentences of a text, folded; a policy's own text becomes one of them."""
    plain = re.sub(r"[*_`#]{2,}|^\s*[-*#>]+\s+", "", text.translate(_OWN), flags=re.MULTILINE)
    for policy in policies:
        words = policy.translate(_OWN).split()
        # Few texts hold a policy verbatim, and a plain search rules out the others much faster.
        if words[0] in plain and words[-1] in plain:
            plain = re.sub(r"\s+".join(map(re.escape, words)), f" {cues.WHOLE}. ", plain)
    return [_sentence(part, about) for part in sentences(plain) if part.strip()]


def _sentence(text: str, about: Phrases) -> _Sentence:
    given = folded(text)
    plain = given.replace("’", "'").replace("‘", "'")
    if cues.WHOLE in plain:
        return _Sentence(text, plain, frozenset(name for name, _ in about))
    there = standing(given, about)
    for name, phrases in about:
        if name != _ACTION and name in there:
            for _, pattern in phrases:
                plain = pattern.sub(cues.NAMED, plain)
    return _Sentence(text, plain, there)


def _windows(parts: Sequence[_Sentence], wanted: frozenset[str]) -> list[range]:
    """Return the shortest runs of sentences that hold all slots, one per last sentence."""
    found: list[range] = []
    for end in range(len(parts)):
        for start in range(end, max(-1, end - WINDOW), -1):
            together = frozenset[str]().union(*(one.slots for one in parts[start : end + 1]))
            if together == wanted and wanted:
                found.append(range(start, end + 1))
                break
    return found


def _weigh(parts: Sequence[_Sentence], span: range, about: Slots, own: str) -> Survival:
    """Return the state according to one window that holds all slots."""
    window = parts[span.start : span.stop]
    clauses = [part for one in window for part in _CLAUSE.split(one.folded)]
    # Other clauses of the sentence are about something else.
    said = [one for one in clauses if _states(one)] + _going_on(parts, span.stop)
    near = [part for one in said for part in _NEAR.split(one) if cues.NAMED in part]
    decided: Iterable[tuple[SurvivalState, str]] = (
        ("contradicted", _first(cues.LIFTED, said, own)),
        ("weakened", _first(cues.WEAKENED, said, own)),
        ("verbatim", "its own text" if any(cues.WHOLE in one.folded for one in window) else ""),
        ("restated", _first(cues.BINDING, said) or _first(cues.OBLIGED, near)),
        ("lost", "nothing binds"),
    )
    state, cue = next((name, cue) for name, cue in decided if cue)
    standing = frozenset[str]().union(*(one.slots for one in window))
    text = " ".join(one.text.strip() for one in window)
    return Survival(state, text, cue, {slot: slot in standing for slot in about})


def _states(clause: str) -> bool:
    return bool(cues.NAMED in clause or cues.WHOLE in clause or cues.ANAPHOR.search(clause))


def _going_on(parts: Sequence[_Sentence], after: int) -> list[str]:
    """Return up to two sentences after a window that continue about the rule."""
    said: list[str] = []
    for sentence in parts[after : after + 2]:
        if not cues.ANAPHOR.search(sentence.folded):
            break
        said.append(sentence.folded)
    return said


def _first(pattern: cues.Cues, said: Iterable[str], own: str = "") -> str:
    """Return the first cue in some clauses that is not among the policy's own words."""
    found = (match[0] for clause in said for match in pattern.find(clause))
    return next((cue for cue in found if cue not in own), "")


def _latest(found: Sequence[Survival]) -> Survival | None:
    """Return the best of several windows, or the last one if it lifts the policy."""
    if found and found[-1].state == "contradicted":
        return found[-1]
    return min(found, key=lambda one: rank(one.state), default=None)
