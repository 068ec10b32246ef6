"""The mailbox in which signed directives wait for a channel, and the receipt for each."""

from __future__ import annotations

import threading

from constraintrot.defenses.operator.directive import Directive, broad
from constraintrot.defenses.operator.errors import OperatorError
from constraintrot.strict import Strict


class Receipt(Strict):
    """The outcome of a text that came in.

    Attributes:
        error: name of the error, if it was refused.
        reason: that error's message.
        revision: revision of the state afterwards.
        warnings: see ``directive.broad``.
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
        return cls(accepted=False, error=type(error).__name__, reason=str(error), revision=revision)


class Mailbox:
    """Texts in the order in which they came in.

    Args:
        opens_at: the first hook that gets them, such as ``assemble``; any unless given.
    """

    def __init__(self, *texts: str, opens_at: str | None = None) -> None:
        self._texts = list(texts)
        self._opens_at = opens_at
        self._lock = threading.Lock()

    def put(self, *texts: str) -> None:
        with self._lock:
            self._texts += texts

    def put_back(self, *texts: str) -> None:
        """Put taken texts back in front of all others."""
        with self._lock:
            self._texts = [*texts, *self._texts]

    def take(self, hook: str = "") -> list[str]:
        """Remove and return all texts; none before the opening hook."""
        with self._lock:
            if self._opens_at not in (None, hook):
                return []
            self._opens_at = None
            taken, self._texts = self._texts, []
            return taken
