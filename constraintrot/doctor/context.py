"""The rules in the model's context, message by message, and across compactions.

Only the rules in a message are remembered, so a session takes memory for its rules, not
for its texts.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from constraintrot.coding_agents.sessions.events import Compaction, Kept, Message
from constraintrot.doctor.rules import Rule, folded
from constraintrot.rule_text.survival import Survival, best_window
from constraintrot.rule_text.survival.states import rank
from constraintrot.scenario.template import Value

# Characters of a text that are searched for slots.
_LONGEST = 200_000
_TOKEN = re.compile(r"[a-z0-9_\u00df-\u024f]+|[\u3400-\u9fff]")
_SPACED = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum() and chr(code) != "_"}
)


@dataclass(frozen=True)
class Standing:
    """A rule in a text."""

    rule: int  # number of the rule
    found: Survival  # its state there: ``verbatim``, or ``restated`` if only its slots were found


class Presence:
    """Search for rules in texts, by their own words or by a phrase of each declared slot."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._patterns: list[re.Pattern[str]] = []
        self._wanted: dict[str, set[int]] = {}
        self._slotted: list[int] = []

    def add(self, rule: Rule) -> int:
        number = len(self.rules)
        self.rules.append(rule)
        # The rule without its introduction and its reason.
        ruling = folded(rule.ruling)
        self._patterns.append(
            re.compile(rf"(?:{re.escape(folded(rule.text))}|{re.escape(ruling)})(?!\w)")
        )
        self._wanted.setdefault(_key(ruling), set()).add(number)
        if rule.slots:
            self._slotted.append(number)
        return number

    def standing(self, text: str) -> Iterator[Standing]:
        """Yield the rules that a text states by their own words or by their slots."""
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
    """Return the longest word of a text, by which candidate texts are found."""
    return max(_TOKEN.findall(str(text)), key=len, default="")


# Places of one rule that are remembered: this many of the newest, and of the best.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A message that states a rule, and its number in the session."""

    found: Survival
    message: Message
    ordinal: int


class Context:
    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._places: dict[int, list[Place]] = {}
        # Hashes of identifiers, because a session may have millions.
        self._keys = array("q")
        self._typed: list[tuple[int, int, str]] = []

    def add(self, message: Message) -> list[Standing]:
        """Add a message, and return the rules in it."""
        self._keys.append(hash(message.key) if message.key else 0)
        if not message.text:
            return []
        if message.role == "user":
            self._typed.append((self.count - 1, len(message.text), message.channel))
        found = list(self._presence.standing(message.text))
        for one in found:
            self.note(one, message)
        return found

    def note(self, standing: Standing, message: Message) -> None:
        """Remember that the newest message states a rule."""
        places = self._places.setdefault(standing.rule, [])
        places.append(Place(standing.found, without_text(message), self.count - 1))
        if len(places) > 2 * _MOST:
            self._places[standing.rule] = _fewer(places)

    @property
    def count(self) -> int:
        return len(self._keys)

    def best(self, rule: int) -> Place | None:
        places = self._places.get(rule, ())
        return min(places, key=lambda one: rank(one.found.state), default=None)

    def kept(self, rule: int, but: Collection[int] = ()) -> Place | None:
        """Return the message other than a summary that states a rule, if there is one."""
        places = (
            one
            for one in self._places.get(rule, ())
            if one.found.survived and one.message.channel != "summary" and one.ordinal not in but
        )
        return min(places, key=lambda one: rank(one.found.state), default=None)

    def everywhere(self) -> dict[int, Place]:
        return {rule: best for rule in self._places if (best := self.best(rule)) is not None}

    def compact(self, compaction: Compaction) -> bool:
        """Replace the context; return whether kept messages were found. A rewind needs them."""
        if compaction.replacement is not None:
            self._only(lambda place: place.message.role == "system")
            for message in compaction.replacement:
                self.add(message)
            return True
        first, last, found = self.bounds(compaction)
        if not compaction.counted and not found:
            return False
        stays = staying(compaction.kept, first, last, self._typed)
        self._only(lambda place: stays(place.message, place.ordinal))
        return found

    def bounds(self, compaction: Compaction) -> tuple[int | None, int | None, bool]:
        if compaction.replacement is None:
            return bounds(compaction.kept, self._keys)
        again = {hash(one.key) for one in compaction.replacement if one.key}
        return (
            None,
            max((at for at, key in enumerate(self._keys) if key in again), default=None),
            True,
        )

    def _only(self, stays: Callable[[Place], bool]) -> None:
        left = {rule: [*filter(stays, places)] for rule, places in self._places.items()}
        self._places = {rule: places for rule, places in left.items() if places}


def bounds(kept: Kept, keys: Sequence[int]) -> tuple[int | None, int | None, bool]:
    """Return the numbers of a kept range's ends, and whether all messages it names were found."""

    def end(key: str) -> int | None:
        wanted = hash(key)
        places = (at for at in range(len(keys) - 1, -1, -1) if keys[at] == wanted)
        return next(places, None) if key else None

    def start(key: str) -> int | None:
        at = end(key)
        while at and keys[at - 1] == keys[at]:
            at -= 1  # One line may give several messages.
        return at

    first, last, dropped = start(kept.first), end(kept.last), start(kept.before)
    named = ((kept.first, first), (kept.last, last), (kept.before, dropped))
    found = not any(key and at is None for key, at in named)
    return first, last if dropped is None else dropped - 1, found


def staying(
    kept: Kept, first: int | None, last: int | None, typed: Sequence[tuple[int, int, str]]
) -> Callable[[Message, int], bool]:
    """Return the test whether a compaction keeps a message with a number.

    ``first`` and ``last`` are the ends of the kept range; ``typed`` has number, characters and channel
    of the messages that users may have typed.
    """
    left, least = kept.newest_characters, 0
    for number, size, channel in reversed(typed):
        if left is None:
            break
        left -= size if channel == "user" else 0
        if left < 0:
            least = number + 1
            break
    ranged = first is not None or (last is not None and not kept.first)

    def stays(message: Message, number: int) -> bool:
        if message.role == "system":
            return True
        if message.channel in kept.channels and (message.channel != "user" or number >= least):
            return True
        return ranged and (first or 0) <= number and (last is None or number <= last)

    return stays


def without_text(message: Message) -> Message:
    return Message(
        message.role, "", message.channel, message.line, message.time, message.origin, message.key,
        attached=message.attached,
    )  # fmt: skip


def _fewer(places: list[Place]) -> list[Place]:
    older = sorted(places[:-_MOST], key=lambda one: (rank(one.found.state), -one.ordinal))
    return [*sorted(older[:_MOST], key=lambda one: one.ordinal), *places[-_MOST:]]
