"""Verification that a context still holds the pins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.store import Store


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of looking for every pin in a context.

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
    """Look for each pin's frame in a context: on lines of its own, and whole.

    A quotation of a pin is none, for what is around it may say that it is withdrawn.
    Whoever writes a text can copy a frame, so the texts should be such that only the
    operator writes them; a ``PinnedBlock`` also tells its own block from a copy.

    Args:
        store: of the registry.
        text: a context, or its messages; one of them has to hold a pin whole.

    Raises:
        RegistryError: something in it is no text.
    """
    texts = [text] if isinstance(text, str) else list(text)
    if not all(isinstance(one, str) for one in texts):  # callers may be untyped
        raise RegistryError("verify() takes a text or several, not message objects")
    with store.lock:
        entries, _, manifest = store.pinned()
        pins, revision = store.views(entries), store.revision
    missing = tuple(
        pin
        for pin, entry in zip(pins, entries, strict=True)
        if not any(_framed(entry.frame, one) for one in texts)
    )
    return Verification(not missing, missing, manifest, revision)


def _framed(frame: str, text: str) -> bool:
    """Return whether a frame is in a text on lines of its own; the last line break may be missing."""
    return f"\n{frame}" in f"\n{text}\n"
