"""Copies of a framework's model that pin their requests, in a subclass of the model's class.

Frameworks check a model's class, so a wrapper does not work. The pins belong to the subclass:
models that it makes anew, as from a configuration, have them too.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from constraintrot.defenses.pinning.pinned_block import PinnedBlock

T = TypeVar("T")
Methods: TypeAlias = Callable[[type[Any]], Mapping[str, Any]]

_PINS = "_constraintrot_pins"


def pinned_blocks(model: Any) -> tuple[PinnedBlock, ...]:
    """Return the blocks that a model pins, in the order in which they were added."""
    found: tuple[PinnedBlock, ...] = getattr(model, _PINS, ())
    return found


def pinning_copy(model: T, pinned_block: PinnedBlock, methods: Methods) -> T:
    """Return a copy of a model that pins a further block.

    Args:
        model: the model; the copy is shallow.
        pinned_block: the pins.
        methods: returns the overriding methods of a model's class, which pin the model's
            ``pinned_blocks``.
    """
    held = pinned_blocks(model)
    kind: type[Any] = type(model).__bases__[0] if held else type(model)
    found: Any = copy.copy(model)
    found.__class__ = _pinning_type(kind, (*held, pinned_block), methods)
    made: T = found
    return made


def _pinning_type(kind: type[Any], blocks: tuple[PinnedBlock, ...], methods: Methods) -> type[Any]:
    names = ("__module__", "__qualname__", "__doc__")
    space = {name: getattr(kind, name) for name in names} | dict(methods(kind))
    space[_PINS] = blocks
    metaclass: Any = type(kind)
    made: type[Any] = metaclass(kind.__name__, (kind,), space)
    return made
