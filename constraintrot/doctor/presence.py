"""The rules whose own words stand in a text, or a phrase of each slot that somebody declared.

Whether other words state a rule is asked of a reader, of few texts; here all texts of a session
are looked through. So their words are looked up in an index, and only a rule that may stand in a
text is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.doctor.rules import Rule, folded
from constraintrot.rule_text.survival import Survival, best_window
from constraintrot.scenario.template import Value

# Characters of a text that are looked through for slots, and those that are shown around a rule.
_LONGEST = 200_000
_TOKEN = re.compile(r"[a-z0-9_\u00df-\u024f]+|[\u3400-\u9fff]")
_SPACED = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum() and chr(code) != "_"}
)


@dataclass(frozen=True)
class Standing:
    """A rule in a text.

    Attributes:
        rule: number of the rule.
        found: its state there, ``verbatim`` or by its slots ``restated``.
    """

    rule: int
    found: Survival


class Presence:
    """Looks rules up in texts.

    Attributes:
        rules: the rules, by number.
    """

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._patterns: list[re.Pattern[str]] = []
        self._wanted: dict[str, set[int]] = {}
        self._slotted: list[int] = []

    def add(self, rule: Rule) -> int:
        """Look for a rule from now on; its number."""
        number = len(self.rules)
        self.rules.append(rule)
        # Without what leads in to it, and why it is.
        ruling = folded(rule.ruling)
        self._patterns.append(
            re.compile(rf"(?:{re.escape(folded(rule.text))}|{re.escape(ruling)})(?!\w)")
        )
        self._wanted.setdefault(_key(ruling), set()).add(number)
        if rule.slots:
            self._slotted.append(number)
        return number

    def standing(self, text: str) -> Iterator[Standing]:
        """The rules that a text states by their own words or by their slots."""
        lower = text.casefold()
        words = set(lower.translate(_SPACED).split() if lower.isascii() else _TOKEN.findall(lower))
        near = {number for word in self._wanted.keys() & words for number in self._wanted[word]}
        plain = folded(text) if near else ""
        verbatim = {number for number in near if self._patterns[number].search(plain)}
        for number in sorted(verbatim):
            yield Standing(number, Survival("verbatim", self.rules[number].text, "its own text"))
        for number in self._slotted:
            slots = self.rules[number].slots
            may = number not in verbatim and all(
                any(_key(str(phrase).casefold()) in words for phrase in some)
                for some in slots.values()
            )
            if may and best_window(text[:_LONGEST], slots) == frozenset(slots):
                yield Standing(number, Survival("restated", cue="its slots"))


def _key(text: Value) -> str:
    """The longest word of a text, which is in every text that holds it."""
    return max(_TOKEN.findall(str(text)), key=len, default="")
