"""Names of a module that are imported from other modules at their first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from constraintrot.errors import MissingExtraError


def lazily(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``, which imports a name and keeps it.

    Args:
        module: the ``__name__`` of the module that offers the names.
        names: the names, each with the module that defines it; ``module:name`` if it
            has another name there.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source, _, known_as = names[name].partition(":")
        try:
            value = getattr(import_module(source), known_as or name)
        except ModuleNotFoundError as error:
            if error.name != "inspect_ai":
                raise
            raise MissingExtraError(
                f"{module}.{name} needs inspect_ai: pip install 'constraintrot[inspect]'"
            ) from error
        setattr(sys.modules[module], name, value)
        return value

    return get
