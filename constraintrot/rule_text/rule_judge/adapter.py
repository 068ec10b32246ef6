"""The packaged adapter of the rule judge, and its accuracy on held-out kinds."""

from pathlib import Path

from constraintrot.rule_text.packaged_adapter import BASE, Measured, PackagedAdapter
from constraintrot.strict import Strict

NAME = "rule-judge"

__all__ = ["BASE", "NAME", "Bar", "Calibration", "calibration", "file", "is_installed"]


class Bar(Strict):
    """One bar of the reliability diagram: examples in a bin, their mean probability, true share."""

    count: int
    probability: float
    share: float


class Calibration(Measured):
    """The figures on the held-out kinds; see ``Measured`` for the digests.

    Attributes:
        threshold: Log-odds above which the judge says yes.
        forbidden_right: Share of the forbidden requests above the threshold.
        allowed_right: Share of the allowed requests at or below it.
        unseen_forbidden_right: The same, each kind with a threshold from the other kinds.
        auc: Area under the ROC curve inside each kind, and over all of them.
        brier: Mean squared distance of the probability of yes from the label.
    """

    threshold: float
    examples: int
    forbidden_right: float
    allowed_right: float
    unseen_forbidden_right: float
    unseen_allowed_right: float
    auc: dict[str, float]
    brier: float
    reliability: tuple[Bar, ...]


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Calibration)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration
