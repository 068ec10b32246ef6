"""The adapter of the reader ``local``, and how good it was on kinds it had not seen."""

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
        scale: What the log-odds of yes are multiplied by, and
        shift: what is added then, to make them a calibrated logit.
        examples: Number of held-out questions.
        auc: Area under the ROC curve of yes.
        precision: Share of those called yes that are.
        recall: Share of those that are yes that are called so.
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
        """The calibrated probability of yes, from its log-odds."""
        return 0.5 * (1 + math.tanh((self.scale * score + self.shift) / 2))


class OtherHand(Strict):
    """Rules in texts that were written without the generator in view (results/reading.md).

    Attributes:
        items: Rules that it was asked about.
        wrong: Those where it was wrong about whether they bind.
    """

    items: int
    wrong: int


class Calibration(Measured):
    """The figures on the held-out kinds; see ``Measured`` for the digests.

    Attributes:
        state: Whether a rule binds, going by a text.
        standing: Whether a sentence is a standing instruction.
        other_hand: How often it was wrong in texts of another hand; None before they were read.
    """

    state: Question
    standing: Question
    other_hand: OtherHand | None = None


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Calibration)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration


def reader_name() -> str:
    """Return the name of the reader with this adapter, as logs have it."""
    return f"local:{NAME}-{calibration().adapter_sha256[:8]}"


def claim(name: str) -> str:
    """Return what may be said of a reader's answers; empty for another one than this."""
    if not is_installed() or name != reader_name() or not (read := calibration().other_hand):
        return ""
    wrong = read.wrong / read.items
    said = f"it was wrong about {wrong:.0%} of {read.items} rules in texts of another hand"
    if wrong <= _TRUSTED:
        return said
    return f"{said}, so a difference between arms says more than a rate or a single answer"
