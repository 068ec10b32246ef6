"""Running Inspect: all runs of this package play their tasks here.

``once`` makes a new log. ``continued`` resumes the logs of the same tasks in a folder, episode
by episode.
"""

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click
from filelock import FileLock, Timeout
from inspect_ai import Task, eval_set
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from constraintrot.errors import ConstraintRotError, MissingExtraError
from constraintrot.report.frame import UNREADABLE

_RETRIES = "INSPECT_EVAL_MAX_RETRIES"


def once(task: Task, **options: Any) -> EvalLog:
    """Play a task into a log of its own, without a display; options are Inspect's."""
    logs = inspect_eval(task, **({"display": "none", "log_level": "error"} | options))
    _raise_if_interrupted(logs, 1)
    return logs[0]


def _raise_if_interrupted(logs: Sequence[EvalLog], tasks: int) -> None:
    """Raise ``KeyboardInterrupt`` if Inspect swallowed an interrupt.

    Inspect may leave out the logs of interrupted tasks and call the rest complete, so the caller
    would count the episodes as played.
    """
    if len(logs) < tasks or any(log.status == "cancelled" for log in logs):
        raise KeyboardInterrupt


def continued(tasks: Sequence[Task], log_dir: str, **options: Any) -> tuple[bool, list[EvalLog]]:
    """Play the episodes of some tasks that a folder lacks; an error in one does not stop the rest."""
    calm = {"retry_attempts": 0, "retry_immediate": False}
    if (retries := os.environ.get(_RETRIES, "")).isdigit():
        # Inspect reads it for its own command only.
        calm["max_retries"] = int(retries)
    try:
        with nullcontext() if "://" in log_dir else alone(Path(log_dir)):
            whole, logs = eval_set(list(tasks), log_dir=log_dir, **(calm | options))
        _raise_if_interrupted(logs, len(tasks))
    except KeyboardInterrupt:
        click.echo("stopped; the same command goes on", err=True)
        raise
    except PrerequisiteError as error:
        # Inspect advises an option of its own, which would mix the two runs.
        if "not associated with a task" not in str(error.message):
            raise
        raise ConstraintRotError(
            f"{log_dir} holds the logs of another subject or of other settings; name another"
            " folder with -o"
        ) from error
    return whole, logs


@contextmanager
def alone(path: Path, *, folder: bool = True) -> Generator[None]:
    """Refuse a second process in a folder, or on a file: it would play the same episodes again."""
    lock = path / ".playing.lock" if folder else path.with_name(f".{path.name}.playing.lock")
    holder = FileLock(lock)
    try:
        holder.acquire(timeout=0)
    except Timeout:
        raise ConstraintRotError(f"another process plays {path}; wait for its end") from None
    try:
        yield
    finally:
        holder.release()


def display() -> str:
    return "rich" if sys.stdout.isatty() else "plain"


def page(locations: Sequence[str], folder: Path) -> str:
    """Write the report's page, open it if stdout is a terminal, and return a line about it."""
    from constraintrot.report.page.write import report

    try:
        report(locations, folder)
    except MissingExtraError as error:
        return f"No page was written: {error}"
    written = (folder / "report.html").resolve()
    if sys.stdout.isatty():
        click.launch(str(written))
    return f"Page: {written}"


class Finished:
    """A folder of logs in which each evaluation is played only once."""

    def __init__(self, log_dir: str, mark: str) -> None:
        """Read the headers of a folder's logs, if it exists.

        ``mark`` is the key of a log's metadata that holds the settings.
        """
        self.log_dir, self._mark = log_dir, mark
        self._logs = dict(self._found())

    def played(self, settings: Any, task: Callable[[], Task], **options: Any) -> EvalLog:
        """Return the log of an evaluation; play it if there is no finished log.

        ``settings`` is everything that the log depends on, as plain data; options are those of
        ``inspect_ai.eval``.
        """
        known = self._logs.get(_key(settings))
        if known is not None:
            return read_eval_log(known)
        return once(task(), log_dir=self.log_dir, metadata={self._mark: settings}, **options)

    def _found(self) -> Iterator[tuple[str, str]]:
        if not Path(self.log_dir).is_dir():
            return
        for info in list_eval_logs(self.log_dir):
            try:
                log = read_eval_log(info, header_only=True)
            except UNREADABLE:
                # An interrupted run left it; its evaluation is played again.
                continue
            results, metadata = log.results, log.eval.metadata or {}
            whole = results is not None and results.completed_samples == results.total_samples
            if log.status == "success" and whole and self._mark in metadata:
                yield _key(metadata[self._mark]), info.name


def _key(settings: Any) -> str:
    return json.dumps(settings, sort_keys=True)
