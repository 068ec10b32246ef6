"""How an episode is to be played: everything but the episode itself."""

from __future__ import annotations

from dataclasses import dataclass

from constraintrot.compactors import Settings
from constraintrot.evaluation.conditions import Condition


@dataclass(frozen=True)
class Plan:
    """The settings that a harness plays an episode under.

    Attributes:
        condition: which condition.
        compactor: resolved settings of the compactor.
        scaffold: ``direct``, ``deliberate`` or ``deliberate_decline_first``.
        defense: name of the defense, ``none`` for none.
        share_as: key under which the compacted context is shared with the
            conditions that differ only after it; None where none does.
    """

    condition: Condition
    compactor: Settings
    scaffold: str
    defense: str = "none"
    share_as: str | None = None
