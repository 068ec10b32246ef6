"""No defense."""

from __future__ import annotations

from constraintrot.defenses import Defense, defense


@defense("none")
def none() -> Defense:
    """A defense that does nothing."""
    return Defense()
