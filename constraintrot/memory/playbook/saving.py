"""A playbook in a file: written whole or not at all, and read by any later version.

A file that a killed process was writing lies beside the playbook's, which is as it was.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from constraintrot.files import contents, locked, replace
from constraintrot.memory.playbook.bullets import PlaybookError
from constraintrot.memory.playbook.playbook import Playbook

LARGEST: Final = 64_000_000
"""Bytes of a file that is read."""


# What each playbook last read from or wrote to a file, by the file's path.
_seen: WeakKeyDictionary[Playbook, dict[Path, str]] = WeakKeyDictionary()


def save(playbook: Playbook, path: str | Path) -> None:
    """Write what a playbook learned, in the place of an older file.

    Raises:
        PlaybookError: the file cannot be written, or another process has written it since
            this playbook was loaded from or saved to it; it is then as it was.
    """
    data = json.dumps(playbook.plain(), ensure_ascii=False, indent=1).encode() + b"\n"
    where, seen = Path(path).absolute(), _seen.setdefault(playbook, {})
    with locked(path, PlaybookError):
        if where in seen and where.exists():
            there = contents(path, LARGEST, PlaybookError)
            if _digest(there) != seen[where]:
                raise PlaybookError(
                    f"{path} was written by another since this playbook was loaded, and what it"
                    " learned would be lost; load it anew, or save to another file"
                )
        replace(Path(path), data, PlaybookError)
    seen[where] = _digest(data)


def load(playbook: Playbook, path: str | Path) -> Playbook:
    """Fill a playbook with what a file holds; returns it.

    Raises:
        PlaybookError: the file cannot be read, or holds no playbook.
    """
    try:
        data = contents(path, LARGEST, PlaybookError)
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlaybookError):
            raise PlaybookError(f"{path}: {error}") from error
        raise PlaybookError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise PlaybookError(f"{path} is no saved playbook: not an object")
    try:
        playbook.fill(cast("dict[str, Any]", found))
    except PlaybookError as error:
        # An overflow stays one.
        raise type(error)(f"{path}: {error}") from error
    _seen.setdefault(playbook, {})[Path(path).absolute()] = _digest(data)
    return playbook


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
