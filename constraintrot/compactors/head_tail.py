"""Head and tail: keep the oldest turn and the recent turns."""

from inspect_ai.model import CompactionStrategy

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.truncate import Truncate


class HeadTail(Truncate):
    """Truncation that keeps the oldest turn; Inspect's events tell it apart by its name."""


@compactor("head_tail")
def head_tail(settings: Settings) -> CompactionStrategy:
    """Head and tail."""
    return HeadTail(1, threshold=settings.threshold)
