"""The one way to add a compactor, an attack, a defense or a harness.

A door is a named set of factories: a decorator registers one, a second one of
the same name is refused, an unknown name is answered with the known ones.
Installed packages add theirs through the entry point group
``constraintrot.<plural>``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from .errors import DuplicateNameError, UnknownNameError

T = TypeVar("T")


class Door(Generic[T]):
    """A registry of factories of one noun.

    Args:
        noun: singular, for messages: ``compactor``.
        package: whose modules register the built-in ones when first asked for.
        group: entry point group by which installed packages add theirs.
    """

    def __init__(self, noun: str, package: str, modules: tuple[str, ...], group: str) -> None:
        self.noun = noun
        self._package = package
        self._modules = modules
        self._group = group
        self._found: dict[str, T] = {}
        self._opened = False

    def __call__(self, name: str) -> Callable[[T], T]:
        """Register what the decorator stands on.

        Raises:
            DuplicateNameError: the name is taken.
        """

        def register(factory: T) -> T:
            if name in self._found:
                raise DuplicateNameError(f"{self.noun} {name!r} is registered already")
            self._found[name] = factory
            return factory

        return register

    def get(self, name: str) -> T:
        """What is registered under a name.

        Raises:
            UnknownNameError: nothing is; the message lists what there is.
        """
        self._open()
        if name not in self._found:
            raise UnknownNameError(self.noun, name, self._found)
        return self._found[name]

    def names(self) -> list[str]:
        """All registered names, sorted."""
        self._open()
        return sorted(self._found)

    def _open(self) -> None:
        if self._opened:
            return
        for module in self._modules:
            import_module(f"{self._package}.{module}")
        for point in entry_points(group=self._group):
            point.load()
        # Only now: a door that failed to open fails again, and is never half full.
        self._opened = True
