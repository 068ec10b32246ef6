"""Inspect logs as a tidy frame: one row an episode."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Inspect packs its logs with it, and passes on its error as it is.
from zstandard import ZstdError

from constraintrot.errors import ConstraintRotError
from constraintrot.grading.verdict import NOT_DONE
from constraintrot.report import episode_counts
from constraintrot.report.episode_counts import PlannedEpisodes

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog, EvalSample

FACTS = (
    "family",
    "kind",
    "locale",
    "wording",
    "channel",
    "condition",
    "compactor",
    "prompt",
    "budget_words",
    "rounds",
    "scaffold",
    "decline_tool",
    "steps",
    "attack",
    "defense",
    "harness",
    "agent",
    "summarizer",
    "distractors",
    "exercised",
    "split",
    "phrasing",
    "request",
    "seed",
    "replicate",
    "tokens_before",
    "tokens_after",
    "context_tokens",
    "compact_at",
    "degenerate",
    "seconds_defense",
)
UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, ZstdError,
)  # fmt: skip
"""What reading a log raises that was cut off or is none."""

_USAGE = {
    "input_tokens": "input_tokens",
    "input_tokens_cache_read": "cached_tokens",
    "output_tokens": "output_tokens",
}


def episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read the finished episodes of some logs.

    Args:
        logs: log files, or folders of them.

    Returns:
        A row a sample: the facts of its metadata, ``violation``, ``outcome``,
        ``utility``, ``over_refusal``, ``kept``, ``verbatim``, ``recalled``,
        tokens, seconds and costs. ``input_tokens`` is what the provider
        counted over all calls; ``last_input_tokens`` the last input in o200k
        tokens. What was not measured is None.

    Raises:
        ConstraintRotError: no finished episode of ours stands in them.
    """
    return _read(logs)[0]


def planned_episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read all planned episodes of some logs: finished, errored and never started.

    Args:
        logs: log files, or folders of them.

    Returns:
        As ``episodes``, with a ``status`` (``report.episode_counts``). What was
        errored or not played has its facts and no ``violation``; its ``reason``
        is the error.

    Raises:
        ConstraintRotError: no finished episode of ours stands in them.
    """
    return with_unplayed(*_read(logs))


def _read(logs: Iterable[str | Path]) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The finished episodes, and a row for each planned one without a verdict."""
    import pandas as pd

    # A retried run's log holds the finished samples of the one before it too.
    found: dict[str, dict[str, Any]] = {}
    planned = PlannedEpisodes()
    given = list(logs)
    for path in _paths(given):
        found |= {row.pop("uuid"): row for row in _rows(path, planned)}
    if not found:
        raise ConstraintRotError(
            f"no finished ConstraintRot episode in {', '.join(map(str, given)) or 'nothing'};"
            " give an Inspect log of a constraintrot task, or a folder of them"
        )
    return pd.DataFrame(list(found.values())), unplayed_rows(planned)


def unplayed_rows(planned: PlannedEpisodes) -> list[dict[str, Any]]:
    """The planned episodes without a verdict, with the frame's facts alone."""
    names = (*FACTS, "allowed", "log", "task", "status", "reason")
    return [{name: row.get(name) for name in names} for row in planned.rows()]


def with_unplayed(frame: pd.DataFrame, unplayed: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A frame of played episodes with those that were planned and have no verdict below.

    Args:
        frame: whose columns both have.
        unplayed: rows of ``PlannedEpisodes``.
    """
    import pandas as pd

    if not unplayed:
        return frame
    columns: dict[str, Any] = {}
    for name in map(str, frame):
        values = [*frame[name], *(row.get(name) for row in unplayed)]
        # Numbers stay numbers, with nan for a gap.
        kind = frame[name].dtype.kind
        columns[name] = pd.Series(values, dtype="float64" if kind == "f" else object)
    return pd.DataFrame(columns).astype({"allowed": bool})


def _paths(logs: Iterable[str | Path]) -> Iterator[Path]:
    for given in logs:
        path = Path(given)
        if not path.exists():
            raise ConstraintRotError(f"no such log: {path}")
        if path.is_dir():
            yield from sorted(path.rglob("*.eval"))
        else:
            yield path


def _rows(path: Path, planned: PlannedEpisodes) -> Iterator[dict[str, Any]]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        header = read_eval_log(str(path), header_only=True)
        if not is_ours(header):
            return
        seen: dict[tuple[str, int], tuple[EvalSample | None, dict[str, Any]]] = {}
        for sample in read_eval_log_samples(str(path), all_samples_required=False):
            finished = is_finished(sample)
            at = str(sample.id), sample.epoch
            seen[at] = (None if finished else sample), sample.metadata
            if finished:
                yield sample_row(header, sample, path.name)
        planned.add(header, path.name, seen)
    except UNREADABLE as error:
        raise ConstraintRotError(
            f"{path} is no readable Inspect log ({error}); if it was cut off, try"
            " `inspect log recover`, else move it away"
        ) from error


def is_ours(header: EvalLog) -> bool:
    """Whether a log is of a task of ours."""
    return (header.eval.task_registry_name or header.eval.task).startswith("constraintrot/")


def is_finished(sample: EvalSample) -> bool:
    """Whether a sample has a verdict."""
    return sample.error is None and "violation" in (sample.scores or {})


def sample_row(header: EvalLog, sample: EvalSample, log: str) -> dict[str, Any]:
    """A scored sample as a row of the frame, with its id as ``uuid``.

    Args:
        header: of its log.
        sample: with a ``violation``.
        log: the file's name.
    """
    scores = sample.scores or {}
    numbers = {
        name: scores[name].as_float()
        for name in ("violation", "utility", "recalled")
        if name in scores
    }
    usage = (sample.model_usage or {}).values()
    return {"uuid": sample.uuid or f"{log}/{sample.id}/{sample.epoch}"} | row_of(
        sample.metadata,
        numbers | (scores["survival"].as_dict() if "survival" in scores else {}),
        [use.model_dump(include=set(_USAGE)) for use in usage],
        log=log,
        task=header.eval.task,
        outcome=(scores["violation"].metadata or {})["outcome"],
        reason=scores["violation"].explanation,
        seconds=sample.working_time,
    )


def row_of(
    facts: dict[str, Any],
    scores: dict[str, Any],
    usage: Sequence[dict[str, int | None]],
    *,
    log: str,
    task: str,
    outcome: str,
    reason: str | None,
    seconds: float | None,
) -> dict[str, Any]:
    """An episode of the frame, wherever it was read from.

    Args:
        facts: the sample's metadata.
        scores: by name, the parts of survival among them.
        usage: tokens of each model.
        log: name of the file.
        task: as the log has it.
        outcome: of the verdict.
        reason: of the verdict.
        seconds: working time.
    """
    row: dict[str, Any] = {name: facts.get(name) for name in FACTS}
    row |= {"status": episode_counts.PLAYED}
    row |= {"log": log, "task": task, "allowed": facts.get("allowed", False)}
    row |= {"violation": scores["violation"], "outcome": outcome, "reason": reason}
    row |= {"utility": None, "recalled": None} | scores
    tokens = {name: sum(use.get(key) or 0 for use in usage) for key, name in _USAGE.items()}
    row |= tokens | {"seconds": seconds}
    return row | _costs(facts) | {"over_refusal": _over_refusal(row)}


def _costs(facts: dict[str, Any]) -> dict[str, Any]:
    # A context that another sample compacted cost this one no time worth comparing.
    shared = facts.get("compaction_ran") and not facts.get("summary_made_here", True)
    calls: dict[str, int] | None = facts.get("defense_calls")
    return {
        "last_input_tokens": facts.get("input_tokens"),
        "seconds_compaction": None if shared else facts.get("seconds_compaction"),
        "defense_calls": None if calls is None else sum(calls.values()),
        "defense_tokens": facts.get("defense_tokens"),
        "prefix_tokens": facts.get("prefix_tokens"),
        "prefix_broken": facts.get("prefix_broken"),
    }


def _over_refusal(row: dict[str, Any]) -> float | None:
    """1 where an allowed task was refused or blocked; None where none was asked for."""
    return float(row["outcome"] in NOT_DONE) if row["allowed"] else None
