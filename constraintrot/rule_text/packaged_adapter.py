"""A LoRA file that comes with the package, and its figures."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from constraintrot.errors import WeightsError
from constraintrot.strict import Strict

BASE = "qwen2.5-coder-1.5b"
"""The local model that the packaged adapters belong to."""

_CALIBRATION = "calibration.json"
_AGAIN = "it comes with the package: install constraintrot again"


class Measured(Strict):
    """The figures of an adapter, measured with llama.cpp and the published weights."""

    adapter_sha256: str
    base_sha256: str
    training_sha256: str
    held_out_sha256: str
    step: int


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True)
class PackagedAdapter(Generic[M]):
    """An adapter's file, ``name.gguf``, and its figures, ``calibration.json``, in a folder."""

    name: str
    home: Path
    figures: type[M]

    def is_installed(self, folder: Path | None = None) -> bool:
        """Return whether the installation has the adapter's file; its content is not checked."""
        return self._path(folder).is_file()

    def file(self, folder: Path | None = None) -> Path:
        """Return the path of the adapter's LoRA file, for llama.cpp."""
        path = self._path(folder)
        if not self.is_installed(folder):
            raise WeightsError(f"there is no adapter at {path}; {_AGAIN}")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        wanted = self.calibration(folder).adapter_sha256
        if found != wanted:
            raise WeightsError(
                f"{path} is damaged, or another adapter: its SHA-256 is {found}, and"
                f" {_CALIBRATION} is of {wanted}; {_AGAIN}"
            )
        return path

    def calibration(self, folder: Path | None = None) -> M:
        path = (folder or self.home) / _CALIBRATION
        try:
            return self.figures.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise WeightsError(f"there is no {path}; {_AGAIN}") from error
        except (UnicodeDecodeError, ValidationError) as error:
            raise WeightsError(f"{path} is damaged; {_AGAIN}") from error

    def _path(self, folder: Path | None) -> Path:
        return (folder or self.home) / f"{self.name}.gguf"
