"""``head_retain``: the first turns after the protected opening are never compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense

if TYPE_CHECKING:
    from inspect_ai.model import CompactionStrategy

# A rule usually comes first.
TURNS = 2


class HeadRetain(Defense):
    """Keeps the first turns, whatever they say."""

    def __init__(self, turns: int = TURNS) -> None:
        self.turns = turns

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses._strategies import RetainedHead

        return RetainedHead(strategy, self.turns)


@defense("head_retain", hooks=("wrap",))
def head_retain(deployment: Deployment) -> Defense:
    """The first two turns stay out of the compactor's reach."""
    return HeadRetain()
