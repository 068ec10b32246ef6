"""The mailbox in which signed directives wait for a channel, outside of any conversation."""

from __future__ import annotations

import threading


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
