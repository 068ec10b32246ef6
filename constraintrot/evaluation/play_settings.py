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
        condition: the condition.
        compactor: the compactor; ignored if the harness compacts itself.
        attack: the attack on the episode; the one named ``none`` changes nothing.
        defense: the defense around the agent; the one named ``none`` does nothing.
        scaffold: ``direct``, ``deliberate``, ``deliberate_decline_first`` or
            ``review``; empty until the agent's model is known, which decides where nobody did.
        steps: how often the agent's model may be called after the trigger, where it
            only looks things up.
        network: what a harness that runs a program leaves it of the network: ``none`` or ``host``.
        share_as: key under which what the compactor gives back is shared with the
            conditions that show it the same messages; None where none does.
    """

    condition: Condition
    compactor: ChosenCompactor
    attack: ChosenAttack
    defense: ChosenDefense
    scaffold: str = ""
    steps: int = 1
    share_as: str | None = None
    network: Network = "none"
