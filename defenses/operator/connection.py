"""The link from a defense made by name to the operator who runs it."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from constraintrot.defenses import rules_of
from constraintrot.defenses.operator.channel import Channel
from constraintrot.defenses.operator.keys import VerifyingKey
from constraintrot.defenses.operator.receipt import Mailbox, Receipt


@dataclass(frozen=True)
class Connection:
    """The operator's connection to one conversation.

    Attributes:
        folder: the folder of the state; in memory if None.
        receipts: the outcome of each text that came in.
    """

    deployment: str = "default"
    session: str = "default"
    trusted: tuple[VerifyingKey, ...] = ()
    mailbox: Mailbox = field(default_factory=Mailbox)
    folder: Path | None = None
    receipts: list[Receipt] = field(default_factory=list[Receipt])

    def channel(self, declared: str | Sequence[str]) -> Channel:
        """Return a channel in which declared policies are pinned as ``policy-1`` and so on."""
        return Channel(
            self.deployment,
            self.session,
            trusted=self.trusted,
            declared={
                f"policy-{number}": policy
                for number, policy in enumerate(dict.fromkeys(rules_of(declared)), start=1)
            },
            folder=self.folder,
            mailbox=self.mailbox,
        )


_current: ContextVar[Connection | None] = ContextVar("operator connection", default=None)


def connection() -> Connection:
    """Return the connection in force here, or one that trusts no key."""
    return _current.get() or Connection()


@contextmanager
def connected(to: Connection) -> Generator[Connection]:
    """Connect the defenses that are made inside to an operator."""
    token = _current.set(to)
    try:
        yield to
    finally:
        _current.reset(token)
