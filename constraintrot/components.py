"""The registry of components: compactors, attacks, defenses, harnesses and predicates, by name.

A decorator registers a component under a name. A second component of the same
name is refused; an unknown name raises an error that lists the known ones. Before the
first component from outside is registered, the built-in ones are imported, so that none
can be replaced.

The built-in components of a kind are modules of one package. A module that holds a
single component has its name. An attack can also be a YAML file of its name. To
add a component, add the module or the file: there is no list to edit. An installed
package names the module that registers its components in the entry point group
``constraintrot.<plural>``.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from inspect import iscoroutinefunction, signature
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from constraintrot.errors import DuplicateNameError, EpisodeError, ParameterError, UnknownNameError

T = TypeVar("T")
BUILT_IN = "constraintrot"


class PluginWarning(UserWarning):
    """A component of an installed package cannot be used; the message names the package."""


class ComponentRegistry(Generic[T]):
    """The components of one kind, by name.

    Args:
        noun: what a component of this kind is called in error messages: ``compactor``.
        package: package whose modules register the built-in components. They are
            imported at the first lookup, not before.
        group: entry point group through which installed packages add components.
        read_file: registers the component that a YAML file of the package defines,
            under the file's stem; None if components are Python only. It is
            called after the module of the same name is imported, and may be
            called twice for one file.
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
        self._components: dict[str, T] = {}
        # Component name -> the distribution or module that registered it.
        self._origin: dict[str, str] = {}
        # The distribution whose components are being loaded; empty while none is.
        self._loading = ""
        self._built_in = False
        self._complete = False

    def __call__(self, name: str) -> Callable[[T], T]:
        """Decorator that registers a component under a name.

        Raises:
            DuplicateNameError: the name is taken. The message names the package or module
                that took it.
        """

        def register(component: T) -> T:
            origin = self._loading or self._registering()
            if origin != BUILT_IN:
                self._load_built_in()
            if name in self._components:
                raise DuplicateNameError(
                    f"{self.noun} {name!r} is registered already, by {self._origin[name]}"
                )
            self._components[name] = component
            self._origin[name] = origin
            return component

        return register

    def get(self, name: str) -> T:
        """Return the component of a name.

        Raises:
            UnknownNameError: no component has this name. The message lists the known names.
        """
        if name not in self._components and not self._complete:
            # One module or file is enough for most names, and the others may be slow to load.
            if name.isidentifier() and find_spec(f"{self._package}.{name}") is not None:
                import_module(f"{self._package}.{name}")
            self._read_files(name)
            if name not in self._components:
                self._load_all()
        if name not in self._components:
            raise UnknownNameError(self.noun, name, self._components)
        return self._components[name]

    def names(self) -> list[str]:
        """Return all registered names, sorted."""
        self._load_all()
        return sorted(self._components)

    def _registering(self) -> str:
        """Return ``BUILT_IN`` while one of its modules is being imported, else the calling module."""
        inner, frame = "", sys._getframe(1)
        while frame.f_back and _within(str(frame.f_globals.get("__name__")), self._package):
            inner, frame = frame.f_code.co_name, frame.f_back
        return BUILT_IN if inner == "<module>" else str(frame.f_globals.get("__name__"))

    def _load_all(self) -> None:
        if self._complete:
            return
        self._load_built_in()
        for point in entry_points(group=self._group):
            if _distribution(point) != BUILT_IN:
                self._load_plugin(point)
        # Set last: if a built-in module fails to import, the next lookup fails too.
        self._complete = True

    def _load_built_in(self) -> None:
        if self._built_in:
            return
        package = import_module(self._package)
        for module in iter_modules(package.__path__):
            if not module.name.startswith("_"):
                import_module(f"{self._package}.{module.name}")
        self._read_files()
        for point in entry_points(group=self._group):
            if _distribution(point) == BUILT_IN:
                self._load_plugin(point)
        self._built_in = True

    def _read_files(self, only: str | None = None) -> None:
        """Read the package's YAML files, or only the file whose stem is ``only``."""
        if self._read_file is None:
            return
        with self._from(BUILT_IN):
            for folder in import_module(self._package).__path__:
                # Listed, not opened by name: some file systems treat ``Name`` as ``name``.
                for path in sorted(Path(folder).glob("*.yaml")):
                    if not path.stem.startswith("_") and only in (None, path.stem):
                        self._read_file(path)

    @contextmanager
    def _from(self, distribution: str) -> Iterator[None]:
        before, self._loading = self._loading, distribution
        try:
            yield
        finally:
            self._loading = before

    def _load_plugin(self, point: EntryPoint) -> None:
        """Load an installed package's components; if that fails, warn and leave them all out."""
        before = set(self._components)
        distribution = _distribution(point)
        try:
            with self._from(distribution):
                point.load()
        except Exception as error:  # Code of another package may raise anything.
            for name in set(self._components) - before:
                del self._components[name], self._origin[name]
            warnings.warn(
                f"the {self.noun} {point.name!r} of the installed package {distribution}"
                f" cannot be used, and is left out: {type(error).__name__}: {error}",
                PluginWarning,
                stacklevel=4,
            )


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _within(module: str, package: str) -> bool:
    return any(f"{module}.".startswith(f"{one}.") for one in (BUILT_IN, package))


def check_made(component: str, made: object, kind: Any, coroutines: tuple[str, ...] = ()) -> None:
    """Raise ParameterError if a factory made no ``kind``, or one with hooks of another form.

    Args:
        component: noun and name, for the message.
        made: what the factory returned.
        kind: the expected class.
        coroutines: its methods that are called with ``await``.
    """
    if not isinstance(made, kind):
        raise ParameterError(
            f"the factory of {component} returned {type(made).__name__}, not a {kind.__name__}"
        )
    for method in coroutines:
        own, wanted = getattr(made, method), [*signature(getattr(kind, method)).parameters]
        try:
            fits = iscoroutinefunction(own) and bool(signature(own).bind(*wanted[1:]))
        except TypeError:
            fits = False
        if not fits:
            raise ParameterError(f"{component} must have `async def {method}({', '.join(wanted)})`")


def returned(component: object, hook: str, value: Any, kind: Any) -> Any:
    """Return what a component's hook returned; raise EpisodeError if it is no ``kind``."""
    if not isinstance(value, kind):
        raise EpisodeError(
            f"{type(component).__name__}: {hook} returned {type(value).__name__}, not"
            f" {getattr(kind, '__name__', kind)}"
        )
    return value
