"""Which rules a text holds, and in which state: the project's measure, behind a quick look.

Most texts of a session are about something else. So the words of a text are looked up
in an index of the words that rules need, and only a rule that may stand there is weighed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.doctor.rules import Rule
from constraintrot.grading.survival import Survival
from constraintrot.grading.survival.mentions import phrase_pattern
from constraintrot.grading.survival.rules import judge
from constraintrot.scenario.template import Value

# A text up to this length is weighed whole; of a longer one the passages about the rule.
_WHOLE = 4_000
_AROUND = 600
# Characters of passages of one text that are weighed for one rule.
MOST = 200_000
# "Before I forget it: ..." lifts nothing.
_LEAD_IN = re.compile(
    r"\b(?:before|lest) (?:i|we) forget(?: it| this| that)?\b[:,]?", re.IGNORECASE
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

    def standing(self, text: str) -> Iterator[Standing]:
        """The rules that a text holds in any state but lost."""
        for number in self._candidates(text):
            rule = self.rules[number]
            passages = _LEAD_IN.sub(" ", self._passages(text, rule))
            found = judge(passages, [rule.text, *_own_words(rule)], rule.about)
            few = found.state == "partial" and len(rule.about) <= 2
            if found.state != "lost" and not few:
                yield Standing(number, found)

    def _candidates(self, text: str) -> list[int]:
        lower = text.lower()
        words = set(lower.translate(_SPACED).split() if lower.isascii() else _TOKEN.findall(lower))
        held: dict[int, set[str]] = {}
        for word in self._wanted.keys() & words:
            for number, slot in self._wanted[word]:
                held.setdefault(number, set()).add(slot)
        return [number for number, slots in held.items() if len(slots) >= self._needed[number]]

    def _passages(self, text: str, rule: Rule) -> str:
        """The text, or of a long one what stands around the rarest words of a rule."""
        if len(text) <= _WHOLE:
            return text
        slots = sorted(rule.about.values(), key=len)
        # With one slot missing a rule may still stand in part, so two are looked for.
        anchors = slots[:1] if len(slots) <= 2 else slots[:2]
        lower = text.casefold()
        spans: list[list[int]] = []
        places = sorted(
            match.start() for phrases in anchors for phrase in phrases
            for match in phrase_pattern(phrase).finditer(lower)
        )  # fmt: skip
        for place in places:
            start, end = max(0, place - _AROUND), min(len(text), place + _AROUND)
            if spans and start <= spans[-1][1]:
                spans[-1][1] = end
            else:
                spans.append([start, end])
        parts: list[str] = []
        left = MOST
        for start, end in spans:
            parts.append(text[start : min(end, start + left)])
            left -= end - start
            if left <= 0:
                self.cut += 1
                break
        return "\n\n".join(parts)


def _own_words(rule: Rule) -> list[str]:
    """What a rule may be said with and loses nothing by: one that needs leave, "unless"."""
    # The measure takes no cue from a rule that is among the rule's own words.
    return [f"{rule.text} unless except until"] if "asked" in rule.about else []


def _keys(phrase: Value) -> Iterator[str]:
    """Words of which one must be a word of any text that holds a phrase."""
    if not isinstance(phrase, str):
        whole = str(int(phrase))
        yield whole
        # With a mark between thousands, the last three digits are a word.
        if len(whole) > 3:
            yield whole[-3:]
        return
    words = _TOKEN.findall(phrase.lower())
    if words:
        yield max(words, key=len)
