"""The bullets of a playbook, indexed by id and by text, with their size kept up to date."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from constraintrot.memory.playbook.bullets import Bullet, PlaybookError, bullet_from, heading
from constraintrot.rule_text.said import reads_as_rule

VERSION: Final = 1
MOST_SOURCES: Final = 50
"""The most sources that a bullet remembers: the first and the latest."""
MOST_WENT: Final = 1_000
"""The most merged ids that a playbook remembers, the latest."""

State: TypeAlias = tuple[tuple[Bullet, ...], dict[str, str], int, int, dict[str, Any] | None]


class Sizes:
    """The tokens of rendered bullets and of their sections' lines, kept up to date.

    No token joins a line's first sign to the newline before it, so the counts of the lines add up
    to the count of the whole.
    """

    def __init__(self, counter: Callable[[str], int]) -> None:
        self.total = 0
        self._counter = counter
        self._of: dict[str, int] = {}
        self._sections: Counter[str] = Counter()

    def add(self, bullet: Bullet) -> None:
        self._of[bullet.id] = size = self._counter(bullet.line())
        self.total += size + (0 if self._sections[bullet.section] else self._head(bullet.section))
        self._sections[bullet.section] += 1

    def remove(self, bullet: Bullet) -> None:
        self._sections[bullet.section] -= 1
        self.total -= self._of.pop(bullet.id)
        self.total -= 0 if self._sections[bullet.section] else self._head(bullet.section)

    def needed(self, bullet: Bullet) -> int:
        """Return the tokens of all bullets if this one were added or replaced the one of its id."""
        head = 0 if self._sections[bullet.section] else self._head(bullet.section)
        return self.total - self._of.get(bullet.id, 0) + self._counter(bullet.line()) + head

    def _head(self, section: str) -> int:
        return self._counter(heading(section))


class Store:
    """The bullets by id, oldest first; without a ``counter`` there is no budget."""

    def __init__(self, counter: Callable[[str], int] | None) -> None:
        self._counter = counter
        # The number of the next bullet only grows, across saving and loading too.
        self.next, self.deltas = 1, 0
        self.went: dict[str, str] = {}  # merged ids, each with the id that it was merged into
        # The finished steps of an adaptation, as plain data.
        self.adaptation: dict[str, Any] | None = None
        self._clear()

    @property
    def size(self) -> int:
        return self._all.total if self._all else 0

    def constraints_with(self, bullet: Bullet) -> tuple[int, int]:
        """Return the number of constraints with this one among them, and their tokens."""
        number = self._constraints - (
            bullet.id in self.bullets and self.bullets[bullet.id].constrains
        )
        return number + 1, self._constraining.needed(bullet) if self._constraining else 0

    def now(self, name: str) -> str:
        """Return the id of the bullet that an id was merged into, or the id itself."""
        while name not in self.bullets and name in self.went:
            name = self.went[name]
        return name

    def get(self, name: str) -> Bullet | None:
        return self.bullets.get(self.now(name))

    def put(self, bullet: Bullet) -> None:
        """Add a bullet, or put it in the place of the one of its id."""
        old = self.bullets.get(bullet.id)
        if old is not None:
            self._forget(old)
        # An existing key keeps its position, so an updated bullet stays in place.
        self.bullets[bullet.id] = bullet
        self.texts[bullet.text] = bullet.id
        self._constraints += bullet.constrains
        if self._all and self._constraining:
            self._all.add(bullet)
            if bullet.constrains:
                self._constraining.add(bullet)

    def drop(self, bullet: Bullet) -> None:
        self._forget(self.bullets.pop(bullet.id))

    def join(self, gone: Bullet, into: Bullet) -> tuple[str, str]:
        """Merge a bullet into another one: counters are added up, sources joined."""
        into = self.bullets[into.id]
        self.drop(gone)
        self.went[gone.id] = into.id
        while len(self.went) > MOST_WENT:
            del self.went[next(iter(self.went))]
        self.put(
            replace(
                into, helpful=into.helpful + gone.helpful, harmful=into.harmful + gone.harmful,
                sources=joined(into.sources, gone.sources), touched=self.deltas,
            )
        )  # fmt: skip
        return gone.id, into.id

    def plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "version": VERSION, "next": self.next, "deltas": self.deltas,
            "bullets": [one.plain() for one in self.bullets.values()], "went": dict(self.went),
        }  # fmt: skip
        return plain if self.adaptation is None else plain | {"adaptation": self.adaptation}

    def fill(self, data: Mapping[str, Any]) -> None:
        """Replace the content by plain data.

        A text that reads as a rule becomes a constraint even if the file has another kind: another
        version's list of words, or a person, may have written it.
        """
        try:
            if data["version"] != VERSION:
                raise PlaybookError(f"version {data['version']!r} is unknown; known: {VERSION}")
            found = [_held(bullet_from(one)) for one in data["bullets"]]
            following, deltas = data["next"], data["deltas"]
            went = {str(old): str(new) for old, new in data["went"].items()}
            adaptation = data.get("adaptation")
        except (KeyError, TypeError, AttributeError) as error:
            raise PlaybookError(f"this is no saved playbook: {error!r}") from error
        if not (type(following) is int and type(deltas) is int and deltas >= 0):
            raise PlaybookError("this is no saved playbook: next and deltas are whole numbers")
        if not isinstance(adaptation, dict | None):
            raise PlaybookError("this is no saved playbook: its adaptation is no object")
        numbers = [one.number for one in found]
        if numbers != sorted({*numbers}) or following <= max(numbers, default=0):
            raise PlaybookError(
                "this is no saved playbook: an id stands twice, out of order, or is yet to come"
            )
        if len({one.text for one in found}) != len(found) or _circular(went, {b.id for b in found}):
            raise PlaybookError(
                "this is no saved playbook: a text stands twice, or a merge has no end"
            )
        self.restore((tuple(found), went, following, deltas, adaptation))

    def state(self) -> State:
        return (
            tuple(self.bullets.values()), dict(self.went), self.next, self.deltas, self.adaptation,
        )  # fmt: skip

    def restore(self, state: State) -> None:
        found, self.went, self.next, self.deltas, self.adaptation = state
        self._clear()
        for one in found:
            self.put(one)

    def _clear(self) -> None:
        self.bullets: dict[str, Bullet] = {}
        self.texts: dict[str, str] = {}  # ids by text
        self._constraints = 0
        self._all = Sizes(self._counter) if self._counter else None
        self._constraining = Sizes(self._counter) if self._counter else None

    def _forget(self, bullet: Bullet) -> None:
        del self.texts[bullet.text]
        self._constraints -= bullet.constrains
        if self._all and self._constraining:
            self._all.remove(bullet)
            if bullet.constrains:
                self._constraining.remove(bullet)


def _held(bullet: Bullet) -> Bullet:
    return replace(bullet, kind="constraint") if reads_as_rule(bullet.text) else bullet


def joined(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """Return the sources of both, each once; of too many, the first and the latest."""
    both = tuple(dict.fromkeys([*one, *other]))
    return both if len(both) <= MOST_SOURCES else (*both[:1], *both[1 - MOST_SOURCES :])


def _circular(went: Mapping[str, str], bullets: set[str]) -> bool:
    # An id is always merged into an older one, so a chain of falling numbers ends.
    return any(not _number(new) < _number(old) or old in bullets for old, new in went.items())


def _number(name: str) -> int:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1
