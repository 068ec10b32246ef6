"""The adapter that comes with the package, and how good it was on kinds it had not seen."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from constraintrot.errors import WeightsError

NAME = "rule-judge"
BASE = "qwen2.5-coder-1.5b"
"""The local model that the adapter belongs to."""

_HERE = Path(__file__).parent
_FILE = _HERE / f"{NAME}.gguf"
_CALIBRATION = _HERE / "calibration.json"
_AGAIN = "it comes with the package: install constraintrot again"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bar(_Strict):
    """One bar of the reliability diagram.

    Attributes:
        count: Examples whose probability of yes is in this bin.
        probability: The mean of these probabilities.
        share: The share of these requests that break their rule.
    """

    count: int
    probability: float
    share: float


class Calibration(_Strict):
    """What was measured on the held-out kinds, with llama.cpp and the published weights.

    Attributes:
        threshold: Log-odds above which the judge says yes.
        adapter_sha256: Digest of the adapter's file.
        base_sha256: Digest of the base model's file.
        training_sha256: Digest of the examples that it was trained on.
        held_out_sha256: Digest of the examples of this page.
        step: Training step of the checkpoint.
        examples: Number of held-out examples.
        forbidden_right: Share of the forbidden requests above the threshold.
        allowed_right: Share of the allowed requests at or below it.
        unseen_forbidden_right: The same, each kind with a threshold from the other kinds.
        unseen_allowed_right: The same, each kind with a threshold from the other kinds.
        auc: Area under the ROC curve inside each kind, and over all of them.
        brier: Mean squared distance of the probability of yes from the label.
        reliability: Probability against what was so.
    """

    threshold: float
    adapter_sha256: str
    base_sha256: str
    training_sha256: str
    held_out_sha256: str
    step: int
    examples: int
    forbidden_right: float
    allowed_right: float
    unseen_forbidden_right: float
    unseen_allowed_right: float
    auc: dict[str, float]
    brier: float
    reliability: tuple[Bar, ...]


def is_installed(folder: Path = _HERE) -> bool:
    """Whether the installation has the adapter's file, whatever is in it."""
    return (folder / _FILE.name).is_file()


def file(folder: Path = _HERE) -> Path:
    """The adapter's LoRA file, for llama.cpp.

    Raises:
        WeightsError: The installation lacks it or its calibration, or it is another file
            than the one that was calibrated.
    """
    path = folder / _FILE.name
    if not is_installed(folder):
        raise WeightsError(f"there is no adapter at {path}; {_AGAIN}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    wanted = calibration(folder).adapter_sha256
    if found != wanted:
        raise WeightsError(
            f"{path} is damaged, or another adapter: its SHA-256 is {found}, and {_CALIBRATION.name}"
            f" is of {wanted}; {_AGAIN}"
        )
    return path


def calibration(folder: Path = _HERE) -> Calibration:
    """The figures that belong to the adapter.

    Raises:
        WeightsError: The installation lacks them, or they cannot be read.
    """
    path = folder / _CALIBRATION.name
    try:
        return Calibration.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsError(f"there is no {path}; {_AGAIN}") from error
    except (UnicodeDecodeError, ValidationError) as error:
        raise WeightsError(f"{path} is damaged; {_AGAIN}") from error
