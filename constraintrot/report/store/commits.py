"""The commits of a store: written once each, after the frame that they name."""

import hashlib
import json
import secrets
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from constraintrot.errors import ConstraintRotError
from constraintrot.folders import Folder

MARKER = "constraintrot-store.json"
VERSION = 1
_COMMITS, _FRAMES = "commits", "frames"
# Characters of a folder's name that every file system takes; a longer name ends in a digest.
_LONGEST = 150


class Commit(BaseModel):
    """One cell of a store, as it was committed.

    Attributes:
        rows: number of planned episodes, each a row of the frame.
        finished: number of those with a verdict.
        created: when its run began, ISO 8601; empty if unknown.
        size: bytes of the frame.
        sha256: of the frame, lower-case hexadecimal.
        run: facts of the run, as ``report.page.runs.Run`` has them.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    cell: str
    token: str
    frame: str = Field(pattern=r"^frames/([^/]+/)*[0-9a-f]+\.parquet$")
    rows: int = Field(ge=0)
    finished: int = Field(ge=0)
    created: str = ""
    size: int = Field(ge=0)
    sha256: str
    run: dict[str, Any] = {}

    @field_validator("frame")
    @classmethod
    def _below_the_store(cls, path: str) -> str:
        if ".." in path.split("/"):
            raise ValueError("its frame is not below the store")
        return path

    @property
    def rank(self) -> tuple[int, str, str]:
        """The order of a cell's commits; readers use only the highest."""
        return self.finished, self.created, self.token


class Store:
    """A store of results at a path or an fsspec URL."""

    def __init__(self, url: str | Path) -> None:
        """Refer to a store without reading or writing anything yet."""
        self.url = str(url).rstrip("/")
        self._folder = Folder(self.url, "store")
        self._fs, self._root = self._folder.fs, self._folder.root

    @property
    def exists(self) -> bool:
        with _clear(self.url):
            self._fs.invalidate_cache()
            return bool(self._fs.exists(f"{self._root}/{MARKER}"))

    def check(self) -> None:
        """Make the store if it is not there, write an object and remove it again."""
        with _clear(self.url):
            self._mark()
            self._folder.check(4096)

    def add(
        self,
        cell: str,
        frame: bytes,
        *,
        rows: int,
        finished: int,
        partition: Iterable[tuple[str, str]] = (),
        created: str = "",
        run: dict[str, Any] | None = None,
    ) -> Commit:
        """Write a frame, then the commit that names it.

        The frame is Parquet, one row per planned episode; ``finished`` of them have a verdict.
        ``partition`` has the names and values of the folders that it goes to.

        Returns:
            The commit, which readers see from now on.
        """
        if not cell:
            raise ConstraintRotError("a cell has no name; give one, such as the task's id")
        token = secrets.token_hex(12)
        folders = "".join(f"{name}={_quoted(value)}/" for name, value in partition)
        made = Commit(
            cell=cell, token=token, frame=f"{_FRAMES}/{folders}{token}.parquet", rows=rows,
            finished=finished, created=created, size=len(frame),
            sha256=hashlib.sha256(frame).hexdigest(), run=run or {},
        )  # fmt: skip
        with _clear(self.url):
            self._mark()
            self._write(made.frame, frame)
            self._write(f"{_COMMITS}/{_quoted(cell)}/{token}.json", made.model_dump_json().encode())
        return made

    def commits(self) -> list[Commit]:
        """Return the highest-ranked commit of each cell, in the order in which their runs began."""
        best: dict[str, Commit] = {}
        for one in self._all():
            known = best.get(one.cell)
            if known is None or one.rank > known.rank:
                best[one.cell] = one
        return sorted(best.values(), key=lambda one: (one.created, one.cell))

    def _all(self) -> list[Commit]:
        if not self.exists:
            raise ConstraintRotError(f"{self.url} is no store: it has no {MARKER}")
        with _clear(self.url):
            version = json.loads(self._fs.cat_file(f"{self._root}/{MARKER}"))["version"]
            if version != VERSION:
                raise ConstraintRotError(
                    f"{self.url} is a store of version {version}, and this constraintrot reads"
                    f" version {VERSION}; upgrade it"
                )
            folder = f"{self._root}/{_COMMITS}"
            names = [name for name in self._fs.find(folder) if name.endswith(".json")]
            content: dict[str, bytes] = self._fs.cat(names) if names else {}
        return [self._commit(name, data) for name, data in content.items()]

    def _commit(self, name: str, data: bytes) -> Commit:
        try:
            return Commit.model_validate_json(data)
        except ValidationError as error:
            raise ConstraintRotError(
                f"{name} is no commit of a store ({error.error_count()} faults, the first:"
                f" {error.errors()[0]['msg']}); remove it, and commit its cell again"
            ) from error

    def path(self, commit: Commit) -> str:
        return f"{self.url}/{commit.frame}"

    def read(self, commits: Iterable[Commit]) -> dict[str, bytes]:
        """Return the frames of some commits, by token."""
        names = {f"{self._root}/{one.frame}": one for one in commits}
        with _clear(self.url):
            content: dict[str, bytes] = self._fs.cat(list(names)) if names else {}
        found = {one.token: content[name] for name, one in names.items()}
        for one in names.values():
            data = found[one.token]
            if len(data) != one.size:
                raise ConstraintRotError(
                    f"{self.path(one)} has {len(data)} bytes, and {one.size} were"
                    f" committed; commit the cell {one.cell} again"
                )
            if hashlib.sha256(data).hexdigest() != one.sha256:
                raise ConstraintRotError(
                    f"{self.path(one)} is not what was committed: its SHA-256 is another; commit"
                    f" the cell {one.cell} again"
                )
        return found

    def _mark(self) -> None:
        if not self._fs.exists(f"{self._root}/{MARKER}"):
            text = json.dumps({"format": "constraintrot-store", "version": VERSION}).encode()
            self._write(MARKER, text)

    def _write(self, name: str, data: bytes) -> None:
        self._folder.write(name, data, mode=0o644)


@contextmanager
def _clear(url: str) -> Generator[None]:
    """Turn any file system's error into one that names the store."""
    try:
        yield
    except ConstraintRotError:
        raise
    except Exception as error:
        told = str(error).strip() or "no reason given"
        raise ConstraintRotError(
            f"store {url} cannot be used: {type(error).__name__}: {told[:500]}"
        ) from error


def _quoted(name: str) -> str:
    """Return a name as one folder's name that every file system takes."""
    text = quote(name, safe="").replace(".", "%2E")
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 33]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
