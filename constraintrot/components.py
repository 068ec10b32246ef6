"""How a compactor, an attack, a defense, a harness or a predicate is found by its name.

A decorator registers a component under a name; a second one of the same name is
refused, and an unknown name is answered with the known ones. Built-in components
are in a module of the noun's package, named after the component where it holds
only one, or in a YAML file of that name where the noun can be written as data;
whoever adds a module or a file has nothing else to edit. Installed packages
name a module that registers theirs in the entry point group
``constraintrot.<plural>``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Generic, TypeVar

from constraintrot.errors import DuplicateNameError, UnknownNameError

T = TypeVar("T")
BUILT_IN = "constraintrot"


class PluginWarning(UserWarning):
    """A component of an installed package cannot be used; the message names the package."""


class ComponentRegistry(Generic[T]):
    """The components of one noun, by name.

    Args:
        noun: singular, for messages: ``compactor``.
        package: whose modules register the built-in ones when they are first asked for.
        group: entry point group by which installed packages add theirs.
        read_file: registers what a YAML file of that package defines, under the
            file's name; None for a noun that only Python can write. It is given
            a file after the module of the same name, and may be given it twice.
    """

    def __init__(
        self,
        noun: str,
        package: str,
        group: str,
        read_file: Callable[[Path], None] | None = None,
    ) -> None:
        self.noun = noun
        self._package = package
        self._group = group
        self._read_file = read_file
        self._found: dict[str, T] = {}
        # By name, the distribution that registered it.
        self._origin: dict[str, str] = {}
        self._distribution = BUILT_IN
        self._complete = False

    def __call__(self, name: str) -> Callable[[T], T]:
        """Register what is decorated.

        Raises:
            DuplicateNameError: the name is taken; the message says by which package.
        """

        def register(component: T) -> T:
            if name in self._found:
                raise DuplicateNameError(
                    f"{self.noun} {name!r} is registered already, by {self._origin[name]}"
                )
            self._found[name] = component
            self._origin[name] = self._distribution
            return component

        return register

    def get(self, name: str) -> T:
        """What is registered under a name.

        Raises:
            UnknownNameError: nothing is; the message lists what there is.
        """
        if name not in self._found and not self._complete:
            # One module or file is enough for most names, and the others may be slow to load.
            if name.isidentifier() and find_spec(f"{self._package}.{name}") is not None:
                import_module(f"{self._package}.{name}")
            self._read_files(name)
            if name not in self._found:
                self._load_all()
        if name not in self._found:
            raise UnknownNameError(self.noun, name, self._found)
        return self._found[name]

    def names(self) -> list[str]:
        """All registered names, sorted."""
        self._load_all()
        return sorted(self._found)

    def _load_all(self) -> None:
        if self._complete:
            return
        package = import_module(self._package)
        for module in iter_modules(package.__path__):
            if not module.name.startswith("_"):
                import_module(f"{self._package}.{module.name}")
        self._read_files()
        for point in entry_points(group=self._group):
            self._load_plugin(point)
        # Only now: a registry whose own modules failed to import fails again.
        self._complete = True

    def _read_files(self, only: str | None = None) -> None:
        """Read the package's YAML files, or the one of a name."""
        if self._read_file is None:
            return
        for folder in import_module(self._package).__path__:
            # Listed, not looked up: some file systems take ``Name`` for ``name``.
            for path in sorted(Path(folder).glob("*.yaml")):
                if not path.stem.startswith("_") and only in (None, path.stem):
                    self._read_file(path)

    def _load_plugin(self, point: EntryPoint) -> None:
        """Load what an installed package adds; without it, and with a warning, where that fails."""
        before = set(self._found)
        self._distribution = point.dist.name if point.dist else point.value
        try:
            point.load()
        except Exception as error:  # Whatever somebody else's package raises.
            for name in set(self._found) - before:
                del self._found[name], self._origin[name]
            warnings.warn(
                f"the {self.noun} {point.name!r} of the installed package {self._distribution}"
                f" cannot be used, and is left out: {type(error).__name__}: {error}",
                PluginWarning,
                stacklevel=4,
            )
        finally:
            self._distribution = BUILT_IN
