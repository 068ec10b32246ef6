"""A playbook: itemised bullets that deltas change one by one, merged by code and by no model.

::

    from constraintrot.memory.playbook import Add, Delta, Playbook

    playbook = Playbook(budget=2_000)
    playbook.apply(Delta((Add(text="Never send email outside example.com."),)))
    prompt = playbook.render()

No delta can change, merge, prune or delete a constraint, touch the pins, give an id twice, or take
the playbook over its budget, whatever a model proposes.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from constraintrot import tokens
from constraintrot.files import contents, locked, replace
from constraintrot.memory.playbook.bullets import Bullet, PlaybookError, rendered
from constraintrot.memory.playbook.delta import Delta, Operation
from constraintrot.memory.playbook.refinement import (
    PROACTIVE,
    Applied,
    Merger,
    Refinement,
    duplicates,
    prunable,
)
from constraintrot.memory.playbook.similarity import Similarity, Words
from constraintrot.memory.playbook.store import Store


class PlaybookOverflowError(PlaybookError):
    """Pins and constraints, which nothing removes, are over the budget."""


class Playbook:
    """Bullets, in the order in which they were added, and pins before them.

    Args:
        budget: the most tokens of the rendered playbook, pins included; None for no limit.
        most: the most bullets; None for no limit.
        refinement: the rules that keep it compact.
        similarity: measure of likeness; ``Words`` by default.
        pins: returns the pinned text, as ``Registry.pinned_text`` does. It is rendered first, byte
            for byte, and no delta or refinement reaches it.
        counter: a counter of tokens, used if there is a budget.
    """

    def __init__(
        self, *, budget: int | None = None, most: int | None = None,
        refinement: Refinement = PROACTIVE, similarity: Similarity | None = None,
        pins: Callable[[], str] | None = None, counter: Callable[[str], int] = tokens.count,
    ) -> None:  # fmt: skip
        for name, value in (("budget", budget), ("most", most)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise PlaybookError(f"{name} is a whole number, 1 or more, not {value!r}")
        if pins is not None and not callable(pins):
            raise PlaybookError(
                f"pins is a function, as pinned_text of a Registry, not {pins!r:.60}"
            )
        if not isinstance(refinement, Refinement):
            raise PlaybookError(
                "refinement is PROACTIVE, LAZY, APPEND_ONLY or another Refinement, not"
                f" {refinement!r}"
            )
        self.budget, self.most, self.refinement = budget, most, refinement
        self.similarity: Similarity = similarity or Words()
        self._pins, self._counter = pins, counter
        self._store = Store(None if budget is None else counter)
        self._merger = Merger(self._store, refinement.protect, self._room)
        self._prune()

    def __repr__(self) -> str:
        return f"<Playbook of {len(self._store.bullets)} bullets after {self.deltas} deltas>"

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The bullets, oldest first."""
        return tuple(self._store.bullets.values())

    @property
    def deltas(self) -> int:
        return self._store.deltas

    @property
    def adaptation(self) -> Mapping[str, Any] | None:
        """The finished steps of an adaptation, as ``adaptation.offline`` records them."""
        return self._store.adaptation

    @adaptation.setter
    def adaptation(self, done: dict[str, Any] | None) -> None:
        self._store.adaptation = done

    @property
    def tokens(self) -> int:
        """Tokens of the rendered playbook, pins included."""
        return self._pinned() + self._size()

    def get(self, bullet_id: str) -> Bullet | None:
        """Return the bullet of an id, or the one that it was merged into; None if removed."""
        return self._store.get(bullet_id)

    def render(self) -> str:
        """Return the playbook as a prompt shows it: pins, then bullets by section."""
        return self.pinned_text() + rendered(self._store.bullets.values())

    def pinned_text(self) -> str:
        text = self._pins() if self._pins else ""
        # Else the first section's heading would stand on the last pin's line.
        return f"{text}\n" if text and not text.endswith("\n") else text

    def apply(self, delta: Delta | Iterable[Operation], *, source: str = "") -> Applied:
        """Carry out a delta, refine, and keep the budget. No model is asked.

        Args:
            delta: the operations, carried out in their order.
            source: their source, which new bullets remember.

        Raises:
            PlaybookOverflowError: the pins have grown, so that they and the constraints exceed
                the budget.
            EmbeddingError: the measure of likeness failed.

        After an error the playbook is as it was.
        """
        found = delta if isinstance(delta, Delta) else Delta(tuple(delta))
        if not all(isinstance(one, Operation) for one in found.operations):
            raise PlaybookError(
                f"a delta is a list of operations, as [Add(...)], not {delta!r:.60}"
            )
        before = self._store.state()
        try:
            return self._apply(found, source)
        except Exception:
            self._store.restore(before)
            raise

    def retire(self, bullet_id: str) -> Bullet:
        """Remove a bullet, even a constraint. Only an operator can: no delta asks for it."""
        bullet = self.get(bullet_id)
        if bullet is None:
            raise PlaybookError(f"no bullet {bullet_id!r} to retire")
        self._store.drop(bullet)
        return bullet

    def plain(self) -> dict[str, Any]:
        """Return the learned bullets as plain data for JSON, without pins and settings."""
        return self._store.plain()

    def fill(self, data: Mapping[str, Any]) -> None:
        """Replace the content by what ``plain`` returned; new ids continue from there."""
        before = self._store.state()
        self._store.fill(data)
        try:
            self._prune()
        except PlaybookOverflowError:
            self._store.restore(before)
            raise

    def _apply(self, delta: Delta, source: str) -> Applied:
        self._store.deltas += 1
        done: dict[str, list[Any]] = {name: [] for name in Applied.__dataclass_fields__}
        done["refused"] += [("unreadable", reason) for reason in delta.unreadable]
        for one in delta.operations:
            try:
                field, told = self._merger.carry_out(one, source)
                done[field] += told
            except PlaybookError as refused:
                done["refused"].append((one.op, str(refused)))
        if self.refinement.when == "proactive":
            changed = {*done["added"], *done["updated"], *(into for _, into in done["merged"])}
            done["merged"] += self._deduplicate(changed)
        elif self.refinement.when == "lazy" and self._over():
            done["merged"] += self._deduplicate(self._store.bullets)
        done["pruned"] += self._prune()
        return Applied(**{name: tuple(found) for name, found in done.items()})

    def _deduplicate(self, changed: Collection[str]) -> list[tuple[str, str]]:
        if not self.refinement.deduplicate or not changed:
            return []
        found = list(duplicates(self.bullets, changed, self.similarity, self.refinement))
        return [self._store.join(later, earlier) for later, earlier in found]

    def _prune(self) -> list[str]:
        if self.refinement.when == "never" or not self._over():
            return []
        gone: list[str] = []
        for bullet in prunable(self.bullets, self.refinement):
            self._store.drop(bullet)
            gone.append(bullet.id)
            if not self._over():
                return gone
        raise PlaybookOverflowError(
            f"pins and constraints need {self.tokens} tokens and {len(self.bullets)} bullets, and the"
            f" budget is {self.budget or 'any'} tokens and {self.most or 'any number of'} bullets;"
            " raise the budget, or retire a constraint"
        )

    def _room(self, bullet: Bullet) -> bool:
        if self.refinement.when == "never":
            return True
        number, size = self._store.constraints_with(bullet)
        if self.most is not None and number > self.most:
            return False
        return self.budget is None or self._pinned() + size <= self.budget

    def _over(self) -> bool:
        if self.most is not None and len(self._store.bullets) > self.most:
            return True
        return self.budget is not None and self._pinned() + self._store.size > self.budget

    def _pinned(self) -> int:
        return self._counter(text) if (text := self.pinned_text()) else 0

    def _size(self) -> int:
        if self.budget is not None:
            return self._store.size
        return self._counter(rendered(self._store.bullets.values()))


LARGEST: Final = 64_000_000
"""Bytes of a file that is read."""


# The digest that each playbook last read from or wrote to a file, by the file's path.
_seen: WeakKeyDictionary[Playbook, dict[Path, str]] = WeakKeyDictionary()


def save(playbook: Playbook, path: str | Path) -> None:
    """Save what a playbook learned to a file, in the place of an older one.

    Raises:
        PlaybookError: the file cannot be written, or another process has written it since this
            playbook was loaded from or saved to it. The file then stays as it is.
    """
    data = json.dumps(playbook.plain(), ensure_ascii=False, indent=1).encode() + b"\n"
    where, seen = Path(path).absolute(), _seen.setdefault(playbook, {})
    with locked(path, PlaybookError):
        if where in seen and where.exists():
            there = contents(path, LARGEST, PlaybookError)
            if _digest(there) != seen[where]:
                raise PlaybookError(
                    f"{path} was written by another since this playbook was loaded, and what it"
                    " learned would be lost; load it anew, or save to another file"
                )
        replace(Path(path), data, PlaybookError)
    seen[where] = _digest(data)


def load(playbook: Playbook, path: str | Path) -> Playbook:
    """Load a file into a playbook, and return the playbook."""
    try:
        data = contents(path, LARGEST, PlaybookError)
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlaybookError):
            raise PlaybookError(f"{path}: {error}") from error
        raise PlaybookError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise PlaybookError(f"{path} is no saved playbook: not an object")
    try:
        playbook.fill(found)
    except PlaybookError as error:
        # An overflow stays one.
        raise type(error)(f"{path}: {error}") from error
    _seen.setdefault(playbook, {})[Path(path).absolute()] = _digest(data)
    return playbook


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
