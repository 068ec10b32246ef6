"""The rights of principals in a registry (section 2.5, with grants for writing).

The owner may write and pin, and grants these rights to others. A block belongs to its
author: nobody else, not even the owner, changes its content or removes it if it is
non-removable.
"""

from uuid import UUID

from constraintrot.defenses.rampart.block import plain_id
from constraintrot.defenses.rampart.errors import AuthorityError
from constraintrot.defenses.rampart.framing import OWNER, writer
from constraintrot.defenses.rampart.principal import Principal
from constraintrot.defenses.rampart.state.record_factory import Record


class Grants:
    """The owner and its grants.

    Attributes:
        pinning: by principal that may write, whether it may pin.
        numbers: by principal that ever had a grant, its number in order, from 1.
    """

    def __init__(self, owner: UUID) -> None:
        self.owner = owner
        self.pinning: dict[UUID, bool] = {}
        self.numbers: dict[UUID, int] = {}

    def give(self, who: UUID, *, pin: bool) -> None:
        """Grant a principal to write, or also to pin; it keeps its number over revocations."""
        self.pinning[who] = pin
        self.numbers.setdefault(who, len(self.numbers) + 1)

    def author(self, who: UUID) -> str:
        if who == self.owner:
            return OWNER
        if who not in self.numbers:
            raise AuthorityError(f"principal {who} was never granted to write here")
        return writer(self.numbers[who])

    def allows(self, who: UUID, *, pin: bool = False) -> bool:
        """Return whether a principal may write, or with ``pin`` may pin."""
        # An id compares itself in Python, which costs as much as the rest of the check.
        if who is self.owner or who == self.owner:
            return True
        return self.pinning.get(who, False) if pin else who in self.pinning

    def check(self, who: UUID, *, pin: bool = False) -> None:
        if not self.allows(who, pin=pin):
            what = "pin" if pin else "write"
            raise AuthorityError(
                f"principal {who} may not {what} here; the registry's owner can grant it"
            )

    def check_owner(self, who: UUID) -> None:
        if who != self.owner:
            raise AuthorityError(f"principal {who} does not own this registry; only its owner may")

    def check_amend(self, who: UUID, record: Record) -> None:
        """Check that the author still has the right to write such a block."""
        if record.author != who:
            raise AuthorityError(
                f"block {record.entry.name!r} was written by {self.author(record.author)}; "
                "only its author changes its content"
            )
        self.check(who, pin=record.pinned)

    def check_move(self, who: UUID, record: Record) -> None:
        """Check that a principal may move a block within its tier."""
        if record.pinned and who not in (self.owner, record.author):
            raise AuthorityError(
                f"pin {record.entry.name!r} is moved by the registry's owner or its author only"
            )
        if not record.pinned:
            self.check(who)

    def check_remove(self, who: UUID, record: Record, *, force: bool) -> None:
        """Check that a principal may remove a block."""
        by_author = record.author == who
        if record.removable:
            if not by_author:
                self.check(who)
        elif not by_author:
            raise AuthorityError(
                f"block {record.entry.name!r} is non-removable and was written by "
                f"{self.author(record.author)}; only its author removes it, with force"
            )
        elif not force:
            raise AuthorityError(
                f"block {record.entry.name!r} is non-removable; its author removes it with force=True"
            )


def principal_id(who: Principal | UUID) -> UUID:
    """Return the id that a grant is for."""
    return who.id if isinstance(who, Principal) else plain_id("a grant is for a Principal, or", who)
