"""A registry written down as plainly as it can be, to hold the real one against."""

import unicodedata
from dataclasses import dataclass, field
from hashlib import sha256

from constraintrot.defenses.rampart import (
    AuthorityError,
    DuplicateBlockError,
    PinOverflowError,
    RampartError,
    RegistryError,
    UnknownBlockError,
)

Refusal = type[RampartError]


@dataclass(eq=False)
class Held:
    """A block as the model keeps it."""

    name: str
    content: str
    author: str
    pinned: bool
    removable: bool
    run: str | None
    priority: int = 50
    accesses: int = 0
    last: int | None = None
    born: int = 0

    @property
    def digest(self) -> str:
        return sha256(self.content.encode()).hexdigest()


@dataclass
class Model:
    """Lists, and a refusal as a value: each method says why it refuses, or does it."""

    owner: str
    grants: dict[str, bool] = field(default_factory=dict)
    pins: list[Held] = field(default_factory=list)
    rest: list[Held] = field(default_factory=list)
    mutations: int = 0
    compiles: int = 0

    def all(self) -> list[Held]:
        return [*self.pins, *self.rest]

    def may(self, who: str, *, pin: bool = False) -> bool:
        return who == self.owner or (self.grants.get(who, False) if pin else who in self.grants)

    def grant(self, who: str, by: str, pin: bool) -> Refusal | None:
        if by != self.owner:
            return AuthorityError
        self.grants[who] = pin
        self.mutations += 1
        return None

    def revoke(self, who: str, by: str) -> Refusal | None:
        if by != self.owner:
            return AuthorityError
        if who not in self.grants:
            return RegistryError
        del self.grants[who]
        self.mutations += 1
        return None

    def write(self, block: Held, at: int | None) -> Refusal | None:
        if not self.may(block.author, pin=block.pinned):
            return AuthorityError
        if block.pinned and not block.content.strip():
            return RegistryError
        if any(_same(block.name, other.name) for other in self.all()):
            return DuplicateBlockError
        tier = self.pins if block.pinned else self.rest
        tier.insert(len(tier) if at is None else at, block)
        block.born = self.compiles
        self.mutations += 1
        return None

    def reclaim(self, name: str, by: str) -> Refusal | Held:
        if by != self.owner:
            return AuthorityError
        taken = [block for block in self.all() if _same(block.name, name)]
        if not taken:
            return UnknownBlockError
        self.mutations += 1
        return taken[0]

    def amend(self, block: Held, content: str, by: str) -> Refusal | None:
        if block.author != by or not self.may(by, pin=block.pinned):
            return AuthorityError
        if block.pinned and not content.strip():
            return RegistryError
        block.content = content
        self.mutations += 1
        return None

    def promote(self, group: list[Held], position: int, by: str) -> Refusal | None:
        if not group or len({block.pinned for block in group}) > 1:
            return RegistryError
        for block in group:
            if block.pinned and by not in (self.owner, block.author):
                return AuthorityError
            if not block.pinned and not self.may(by):
                return AuthorityError
        tier = self.pins if group[0].pinned else self.rest
        others = [block for block in tier if block not in group]
        tier[:] = [*others[:position], *group, *others[position:]]
        self.mutations += 1
        return None

    def removal(self, block: Held, by: str, force: bool) -> Refusal | None:
        own = block.author == by
        if block.removable:
            return None if own or self.may(by) else AuthorityError
        return None if own and force else AuthorityError

    def remove(self, blocks: list[Held]) -> None:
        for block in blocks:
            (self.pins if block.pinned else self.rest).remove(block)
            self.mutations += 1

    def candidates(self, by: str) -> list[Held]:
        return [block for block in self.rest if block.author == by and block.removable]

    def rollback(self, run: str, by: str, force: bool) -> Refusal | list[Held]:
        chosen = [block for block in self.all() if block.run == run]
        if any(block.author != by for block in chosen):
            return AuthorityError
        if any(not block.removable for block in chosen) and not force:
            return AuthorityError
        self.remove(chosen)
        return chosen

    def walk(
        self, passed: list[Held], budget: int | None, tokens: dict[str, int]
    ) -> Refusal | tuple[list[Held], list[Held]]:
        """What a compile holds and what is over the budget, by counts that add up."""
        used = sum(tokens[block.name] for block in self.pins)
        if budget is not None and used > budget:
            return PinOverflowError
        held, over = list(self.pins), []
        for block in passed:
            if budget is None or used + tokens[block.name] <= budget:
                held.append(block)
                used += tokens[block.name]
            else:
                over.append(block)
        return held, over

    def count(self, names: tuple[str, ...]) -> None:
        """Count a compile that held blocks of these names."""
        self.compiles += 1
        for block in self.all():
            if block.name in names:
                block.accesses += 1
                block.last = self.compiles


def _same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFKC", one).casefold() == (
        unicodedata.normalize("NFKC", other).casefold()
    )
