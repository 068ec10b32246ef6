"""The pins that a framework's own hook carries, and copies of its model that pin what they send.

A copy is of the model's own class: frameworks ask what class a model is of, so a wrapper would
not do. The pins are the copy's class's: what that class makes anew, as from a configuration, has
them too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from inspect_ai.model import ChatMessage

from constraintrot.defenses import Defense
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError


def framework_pins(defense: Defense) -> PinnedBlock | None:
    """Return the block that a framework's own hook pins, if the defense supplies one.

    Raises:
        EpisodeError: it supplies something that no hook of ours knows.
    """
    pins = defense.framework_pins()
    if pins is not None and not isinstance(pins, PinnedBlock):
        raise EpisodeError(
            f"{type(defense).__name__}.framework_pins gave a {type(pins).__name__}, not a PinnedBlock"
        )
    return pins


def check_pinned(pins: PinnedBlock | None, sent: Sequence[ChatMessage]) -> None:
    """Assert that the pins are in the agent's input exactly once.

    Raises:
        EpisodeError: they are not.
    """
    block = _block(pins)
    texts = [m.text for m in sent if m.role in ("system", "user")]
    if block and sum(text.count(block) for text in texts) != 1:
        raise EpisodeError("the pinned policies are not in a model input exactly once")


def check_unpinned(pins: PinnedBlock | None, shown: Sequence[ChatMessage]) -> None:
    """Assert that a summarizer is not shown the pins, which it could otherwise repeat.

    Raises:
        EpisodeError: it is.
    """
    block = _block(pins)
    if block and any(block in text for text in message_texts(shown)):
        raise EpisodeError("the summarizer was shown the pinned policies")


def _block(pins: PinnedBlock | None) -> str:
    return pins.text.rstrip("\n") if pins is not None else ""


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
