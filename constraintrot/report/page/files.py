"""Reading of files by path or fsspec URL."""

import hashlib
from collections.abc import Iterator
from importlib import import_module
from typing import IO, Any

ENDINGS = (".eval", ".csv", ".parquet")


def kind(path: str) -> str:
    """Return ``file`` or ``folder``; empty if the path does not exist."""
    fs, root = _at(path)
    if not fs.exists(root):
        return ""
    return "folder" if fs.isdir(root) else "file"


def below(folder: str, leave_out: set[str]) -> Iterator[str]:
    """Yield the logs and frames in a folder and its subfolders, sorted by path."""
    fs, root = _at(folder)
    skipped = {_at(path)[1] for path in leave_out}
    paths: list[str] = fs.find(root)
    protocols = [fs.protocol] if isinstance(fs.protocol, str) else list(fs.protocol)
    for path in sorted(paths):
        if path.endswith(ENDINGS) and path not in skipped:
            yield path if "file" in protocols else str(fs.unstrip_protocol(path))


def name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def beside(path: str, other: str) -> str:
    """Return the path of another file in the folder of ``path``."""
    return "/".join([*path.split("/")[:-1], other])


def read(path: str) -> bytes:
    with opened(path) as file:
        return file.read()


def sha256(path: str) -> str:
    digest = hashlib.sha256()
    with opened(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def opened(path: str) -> IO[bytes]:
    """Open a file for reading; the caller closes it."""
    fs, root = _at(path)
    file: IO[bytes] = fs.open(root, "rb")
    return file


def _at(path: str) -> tuple[Any, str]:
    # fsspec has no type information, so the result is annotated here.
    core = import_module("fsspec.core")
    file_system_and_path: tuple[Any, str] = core.url_to_fs(path)
    return file_system_and_path
