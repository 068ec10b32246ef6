"""Whether a context still holds what is pinned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.store import Store


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a context holds every pin.

    Attributes:
        held: it holds all pins verbatim.
        missing: those that it does not hold.
        manifest: of the pins that were looked for.
        revision: of the registry at that moment.
    """

    held: bool
    missing: tuple[Block, ...]
    manifest: str
    revision: int


def verification(store: Store, text: str | Iterable[str]) -> Verification:
    """Look for each pin's content in a context.

    Args:
        store: of the registry.
        text: a context, or its messages; one of them has to hold a pin whole.

    Raises:
        RegistryError: something in it is no text.
    """
    texts = [text] if isinstance(text, str) else list(text)
    if not all(isinstance(one, str) for one in texts):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise RegistryError("verify() takes a text or several, not message objects")
    with store.lock:
        pins, manifest, revision = (
            store.views(store.pins.entries()),
            store.pinned()[2],
            store.revision,
        )
    missing = tuple(pin for pin in pins if not any(pin.content in one for one in texts))
    return Verification(not missing, missing, manifest, revision)
