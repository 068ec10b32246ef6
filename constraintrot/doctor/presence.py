"""The rules that a text holds, each with its state: the project's measure, behind a quick look.

Most texts of a session are about something else. So the words of a text are looked up
in an index of the words that rules need, and only a rule that may stand there is weighed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from constraintrot.doctor.rules import Rule
from constraintrot.rule_text.cues import WHOLE
from constraintrot.rule_text.force import binds, force
from constraintrot.rule_text.survival import Survival
from constraintrot.rule_text.survival.rules import judge
from constraintrot.scenario.template import Value

# A text up to this length is weighed whole; of a longer one the passages about the rule.
_WHOLE = 1_200
_TOGETHER = 500
_AROUND = 300
# Characters of passages of one text that are weighed for one rule.
MOST = 200_000
# "Before I forget it: ..." lifts nothing, and "keep in mind: ..." weakens nothing.
_NONE: frozenset[str] = frozenset()
_LEAD_IN = re.compile(
    r"\b(?:before|lest) (?:i|we) forget(?: it| this| that)?\b[:,]?|\b(?:keep|bear) in mind:",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[a-z0-9_\u00df-\u024f]+|[\u3400-\u9fff]")
_SPACED = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum() and chr(code) != "_"}
)


@dataclass(frozen=True)
class Standing:
    """A rule in a text.

    Attributes:
        rule: number of the rule.
        found: its state there.
    """

    rule: int
    found: Survival


class Presence:
    """Looks rules up in texts.

    Attributes:
        rules: the rules, by number.
        cut: texts of which a rule's passages were too long to be weighed whole.
    """

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.cut = 0
        self._wanted: dict[str, set[tuple[int, str]]] = {}
        self._needed: list[int] = []

    def add(self, rule: Rule) -> int:
        """Look for a rule from now on; its number."""
        number = len(self.rules)
        self.rules.append(rule)
        for slot, phrases in rule.about.items():
            for phrase in phrases:
                for key in _keys(phrase):
                    self._wanted.setdefault(key, set()).add((number, slot))
        slots = len(rule.about)
        # One slot of one or two is no part of a rule but a mention.
        self._needed.append(slots if slots <= 2 else slots - 1)
        return number

    def standing(self, text: str, *, parts: bool = True) -> Iterator[Standing]:
        """The rules that a text holds in any state but lost.

        Args:
            text: the text.
            parts: also those that are there in part. What a tool gave back is mostly code,
                in which parts of any rule stand.
        """
        lower = text.lower()
        for number, keys in self._candidates(lower).items():
            rule = self.rules[number]
            needed = self._needed[number] if parts else len(rule.about)
            if len(keys) < needed:
                continue
            passages = self._passages(text, lower, needed, keys, len(rule.text))
            if not passages:
                continue
            passages = _LEAD_IN.sub(" ", passages)
            # Only phrases whose words are in the text can stand there.
            about = {
                slot: [
                    phrase
                    for phrase in phrases
                    if not keys.get(slot, _NONE).isdisjoint(_keys(phrase))
                ]
                for slot, phrases in rule.about.items()
            }
            standing = _judged(passages, rule, about)
            few = standing.state == "partial" and len(rule.about) <= 2
            if standing.state != "lost" and not few:
                yield Standing(number, standing)

    def _candidates(self, lower: str) -> dict[int, dict[str, set[str]]]:
        """The rules that may stand in a text, with the words that say so, by slot."""
        words = set(lower.translate(_SPACED).split() if lower.isascii() else _TOKEN.findall(lower))
        held: dict[int, dict[str, set[str]]] = {}
        for word in self._wanted.keys() & words:
            for number, slot in self._wanted[word]:
                held.setdefault(number, {}).setdefault(slot, set()).add(word)
        return {at: slots for at, slots in held.items() if len(slots) >= self._needed[at]}

    def _passages(
        self, text: str, lower: str, needed: int, keys: Mapping[str, Collection[str]], size: int
    ) -> str:
        """The text, or of a long one the passages in which enough of a rule stands together."""
        if len(text) <= _WHOLE:
            return text
        reach = _TOGETHER + size
        places = sorted(
            (place, slot) for slot, words in keys.items() for word in words
            for place in _places(lower, word)
        )  # fmt: skip
        spans: list[list[int]] = []
        for start, end in _together(places, needed, reach):
            if spans and start - _AROUND <= spans[-1][1]:
                spans[-1][1] = end + _AROUND
            else:
                spans.append([max(0, start - _AROUND), end + _AROUND])
        if sum(end - start for start, end in spans) > MOST:
            self.cut += 1
        # Folding may have changed the length of a text that is not Latin, by little.
        return "\n\n".join(text[start:end] for start, end in spans)[:MOST]


def _places(lower: str, word: str) -> Iterator[int]:
    at = lower.find(word)
    while at >= 0:
        yield at
        at = lower.find(word, at + 1)


def _together(
    places: Sequence[tuple[int, str]], needed: int, reach: int
) -> Iterator[tuple[int, int]]:
    """Stretches of a text within which so many slots stand."""
    first = 0
    counts: Counter[str] = Counter()
    for place, slot in places:
        counts[slot] += 1
        while place - places[first][0] > reach:
            gone = places[first][1]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        if len(counts) >= needed:
            yield places[first][0], place


def _judged(text: str, rule: Rule, about: Mapping[str, Sequence[Value]]) -> Survival:
    """The state of a rule in a text; what has not its force restates it in no cue words."""
    has = force(
        rule.ruling, numbers=any(not isinstance(one[0], str) for one in rule.about.values())
    )
    policies = [rule.text, *_own_words(rule)]
    if rule.ruling != rule.text and _stands(rule.ruling, text):
        policies.append(rule.ruling)
    found = judge(text, policies, about)
    if found.state == "restated" and not binds(found.window, has, about):
        return Survival("lost")
    window = found.window.replace(f"{WHOLE}.", rule.text).replace(WHOLE, rule.text)
    return replace(found, window=window)


def _stands(words: str, text: str) -> bool:
    """Return whether words stand in a text, whatever blanks are between them."""
    return re.search(r"\s+".join(map(re.escape, words.split())) + r"(?!\w)", text) is not None


def _own_words(rule: Rule) -> list[str]:
    """Return additions that change nothing in a rule, as "unless" where permission is needed."""
    # The measure takes no cue from a rule that is among the rule's own words.
    return [f"{rule.text} unless except until"] if "asked" in rule.about else []


@lru_cache(maxsize=8192)
def _keys(phrase: Value) -> tuple[str, ...]:
    """Words of which one must be a word of any text that holds a phrase."""
    if not isinstance(phrase, str):
        whole = str(int(phrase))
        # With a mark between thousands, the last three digits are a word.
        return (whole, whole[-3:]) if len(whole) > 3 else (whole,)
    words = _TOKEN.findall(phrase.lower())
    return (max(words, key=len),) if words else ()
