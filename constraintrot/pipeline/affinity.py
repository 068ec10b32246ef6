"""Session affinity: a conversation goes to the backend whose prefix cache it has warmed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from constraintrot.errors import ParameterError
from constraintrot.pipeline.context import Context
from constraintrot.pipeline.layer import Layer, Ran


class Affinity(Layer):
    """Names the backend of a conversation, by rendezvous hashing.

    Where a backend goes, only its own conversations move. The messages stay as they are.

    Args:
        backends: their names.
    """

    name = "affinity"

    def __init__(self, backends: Sequence[str]) -> None:
        if isinstance(backends, str):
            raise ParameterError(f"backends are several names, as ({backends!r},)")
        if not backends or len(set(backends)) < len(backends):
            raise ParameterError("affinity needs backends, each named once")
        self.backends = tuple(backends)

    async def run(self, context: Context) -> Ran:
        """Choose the backend."""
        key = f"{context.tenant}\0{context.session.id}\0"
        chosen = max(self.backends, key=lambda one: hashlib.sha256((key + one).encode()).digest())
        return replace(context, backend=chosen), {"backend": chosen}
