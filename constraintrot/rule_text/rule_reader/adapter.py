"""The adapter of the reader ``local``, and its accuracy on held-out kinds."""

import math
from pathlib import Path

from constraintrot.rule_text.packaged_adapter import BASE, Measured, PackagedAdapter
from constraintrot.strict import Strict

NAME = "rule-reader"

__all__ = [
    "BASE", "NAME", "Calibration", "OtherHand", "Question", "calibration", "claim", "file",
    "is_installed", "reader_name",
]  # fmt: skip
_TRUSTED = 0.05


class Question(Strict):
    """One question of the reader on held-out kinds and templates of its generator.

    Attributes:
        scale: Factor of the log-odds of yes in the calibrated logit.
        shift: Constant of the calibrated logit.
        calibration_error: Mean gap of probability and share over ten bins, each half of the
            kinds with the scale and shift of the other half.
    """

    scale: float
    shift: float
    examples: int
    auc: float
    precision: float
    recall: float
    calibration_error: float

    def probability(self, score: float) -> float:
        return 0.5 * (1 + math.tanh((self.scale * score + self.shift) / 2))


class OtherHand(Strict):
    """Rules in texts by another author than the generator's (results/reading.md)."""

    items: int
    wrong: int


class Calibration(Measured):
    """The figures on the held-out kinds; see ``Measured`` for the digests.

    Attributes:
        state: Whether a rule binds according to a text.
        standing: Whether a sentence is a standing instruction.
        other_hand: Its errors in texts by another author; None before they were read.
    """

    state: Question
    standing: Question
    other_hand: OtherHand | None = None


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Calibration)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration


def reader_name() -> str:
    """Return the name of the reader with this adapter, as in logs."""
    return f"local:{NAME}-{calibration().adapter_sha256[:8]}"


def claim(name: str) -> str:
    """Return a statement of this reader's errors, for reports; empty for other readers."""
    if not is_installed() or name != reader_name() or not (read := calibration().other_hand):
        return ""
    wrong = read.wrong / read.items
    said = f"it was wrong about {wrong:.0%} of {read.items} rules in texts of another hand"
    if wrong <= _TRUSTED:
        return said
    return f"{said}, so a difference between arms says more than a rate or a single answer"
