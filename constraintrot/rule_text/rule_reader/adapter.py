"""The adapter of the reader ``local``, and how good it was on kinds it had not seen."""

from __future__ import annotations

import math
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from constraintrot.rule_text.packaged_adapter import BASE, Measured, PackagedAdapter

NAME = "rule-reader"

__all__ = ["BASE", "NAME", "Calibration", "Question", "calibration", "file", "is_installed"]


class Question(BaseModel):
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

    model_config = ConfigDict(extra="forbid", frozen=True)

    scale: float
    shift: float
    examples: int
    auc: float
    precision: float
    recall: float
    calibration_error: float

    def probability(self, score: float) -> float:
        """The calibrated probability of yes.

        Args:
            score: Log-odds of yes.
        """
        return 0.5 * (1 + math.tanh((self.scale * score + self.shift) / 2))


class Calibration(Measured):
    """The figures on the held-out kinds; see ``Measured`` for the digests.

    Attributes:
        state: Whether a rule binds, going by a text.
        standing: Whether a sentence is a standing instruction.
    """

    state: Question
    standing: Question


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Calibration)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration
