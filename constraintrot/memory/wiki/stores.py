"""Storage of a vault's files: in a folder, or in memory."""

import contextlib
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Final, TypeAlias

from constraintrot.files import contents, held, replace
from constraintrot.memory.wiki.names import (
    FOLDERS,
    KINDS,
    SOURCES,
    Kind,
    WikiError,
    page_path,
    plain_text,
)

LARGEST: Final = 64_000_000
"""The largest file that is read, in bytes."""
_OWN: Final = ".wiki"
_LOCK: Final = f"{_OWN}/lock"
FILE_FOLDERS: Final = (SOURCES, *FOLDERS.values())


class Memory:
    """A vault in memory, for conversations and measurements; paths are relative, with ``/``."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.texts = dict(files or {})
        self._lock = RLock()

    def read(self, path: str) -> str | None:
        """Return a file's text as ``plain_text`` gives it; None if there is no such file."""
        text = self.texts.get(path)
        return None if text is None else plain_text(text)

    def tail(self, path: str, characters: int) -> str:
        """Return up to the last ``characters`` of a file; empty if there is no such file."""
        return plain_text(self.texts.get(path, "")[-characters:])

    def write(self, path: str, text: str) -> None:
        """Write a file whole or not at all, in the place of an older one."""
        self.texts[path] = text

    def append(self, path: str, line: str) -> None:
        self.texts[path] = joined(self.texts.get(path, ""), line)

    def remove(self, path: str) -> None:
        self.texts.pop(path, None)

    def exists(self, path: str) -> bool:
        return path in self.texts

    def files(self, folder: str) -> list[str]:
        """Return the names of a folder's Markdown files without ``.md``, sorted."""
        start = f"{folder}/"
        return sorted(
            path.removeprefix(start).removesuffix(".md")
            for path in self.texts
            if path.startswith(start) and path.endswith(".md")
        )

    def names(self) -> set[str]:
        """Return the names that a link may have: files outside hidden folders, without ``.md``."""
        return {
            path.rpartition("/")[2].removesuffix(".md")
            for path in self.texts
            if not path.startswith(".") and "/." not in path
        }

    def leftovers(self) -> list[str]:
        """Return the paths of files that a killed process had begun to write."""
        return []

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep other writers out."""
        with self._lock:
            yield


class Folder:
    """A vault in a folder; nothing outside it is read or written, and no link is followed."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def make(self) -> None:
        try:
            for name in (*FILE_FOLDERS, _OWN):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except FileExistsError as failure:
            raise _no_folder(failure.filename) from failure
        except OSError as failure:
            raise WikiError(f"cannot make a vault in {self.path}: {failure}") from failure

    def read(self, path: str) -> str | None:
        where = self._at(path)
        if not os.path.lexists(where):
            return None
        try:
            return plain_text(contents(where, LARGEST, WikiError).decode("utf-8"))
        except WikiError as error:
            raise WikiError(f"{where}: {error}") from error
        except UnicodeDecodeError as error:
            raise WikiError(f"{where} is not UTF-8: {error}; save it as UTF-8") from error

    def tail(self, path: str, characters: int) -> str:
        where = self._at(path)
        if not where.is_file() or where.is_symlink():
            return ""
        with where.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4 * characters))
            # The cut may be within a character.
            return plain_text(file.read().decode("utf-8", "ignore")[-characters:])

    def write(self, path: str, text: str) -> None:
        replace(self._at(path), text.encode("utf-8", "replace"), WikiError, mode=0o644)

    def append(self, path: str, line: str) -> None:
        where = self._at(path)
        if where.is_symlink():
            raise WikiError(f"cannot write {where}: it is a link")
        start = "" if _ends_a_line(where) else "\n"
        data = f"{start}{line}\n".encode("utf-8", "replace")
        try:
            # One call, so that a killed process has written the whole line or nothing.
            handle = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                if os.write(handle, data) != len(data):
                    raise OSError("the disk took only a part of the line; lint mends that")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as failure:
            raise WikiError(f"cannot write {where}: {failure}") from failure

    def remove(self, path: str) -> None:
        try:
            self._at(path).unlink(missing_ok=True)
        except OSError as failure:
            raise WikiError(f"cannot remove {self._at(path)}: {failure}") from failure

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._at(path))

    def files(self, folder: str) -> list[str]:
        return sorted(
            name.removesuffix(".md")
            for name in self._listed(folder)
            if name.endswith(".md") and not name.startswith(".")
        )

    def names(self) -> set[str]:
        found: set[str] = set()
        for _, folders, files in os.walk(self.path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found |= {name.removesuffix(".md") for name in files if not name.startswith(".")}
        return found

    def leftovers(self) -> list[str]:
        return [
            f"{folder}/{name}".removeprefix("./")
            for folder in (".", _OWN, *FILE_FOLDERS)
            for name in self._listed(folder)
            # Other hidden files may be a person's.
            if name.startswith(".") and name.endswith((".md.new", ".json.new"))
        ]

    @contextmanager
    def locked(self) -> Generator[None]:
        # Git keeps no empty folders, so a cloned vault may lack some.
        self.make()
        with held(self._at(_LOCK), WikiError):
            yield

    def _listed(self, folder: str) -> Iterator[str]:
        try:
            with contextlib.suppress(FileNotFoundError), os.scandir(self._at(folder)) as found:
                yield from (one.name for one in found if one.is_file(follow_symlinks=False))
        except NotADirectoryError as failure:
            raise _no_folder(failure.filename) from failure

    def _at(self, path: str) -> Path:
        if ".." in Path(path).parts:
            raise WikiError(f"{path} is outside of the vault")
        first = path.partition("/")[0]
        if first != path and os.path.islink(self.path / first):
            raise WikiError(f"{self.path / first} is a link, which a vault does not follow")
        return self.path / path


Store: TypeAlias = Memory | Folder


def kind_of(store: Store, name: str) -> Kind | None:
    return next((kind for kind in KINDS if store.exists(page_path(kind, name))), None)


def shown(store: Store, path: str) -> str | None:
    """Return a file's text, or a note that it cannot be read."""
    try:
        return store.read(path)
    except WikiError:
        return "(This file cannot be read; lint says why.)"


def joined(text: str, line: str) -> str:
    """Return a text with a further line, which begins in the first column."""
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"


def _no_folder(path: object) -> WikiError:
    return WikiError(f"{path} is a file, where a vault has a folder; move it away")


def _ends_a_line(where: Path) -> bool:
    if not where.is_file() or where.stat().st_size == 0:
        return True
    with where.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
