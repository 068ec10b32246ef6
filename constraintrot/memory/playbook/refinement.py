"""Grow and refine: de-duplication, pruning and the merge of deltas (ACE, section 3.2)."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from constraintrot.memory.playbook.bullets import (
    Bullet,
    PlaybookError,
    bullet_id,
    checked_section,
    checked_text,
)
from constraintrot.memory.playbook.delta import Add, Count, Delete, Merge, Operation, Update
from constraintrot.memory.playbook.similarity import (
    Similarity,
    contradicting,
    opposed,
    other_numbers,
)
from constraintrot.memory.playbook.store import Store, joined
from constraintrot.rule_text.said import reads_as_rule

When: TypeAlias = Literal["never", "lazy", "proactive"]


@dataclass(frozen=True)
class Refinement:
    """The settings that keep a playbook compact."""

    # ``proactive`` de-duplicates after every delta, ``lazy`` only when a budget is exceeded,
    # ``never`` only appends. All but ``never`` keep the budgets.
    when: When = "proactive"
    deduplicate: bool = True  # whether bullets that say the same thing are merged
    # Whether constraints are exempt. False is the paper's playbook, where only counters and
    # likeness decide; it exists to be measured.
    protect: bool = True


APPEND_ONLY = Refinement("never", deduplicate=False)
LAZY = Refinement("lazy")
PROACTIVE = Refinement("proactive")
COUNTERS_ONLY = Refinement("lazy", deduplicate=False, protect=False)


def duplicates(
    bullets: Sequence[Bullet],
    changed: Container[str],
    similarity: Similarity,
    refinement: Refinement,
) -> Iterator[tuple[Bullet, Bullet]]:
    """Yield pairs (later, earlier) of bullets that say the same; each later bullet comes once.

    Only bullets of the same kind are compared. Protected constraints are not even passed to the
    measure. An unprotected playbook trusts the measure alone.

    Bullets come oldest first; those of ``changed`` have changed since their last comparison.
    """
    compared = [at for at, one in enumerate(bullets) if not (refinement.protect and one.constrains)]
    focus = [at for at, place in enumerate(compared) if bullets[place].id in changed]
    texts = [bullets[at].text for at in compared]
    gone: set[int] = set()
    for later, earlier, _ in sorted(similarity.alike(texts, focus, similarity.least)):
        one, other = bullets[compared[later]], bullets[compared[earlier]]
        if later in gone or earlier in gone or one.kind != other.kind:
            continue
        if refinement.protect and opposed(one.text, other.text):
            continue
        gone.add(later)
        yield one, other


def prunable(bullets: Sequence[Bullet], refinement: Refinement) -> list[Bullet]:
    """Return the bullets that may be pruned, the least helpful and longest untouched first."""
    free = (one for one in bullets if not (refinement.protect and one.constrains))
    return sorted(free, key=lambda one: (one.net, one.touched, one.number))


@dataclass(frozen=True)
class Applied:
    """The outcome of a delta."""

    added: tuple[str, ...] = ()  # ids of new bullets
    updated: tuple[str, ...] = ()  # ids of bullets with a new text
    # Removed ids, each with the id that it was merged into, by MERGE or likeness.
    merged: tuple[tuple[str, str], ...] = ()
    deleted: tuple[str, ...] = ()  # ids that DELETE removed
    counted: tuple[str, ...] = ()  # ids whose counters were raised
    pruned: tuple[str, ...] = ()  # ids that the budget removed
    # Operations that were not carried out, each with the reason.
    refused: tuple[tuple[str, str], ...] = ()


Done: TypeAlias = Literal["added", "updated", "merged", "deleted", "counted"]


class Merger:
    def __init__(self, store: Store, protect: bool, room: Callable[[Bullet], bool]) -> None:
        self.store, self.protect, self.room = store, protect, room

    def carry_out(self, one: Operation, source: str) -> tuple[Done, list[Any]]:
        """Carry out one operation, and return the field of ``Applied`` and its entries."""
        match one:
            case Add():
                return "added", [self._add(one, source)]
            case Update():
                return "updated", [self._update(one, source)]
            case Merge():
                return "merged", self._merge(one)
            case Delete():
                bullet = self._free(one.id, "deleted")
                self.store.drop(bullet)
                return "deleted", [bullet.id]
            case Count():
                return "counted", [self._count(one)]

    def _add(self, one: Add, source: str) -> str:
        text, section = checked_text(one.text), checked_section(one.section)
        self._only(text)
        # A text that reads as a rule is a constraint, whatever the curator calls it.
        kind = "constraint" if reads_as_rule(text) else one.kind
        bullet = Bullet(
            bullet_id(section, self.store.next), section, text, kind,
            sources=(source,) if source else (), touched=self.store.deltas,
        )  # fmt: skip
        self._fits(bullet)
        self.store.next += 1
        self.store.put(bullet)
        return bullet.id

    def _update(self, one: Update, source: str) -> str:
        bullet, text = self._free(one.id, "changed"), checked_text(one.text)
        self._only(text, bullet.id)
        kind = "constraint" if reads_as_rule(text) else bullet.kind
        sources = joined(bullet.sources, [source] if source else [])
        changed = replace(bullet, text=text, kind=kind, sources=sources, touched=self.store.deltas)
        self._fits(changed)
        self.store.put(changed)
        return bullet.id

    def _merge(self, one: Merge) -> list[tuple[str, str]]:
        parts = list(
            {self.store.now(name): self._free(name, "merged") for name in one.ids}.values()
        )
        # The oldest stays, so that every id is merged into an older one.
        parts.sort(key=lambda part: part.number)
        text = checked_text(one.text)
        if len(parts) < 2:
            raise PlaybookError("the ids are those of one bullet")
        if len({part.kind for part in parts}) > 1:
            raise PlaybookError("the bullets are of different kinds")
        if reads_as_rule(text) and self.protect:
            raise PlaybookError("the merged text reads as a rule and no bullet does; ADD it")
        if self.protect and (pair := contradicting([part.text for part in parts])):
            raise PlaybookError(f"{pair[0][:40]!r} and {pair[1][:40]!r} may contradict each other")
        if self.protect and (found := other_numbers([part.text for part in parts], text)):
            shown = ", ".join(sorted(found))[:80]
            raise PlaybookError(
                f"the merged text and the bullets have not the same numbers: {shown}"
            )
        self._only(text, *(part.id for part in parts))
        into = parts[0]
        gone = [self.store.join(part, into) for part in parts[1:]]
        self.store.put(replace(self.store.bullets[into.id], text=text, touched=self.store.deltas))
        return gone

    def _count(self, one: Count) -> str:
        bullet = self._known(one.id)
        counted = replace(
            bullet, helpful=bullet.helpful + one.helpful, harmful=bullet.harmful + one.harmful,
            touched=self.store.deltas,
        )  # fmt: skip
        self._fits(counted)
        self.store.put(counted)
        return bullet.id

    def _known(self, name: str) -> Bullet:
        bullet = self.store.get(name)
        if bullet is None:
            raise PlaybookError(f"there is no bullet {name[:40]!r}")
        return bullet

    def _free(self, name: str, done: str) -> Bullet:
        """Return a bullet that a delta may change."""
        bullet = self._known(name)
        if bullet.constrains and self.protect:
            raise PlaybookError(f"{bullet.id} is a constraint, which is not {done}")
        return bullet

    def _only(self, text: str, *by: str) -> None:
        same = self.store.texts.get(text)
        if same is not None and same not in by:
            raise PlaybookError(f"{same} says the same, word for word")

    def _fits(self, bullet: Bullet) -> None:
        if bullet.constrains and self.protect and not self.room(bullet):
            raise PlaybookError("no room: only constraints and pins are left, and they stay")
