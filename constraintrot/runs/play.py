"""The one way in which this package runs Inspect: all runs play their tasks here.

``once`` makes a new log. ``continued`` takes up what a folder holds of the same tasks, episode
by episode.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from inspect_ai import Task, eval_set
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog

from constraintrot.errors import ConstraintRotError, MissingExtraError


def once(task: Task, **options: Any) -> EvalLog:
    """Play a task into a log of its own, without a display.

    Args:
        task: the task.
        **options: of ``inspect_ai.eval``.
    """
    (log,) = inspect_eval(task, **({"display": "none", "log_level": "error"} | options))
    return log


def continued(tasks: Sequence[Task], log_dir: str, **options: Any) -> tuple[bool, list[EvalLog]]:
    """Play what a folder lacks of some tasks. An episode that ends in an error ends nothing else.

    Args:
        tasks: the tasks.
        log_dir: the folder of the logs.
        **options: of ``inspect_ai.eval_set``.

    Returns:
        Whether every episode has a result, and the headers of the logs.

    Raises:
        ConstraintRotError: the folder holds the logs of another run.
    """
    calm = {"retry_attempts": 0, "retry_immediate": False}
    try:
        return eval_set(list(tasks), log_dir=log_dir, **(calm | options))
    except PrerequisiteError as error:
        # Its advice is an option of Inspect's, which would mix the two.
        if "not associated with a task" not in str(error.message):
            raise
        raise ConstraintRotError(
            f"{log_dir} holds the logs of another subject or of other settings; name another"
            " folder with -o"
        ) from error


def display() -> str:
    """Return Inspect's display for a run that a person waits for."""
    return "rich" if sys.stdout.isatty() else "plain"


def page(locations: Sequence[str], folder: Path) -> str:
    """Write the report's page of some logs, open it on a terminal, and return a line on it."""
    from constraintrot.report.page.write import report

    try:
        report(locations, folder)
    except MissingExtraError as error:
        return f"No page was written: {error}"
    written = (folder / "report.html").resolve()
    if sys.stdout.isatty():
        click.launch(str(written))
    return f"Page: {written}"
