"""Copies of a framework's model that pin what they send, and are of the model's own class.

Frameworks ask what class a model is of, so a wrapper would not do. The pins are the
copy's class's: what that class makes anew, as from a configuration, has them too.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from constraintrot.defenses.pinning.pinned_block import PinnedBlock

T = TypeVar("T")
Methods: TypeAlias = Callable[[type[Any]], Mapping[str, Any]]

_PINS = "_constraintrot_pins"


def pinned_blocks(model: Any) -> tuple[PinnedBlock, ...]:
    """The blocks that a model pins, the one that was given first ahead."""
    found: tuple[PinnedBlock, ...] = getattr(model, _PINS, ())
    return found


def pinning_copy(model: T, pinned_block: PinnedBlock, methods: Methods) -> T:
    """A copy of a model that pins a block too.

    Args:
        model: shares its attributes with the copy.
        pinned_block: the pins.
        methods: those of a model's class that pin what ``pinned_blocks`` gives.
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
