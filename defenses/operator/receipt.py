"""The mailbox in which signed directives wait for a channel, and the receipt for each."""

from __future__ import annotations

import threading

from constraintrot.defenses.operator.directive import Directive, broad
from constraintrot.defenses.operator.errors import OperatorError
from constraintrot.strict import Strict


class Receipt(Strict):
    """The outcome of a text that came in.

    Attributes:
        accepted: whether it was applied.
        error: the error's name, where it was refused.
        reason: that error's message.
        kind: of the directive, where it was applied; so are the others.
        constraint: that it is about.
        sequence: its number.
        revision: of the state afterwards.
        warnings: what the directive lets through that is more than one decision.
    """

    accepted: bool
    error: str | None = None
    reason: str | None = None
    kind: str | None = None
    constraint: str | None = None
    sequence: int | None = None
    revision: int
    warnings: tuple[str, ...] = ()

    @classmethod
    def applied(cls, directive: Directive, revision: int) -> Receipt:
        """Of a directive that was applied."""
        return cls(
            accepted=True,
            kind=directive.kind,
            constraint=directive.constraint,
            sequence=directive.sequence,
            revision=revision,
            warnings=broad(directive),
        )

    @classmethod
    def refused(cls, error: OperatorError, revision: int) -> Receipt:
        """Of a text that was not."""
        return cls(accepted=False, error=type(error).__name__, reason=str(error), revision=revision)


class Mailbox:
    """Texts in the order in which they came in.

    Args:
        texts: what is in it at the start.
        opens_at: hook from which on it gives them out, as ``assemble``; at once
            unless given.
    """

    def __init__(self, *texts: str, opens_at: str | None = None) -> None:
        self._texts = list(texts)
        self._opens_at = opens_at
        self._lock = threading.Lock()

    def put(self, *texts: str) -> None:
        """Add texts."""
        with self._lock:
            self._texts += texts

    def put_back(self, *texts: str) -> None:
        """Add texts before all others: they were taken and are not done."""
        with self._lock:
            self._texts = [*texts, *self._texts]

    def take(self, hook: str = "") -> list[str]:
        """All texts that wait, which then wait no longer."""
        with self._lock:
            if self._opens_at not in (None, hook):
                return []
            self._opens_at = None
            taken, self._texts = self._texts, []
            return taken
