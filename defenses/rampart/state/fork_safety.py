"""The stores of this process, kept consistent over a fork and searched for lineage.

A child of ``os.fork`` inherits every registry (section 2.6) and locks that threads of the
parent may hold, which nobody in the child would release. So a fork first takes every lock,
which waits for the mutations under way, and the child begins with new ones. A lock is held
only briefly: no callable of the user's runs under it, and nobody takes a second one with it.
"""

import os
import threading
from typing import Protocol
from uuid import UUID
from weakref import WeakSet

from constraintrot.defenses.rampart.state.provenance import Line


class Watched(Protocol):
    """A store as a fork and a search for lineage see it."""

    lock: threading.RLock

    def written_by(self, author: UUID) -> tuple[Line, ...]:
        """Return the lives of an author's blocks in it."""


_guard = threading.Lock()
# Never handed out: a store can be written to without any principal.
_stores: WeakSet[Watched] = WeakSet()
_held: list[Watched] = []


def add(store: Watched) -> None:
    """Watch a store for as long as it lives."""
    with _guard:
        _stores.add(store)


def written_elsewhere(here: Watched, author: UUID) -> tuple[Line, ...]:
    """Return the lives of an author's blocks in all other stores of this process."""
    with _guard:
        others = [store for store in _stores if store is not here]
    return tuple(line for store in others for line in store.written_by(author))


def _before() -> None:
    _guard.acquire()
    _held[:] = list(_stores)
    for store in _held:
        store.lock.acquire()


def _in_parent() -> None:
    for store in _held:
        store.lock.release()
    _held.clear()
    _guard.release()


def _in_child() -> None:
    global _guard
    _guard = threading.Lock()
    for store in _held:
        store.lock = threading.RLock()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
