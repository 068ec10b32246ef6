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
    import pandas as pd

    # A retried run's log holds the finished samples of the one before it too.
    found = {row.pop("uuid"): row for path in _paths(logs) for row in _rows(path)}
    rows = list(found.values())
    if not rows:
        raise ConstraintRotError(
            f"no finished ConstraintRot episode in {', '.join(map(str, logs)) or 'nothing'};"
            " give an Inspect log of a constraintrot task, or a folder of them"
        )
    return pd.DataFrame(rows)


def _paths(logs: Iterable[str | Path]) -> Iterator[Path]:
    for given in logs:
        path = Path(given)
        if not path.exists():
            raise ConstraintRotError(f"no such log: {path}")
        if path.is_dir():
            yield from sorted(path.rglob("*.eval"))
        else:
            yield path


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        header = read_eval_log(str(path), header_only=True)
        if not is_ours(header):
            return
        for sample in read_eval_log_samples(str(path), all_samples_required=False):
            if sample.error is None and "violation" in (sample.scores or {}):
                yield sample_row(header, sample, path.name)
    except UNREADABLE as error:
        raise ConstraintRotError(
            f"{path} is no readable Inspect log ({error}); if it was cut off, try"
            " `inspect log recover`, else move it away"
        ) from error


def is_ours(header: EvalLog) -> bool:
    """Whether a log is of a task of ours."""
    return (header.eval.task_registry_name or header.eval.task).startswith("constraintrot/")


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
