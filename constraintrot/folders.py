"""A folder on this machine or at an fsspec URL, whose files appear whole or not at all."""

import os
import shutil
import uuid
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from constraintrot.errors import ConstraintRotError
from constraintrot.files import sync_folder


class Folder:
    """A folder at a path or URL; writers of the same name replace each other's files."""

    def __init__(self, url: str, role: str) -> None:
        """Name a folder of some role; nothing is read or written yet.

        Raises:
            ConstraintRotError: the URL's kind is unknown, or needs a package that is missing.
        """
        core = import_module("fsspec.core")
        try:
            # fsspec has no type information.
            found: tuple[Any, str] = core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConstraintRotError(f"{role} {url}: {error}") from error
        self.fs, self.root = found[0], found[1].rstrip("/")
        protocol = self.fs.protocol
        self.local = "file" in ([protocol] if isinstance(protocol, str) else protocol)

    def check(self, size: int) -> None:
        """Write a file of ``size`` bytes and remove it; the file system's errors are not caught."""
        name = f"{self.root}/.write-test-{uuid.uuid4().hex}"
        self.fs.makedirs(self.root, exist_ok=True)
        try:
            self.fs.pipe_file(name, b"x" * size)
        except Exception:
            # The written part would take space on a full disk.
            with suppress(Exception):
                self.fs.rm_file(name)
            raise
        self.fs.rm_file(name)

    def write(self, name: str, content: bytes | Path, mode: int | None = None) -> None:
        """Write bytes or a copy of a local file; readers never see a part of it.

        ``mode`` is the permissions of a local file; None for the default of new files.
        """
        place = f"{self.root}/{name}"
        if not self.local:
            # An object store shows an object only when it is complete.
            if isinstance(content, bytes):
                self.fs.pipe_file(place, content)
            else:
                self.fs.put_file(str(content), place)
            return
        final = Path(place)
        final.parent.mkdir(parents=True, exist_ok=True)
        part = final.with_name(f".{final.name}.{uuid.uuid4().hex}.part")
        try:
            if isinstance(content, bytes):
                part.write_bytes(content)
            else:
                shutil.copyfile(content, part)
            if mode is not None:
                part.chmod(mode)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(final)
        finally:
            part.unlink(missing_ok=True)
        sync_folder(final.parent)
