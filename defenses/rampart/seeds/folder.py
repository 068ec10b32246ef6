"""A folder of nothing but seed files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from constraintrot.errors import ParameterError

_SUFFIXES: Final = (".md", ".markdown")


def seed_files(given: Path) -> list[Path]:
    """The file, or all files of the folder, sorted.

    Raises:
        ParameterError: the folder is empty, or holds what is no seed file and so would not
            be pinned.
    """
    if not given.is_dir():
        return [given]
    # Kubernetes keeps the files of a mounted folder in one whose name begins so.
    found = sorted(file for file in given.iterdir() if not file.name.startswith(".."))
    for file in found:
        if file.is_dir() or file.suffix.lower() not in _SUFFIXES:
            raise ParameterError(
                f"{file} would not be pinned: a folder of seeds holds files of the kinds"
                f" {', '.join(_SUFFIXES)} and nothing else"
            )
    if not found:
        raise ParameterError(f"{given} has no seed file; known are {', '.join(_SUFFIXES)}")
    return found
