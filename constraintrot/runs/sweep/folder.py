"""A sweep's folder, on this machine or at any fsspec URL.

::

    logs/CELL.eval            the whole log of a finished cell
    counts/CELL.json          its sums, for the view; made from the log again if it is missing
    work/CELL/TRY/            logs of running and interrupted tries
    failed/CELL/NUMBER.json   tries that ended in an error, with the error
    poisoned/CELL.json        cells that were set aside after too many failed tries
    files.json                digests of the scenario files, by path

CELL is a cell's id. A log is moved into ``logs`` when it has its last episode, so a cell that
two workers finish has one log, the later one. The next try reads the finished episodes of an
interrupted one from ``work``.
"""

import json
import posixpath
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.folders import Folder

_KEPT = "what is finished is kept, and the same command goes on"


class FolderError(ConstraintRotError):
    """A sweep's folder cannot be read or written now, which is no fault of the cell."""


LOGS, COUNTS, WORK, FAILED, POISONED = "logs", "counts", "work", "failed", "poisoned"
FILES = "files.json"


class SweepFolder:
    """The folder of a sweep's logs.

    Attributes:
        url: as it was given; a local path is made absolute.
    """

    def __init__(self, url: str) -> None:
        """Name a folder; nothing is read or written yet."""
        self._folder = Folder(url, "--dir")
        self._fs, self._root = self._folder.fs, self._folder.root
        self.local = self._folder.local
        self.url = self._root if self.local else url.rstrip("/")

    def check(self, size: int = 4096) -> None:
        # "Not found" here means that the bucket or the parent is missing.
        with told(f"the sweep's folder {self.url} cannot be written", missing=True):
            self._folder.check(size)

    def path(self, *parts: str) -> str:
        return "/".join((self.url, *parts))

    def _names(self, *parts: str) -> list[str]:
        """Return the names in a subfolder, sorted; empty if there is no such folder.

        Names that begin with a dot are unfinished files of killed processes, and left out.
        """
        where = "/".join((self._root, *parts))
        with told(f"the sweep's folder {self.url} cannot be read"):
            self._fs.invalidate_cache()
            try:
                found: Sequence[str] = self._fs.ls(where, detail=False)
            except FileNotFoundError:
                return []
        names = (posixpath.basename(one.rstrip("/")) for one in found)
        return sorted(name for name in names if not name.startswith("."))

    def finished(self) -> set[str]:
        return {name.removesuffix(".eval") for name in self.logs()}

    def logs(self) -> list[str]:
        """Return the names of the logs: those of finished cells, and Flow's running ones."""
        return [name for name in self._names(LOGS) if name.endswith(".eval")]

    def remove_log(self, name: str) -> None:
        """Remove a log of which there is a copy under its cell's name."""
        with told(f"the sweep's folder {self.url} cannot be written"):
            self._fs.rm_file(f"{self._root}/{LOGS}/{name}")

    def log(self, cell: str) -> str:
        return self.path(LOGS, f"{cell}.eval")

    def tries(self, cell: str) -> list[str]:
        found: list[str] = []
        for one in self._names(WORK, cell):
            names = self._names(WORK, cell, one)
            found += [self.path(WORK, cell, one, name) for name in names if name.endswith(".eval")]
        return found

    def commit(self, cell: str, log: str, counts: Mapping[str, Any]) -> str:
        """Put a finished local log into the folder, then remove the logs of the cell's tries."""
        with told(f"the log of cell {cell} cannot be written to {self.url}"):
            self._folder.write(f"{LOGS}/{cell}.eval", Path(log))
        self._write(f"{COUNTS}/{cell}.json", counts)
        self.drop_tries(cell)
        return self.log(cell)

    def counts(self) -> dict[str, dict[str, Any]]:
        """Return the sums of finished cells, by id; a cell may lack them after a driver's death."""
        names = [name for name in self._names(COUNTS) if name.endswith(".json")]
        paths = [f"{self._root}/{COUNTS}/{name}" for name in names]
        with told(f"the sweep's folder {self.url} cannot be read"):
            found: dict[str, bytes] = self._fs.cat(paths) if paths else {}
        return {
            posixpath.basename(path)[: -len(".json")]: json.loads(data)
            for path, data in found.items()
        }

    def keep_try(self, cell: str, name: str, log: str) -> None:
        """Copy the log of an unfinished try to the folder, for the next try."""
        with told(f"the log of a try of cell {cell} cannot be written to {self.url}"):
            self._folder.write(f"{WORK}/{cell}/{name}/{posixpath.basename(log)}", Path(log))

    def fetch(self, path: str, to: Path) -> None:
        self._fs.get_file(self._root + path.removeprefix(self.url), str(to))

    def drop_tries(self, cell: str) -> None:
        """Remove the logs of a cell's tries; leftovers do no harm."""
        try:
            self._fs.rm(f"{self._root}/{WORK}/{cell}", recursive=True)
        except OSError:
            return

    def fail(self, cell: str, error: str) -> int:
        number = len(self._names(FAILED, cell)) + 1
        self._write(f"{FAILED}/{cell}/{number}.json", {"cell": cell, "error": error})
        return number

    def failures(self, cell: str) -> int:
        return len(self._names(FAILED, cell))

    def poison(self, cell: str, label: str, error: str) -> None:
        self._write(f"{POISONED}/{cell}.json", {"cell": cell, "label": label, "error": error})

    def poisoned(self) -> dict[str, dict[str, str]]:
        """Return the cells that were set aside, by id, with label and error."""
        found: dict[str, dict[str, str]] = {}
        for name in self._names(POISONED):
            with told(f"the sweep's folder {self.url} cannot be read"):
                data = self._fs.cat_file(f"{self._root}/{POISONED}/{name}")
            found[name.removesuffix(".json")] = json.loads(data)
        return found

    def check_files(self, digests: Mapping[str, str]) -> None:
        """Keep the digests of scenario files, by path.

        Raises:
            ParameterError: A file is no longer what the first run of this sweep played.
        """
        try:
            with told(f"the sweep's folder {self.url} cannot be read"):
                kept: dict[str, str] = json.loads(self._fs.cat_file(f"{self._root}/{FILES}"))
        except FileNotFoundError:
            kept = {}
        changed = sorted(
            path for path, digest in digests.items() if kept.get(path, digest) != digest
        )
        if changed:
            raise ParameterError(
                f"{', '.join(changed)} changed since this sweep began, and its finished cells are of"
                " the older text; take another --dir, or restore the file"
            )
        if not digests.keys() <= kept.keys():
            self._write(FILES, {**kept, **digests})

    def forgive(self, cells: Iterable[str]) -> None:
        """Play set-aside cells again: remove their marks and failed tries."""
        for cell in cells:
            for name in (f"{POISONED}/{cell}.json", f"{FAILED}/{cell}"):
                with told(f"the sweep's folder {self.url} cannot be written"):
                    self._fs.rm(f"{self._root}/{name}", recursive=True)

    def _write(self, name: str, content: object) -> None:
        data = json.dumps(content, ensure_ascii=False, indent=1).encode()
        with told(f"the sweep's folder {self.url} cannot be written"):
            self._folder.write(name, data)


@contextmanager
def told(what: str, *, missing: bool = False) -> Generator[None]:
    """Turn a file system's exceptions into one sentence, which begins with ``what``.

    Without ``missing``, a ``FileNotFoundError`` is raised as it is.
    """
    try:
        yield
    except ConstraintRotError:
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not missing:
            raise
        # Object stores raise their own classes.
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise FolderError(f"{what}: {str(why).rstrip('.')}; {_KEPT}") from error


def catch_up(store: str, folder: SweepFolder, cells: Iterable[str]) -> int:
    """Add the finished cells that a store lacks, because a worker died before it added the frame."""
    from constraintrot.report.cells import commit
    from constraintrot.report.store import Store

    known = Store(store)
    there = {one.cell for one in known.commits()} if known.exists else set[str]()
    lacking = sorted(set(cells) & folder.finished() - there)
    try:
        for cell in lacking:
            commit(store, folder.log(cell), cell=cell)
    except ConstraintRotError as error:
        raise ConstraintRotError(
            f"{error}; the logs are whole, and the same command adds what the store lacks"
        ) from error
    return len(lacking)
