"""The finished evaluations of a folder: each log carries the settings that it was made with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from constraintrot.report.frame import UNREADABLE
from constraintrot.runs import play


class Finished:
    """A folder in which each evaluation is played once.

    Attributes:
        log_dir: the folder.
    """

    def __init__(self, log_dir: str, mark: str) -> None:
        """Read the headers of a folder's logs.

        Args:
            log_dir: the folder, which need not exist.
            mark: the key of a log's metadata that holds the settings.
        """
        self.log_dir, self._mark = log_dir, mark
        self._logs = dict(self._found())

    def played(self, settings: Any, task: Callable[[], Task], **options: Any) -> EvalLog:
        """Return the log of an evaluation; play it if no finished one is there.

        Args:
            settings: all that the log depends on, as plain data.
            task: makes the task.
            **options: of ``inspect_ai.eval``.
        """
        known = self._logs.get(_key(settings))
        if known is not None:
            return read_eval_log(known)
        return play.once(task(), log_dir=self.log_dir, metadata={self._mark: settings}, **options)

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
