"""Files by path or fsspec URL."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import import_module
from typing import IO, Any

ENDINGS = (".eval", ".csv", ".parquet")


def kind(path: str) -> str:
    """``file``, ``folder``, or nothing where there is none."""
    fs, root = _at(path)
    if not fs.exists(root):
        return ""
    return "folder" if fs.isdir(root) else "file"


def below(folder: str, leave_out: set[str]) -> Iterator[str]:
    """Logs and tables in a folder and those under it, by name."""
    fs, root = _at(folder)
    left = {_at(path)[1] for path in leave_out}
    found: list[str] = fs.find(root)
    protocols = [fs.protocol] if isinstance(fs.protocol, str) else list(fs.protocol)
    for path in sorted(found):
        if path.endswith(ENDINGS) and path not in left:
            yield path if "file" in protocols else str(fs.unstrip_protocol(path))


def name(path: str) -> str:
    """The last part."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def beside(path: str, other: str) -> str:
    """Another file of the same folder."""
    return "/".join([*path.split("/")[:-1], other])


def read(path: str) -> bytes:
    """All of it."""
    with _open(path) as file:
        return file.read()


def sha256(path: str) -> str:
    """The digest of its bytes."""
    digest = hashlib.sha256()
    with _open(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _open(path: str) -> IO[bytes]:
    fs, root = _at(path)
    file: IO[bytes] = fs.open(root, "rb")
    return file


def _at(path: str) -> tuple[Any, str]:
    # It ships no type information; what is used of it is annotated here.
    core = import_module("fsspec.core")
    found: tuple[Any, str] = core.url_to_fs(path)
    return found
