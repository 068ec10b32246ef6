"""The stores of this process: kept whole over a fork, and searched for lineage.

A child of ``os.fork`` inherits every registry (section 2.6), along with locks that
threads of the parent may hold and that nobody in the child would release. So a
fork first takes every lock, which waits for the mutations under way to end, and
the child begins with new ones. A lock is only ever held for a bounded moment: no
callable of the user's runs under it, and nobody takes a second one while holding it.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Locked(Protocol):
    """A store, as far as a fork is concerned."""

    lock: threading.RLock


_guard = threading.Lock()
_stores: WeakSet[Locked] = WeakSet()
_held: list[Locked] = []


def add(store: Locked) -> None:
    """Watch over a store for as long as it lives."""
    with _guard:
        _stores.add(store)


def stores() -> list[Locked]:
    """All that are alive in this process."""
    with _guard:
        return list(_stores)


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
