"""Convert a frame of ``inspect_ai.analysis`` to the frame of episodes that the report takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from constraintrot.episode.facts import EpisodeFacts
from constraintrot.errors import ConstraintRotError
from constraintrot.report.episode_counts import ERRORED
from constraintrot.report.frame import row_of, with_unplayed

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.analysis import Column

_METADATA = "metadata_"
# Inspect writes lists and mappings as JSON.
_NESTED = ("rounds_run", "defense_calls")


def samples_columns() -> list[Column]:
    """The columns from which ``from_samples_df`` can fill in every column of the frame.

    ::

        samples_df(logs, columns=samples_columns(), full=True)
    """
    from inspect_ai.analysis import EvalTask, SampleScores, SampleSummary

    return [*EvalTask, *SampleSummary, *SampleScores]


def from_samples_df(frame: pd.DataFrame) -> pd.DataFrame:
    """Episodes from Inspect's frame of samples, as ``report.frame.planned_episodes`` has them.

    Those that ended in an error are there too, with the status ``errored`` and no violation.
    Of those that were never started, Inspect's frame says nothing.

    Args:
        frame: the result of ``inspect_ai.analysis.samples_df`` for logs of
            constraintrot tasks. Its default columns lack ``reason``, ``task``, and the
            costs of rounds and defense calls, which are None then;
            ``samples_columns`` has them.

    Raises:
        ConstraintRotError: the frame has no finished episode of a constraintrot task.
    """
    import pandas as pd

    given = [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
    ours = [row for row in given if _given(row, "metadata_family")]
    failed = [_errored(row) for row in ours if _get(row, "error")]
    rows = [_row(row) for row in ours if _given(row, "score_violation") and not _get(row, "error")]
    if not rows:
        raise ConstraintRotError(
            "no finished ConstraintRot episode in the frame; give what"
            " inspect_ai.analysis.samples_df reads from logs of a constraintrot task"
        )
    return with_unplayed(pd.DataFrame(rows), failed)


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    names = [name.removeprefix(_METADATA) for name in row if name.startswith(_METADATA)]
    return {name: _fact(name, _get(row, _METADATA + name)) for name in names}


def _errored(row: Mapping[str, Any]) -> dict[str, Any]:
    log = PurePosixPath(str(row["log"])).name
    return EpisodeFacts.read(_facts(row), log).model_dump() | {
        "log": log,
        "task": _get(row, "task_name"),
        "status": ERRORED,
        "reason": _get(row, "error"),
    }


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {
        name: float(row[f"score_{name}"])
        for name in ("violation", "utility", "recalled", "probed")
        if _given(row, f"score_{name}")
    }
    verdict = json.loads(_get(row, "score_violation_metadata") or "{}")
    outcomes: dict[str, int] = json.loads(_get(row, "score_outcome") or "{}")
    return row_of(
        _facts(row),
        scores | json.loads(_get(row, "score_survival") or "{}"),
        list(json.loads(_get(row, "model_usage") or "{}").values()),
        log=PurePosixPath(str(row["log"])).name,
        task=_get(row, "task_name"),
        outcome=verdict.get("outcome") or next(name for name, is_it in outcomes.items() if is_it),
        reason=_get(row, "score_violation_explanation"),
        seconds=_get(row, "working_time"),
    )


def _fact(name: str, value: Any) -> Any:
    if name in _NESTED and isinstance(value, str):
        return json.loads(value)
    return value


def _get(row: Mapping[str, Any], name: str) -> Any:
    return row[name] if _given(row, name) else None


def _given(row: Mapping[str, Any], *names: str) -> bool:
    import pandas as pd

    return all(name in row and not pd.isna(row[name]) for name in names)
