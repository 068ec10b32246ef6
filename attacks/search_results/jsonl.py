"""An append-only file of JSON lines: a header, then one row per line.

Each row is on the disk before the program continues, so a kill loses at most the row being
written, which is recognised by its missing newline.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from constraintrot.errors import ParameterError
from constraintrot.files import contents, write
from constraintrot.scenario.schema import CANARY

VERSION = 1
_MOST_BYTES = 500_000_000
NOTICE = (
    "Adversarial text for measuring and hardening agents in simulation. Use it only against"
    " systems that you run or are allowed to test; keep the canary, so that it stays out of"
    " training data."
)


@dataclass(frozen=True)
class Lines:
    """The content of a file.

    Attributes:
        size: bytes up to the end of the last complete row.
        torn: whether an incomplete row follows.
    """

    settings: dict[str, Any]
    rows: tuple[dict[str, Any], ...]
    size: int
    torn: bool


def read(path: Path, kind: str) -> Lines:
    """Read a file whose header has the format ``kind``."""
    try:
        raw = contents(path, _MOST_BYTES, ParameterError, links=True)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from error.__cause__
    if not raw:
        raise ParameterError(f"{path} is empty; give a file of `constraintrot attack`")
    size = raw.rfind(b"\n") + 1
    rows = [_row(path, at, line) for at, line in enumerate(raw[:size].splitlines(), start=1)]
    header = rows[0] if rows else {}
    if header.get("format") != kind:
        raise ParameterError(f"{path} is no {kind} file: its first line does not say so")
    if header.get("version") != VERSION:
        raise ParameterError(
            f"{path} is of version {header.get('version')}, and this release reads version"
            f" {VERSION}; use the release that wrote it, or search anew"
        )
    if header.get("canary") != CANARY or not isinstance(header.get("settings"), dict):
        raise ParameterError(f"{path}, line 1: the header lacks its canary or its settings")
    return Lines(header["settings"], tuple(rows[1:]), size, size < len(raw))


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Append a row, which is on the disk on return."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def resume(path: Path, kind: str, settings: Mapping[str, Any], may_differ: str = "") -> Lines:
    """Continue a file, or start it with only its header; a torn last row is removed.

    Its settings must be these, except for the one named ``may_differ``.
    """
    if not path.exists() or not path.stat().st_size:
        header = {"format": kind, "version": VERSION, "canary": CANARY, "notice": NOTICE}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(f"cannot write {path}: {error}; name another file") from error
        text = json.dumps(header | {"settings": settings}, ensure_ascii=False) + "\n"
        write(path, text, ParameterError)
    lines = read(path, kind)
    # As read from a file, where tuples are lists.
    wanted = json.loads(json.dumps(settings))
    names = sorted(set(wanted) | set(lines.settings))
    other = [n for n in names if n != may_differ and wanted.get(n) != lines.settings.get(n)]
    if other:
        was, now = lines.settings.get(other[0]), wanted.get(other[0])
        raise ParameterError(
            f"{path} was begun with other settings: {', '.join(other)} ({other[0]} was {was!r} and"
            f" is {now!r}); give another --out, or the same settings to go on"
        )
    if lines.torn:
        with path.open("r+b") as file:
            file.truncate(lines.size)
    return lines


def _row(path: Path, at: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}, line {at}: no JSON: {error}") from error
    if not isinstance(row, dict):
        raise ParameterError(f"{path}, line {at}: no JSON object")
    return cast("dict[str, Any]", row)
