"""The settings with which an episode is played: everything but the episode itself."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.attacks import Chosen as ChosenAttack
from constraintrot.compactors import ChosenCompactor
from constraintrot.evaluation.conditions import Condition
from constraintrot.evaluation.defense import ChosenDefense

Network: TypeAlias = Literal["none", "host"]
NETWORKS: tuple[Network, ...] = ("none", "host")


@dataclass(frozen=True)
class PlaySettings:
    """One condition with everything that it is played with, resolved.

    Attributes:
        attack: the attack on the episode; the one named ``none`` changes nothing.
        scaffold: ``direct``, ``deliberate``, ``deliberate_decline_first`` or ``review``;
            empty until the agent's model, which gives the default, is known.
        steps: most calls of the agent's model after the trigger, while it only looks things up.
        share_as: key under which the compactor's output is shared with conditions that show
            it the same messages; None if it is not shared.
    """

    condition: Condition
    compactor: ChosenCompactor
    attack: ChosenAttack
    defense: ChosenDefense
    scaffold: str = ""
    steps: int = 1
    share_as: str | None = None
    network: Network = "none"
