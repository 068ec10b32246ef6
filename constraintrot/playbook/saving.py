"""A playbook in a file: written whole or not at all, and read by any later version.

A file that a killed process was writing lies beside the playbook's, which is as it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, cast

from constraintrot.files import contents, locked, replace
from constraintrot.playbook.bullets import PlaybookError
from constraintrot.playbook.playbook import Playbook

LARGEST: Final = 64_000_000
"""Bytes of a file that is read."""


def save(playbook: Playbook, path: str | Path) -> None:
    """Write what a playbook learned, in the place of an older file.

    Raises:
        PlaybookError: the file cannot be written; an older one is then as it was.
    """
    data = json.dumps(playbook.plain(), ensure_ascii=False, indent=1).encode() + b"\n"
    with locked(path, PlaybookError):
        replace(Path(path), data, PlaybookError)


def load(playbook: Playbook, path: str | Path) -> Playbook:
    """Fill a playbook with what a file holds; returns it.

    Raises:
        PlaybookError: the file cannot be read, or holds no playbook.
    """
    try:
        found: Any = json.loads(contents(path, LARGEST, PlaybookError))
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlaybookError):
            raise PlaybookError(f"{path}: {error}") from error
        raise PlaybookError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise PlaybookError(f"{path} is no saved playbook: not an object")
    playbook.fill(cast("dict[str, Any]", found))
    return playbook
