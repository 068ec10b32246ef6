"""Inspect logs as a tidy frame: one row an episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from constraintrot.errors import ConstraintRotError

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
    "seed",
    "replicate",
    "tokens_before",
    "tokens_after",
    "context_tokens",
    "compact_at",
    "degenerate",
    "seconds_defense",
)


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
        if not _ours(header):
            return
        for sample in read_eval_log_samples(str(path), all_samples_required=False):
            if sample.error is None and "violation" in (sample.scores or {}):
                yield _row(header, sample, path)
    except (OSError, ValueError) as error:
        raise ConstraintRotError(f"{path} is no readable Inspect log: {error}") from error


def _ours(header: EvalLog) -> bool:
    return (header.eval.task_registry_name or header.eval.task).startswith("constraintrot/")


def _row(header: EvalLog, sample: EvalSample, path: Path) -> dict[str, Any]:
    facts = sample.metadata
    scores = sample.scores or {}
    row: dict[str, Any] = {name: facts.get(name) for name in FACTS}
    row |= {
        "uuid": sample.uuid or f"{path}/{sample.id}/{sample.epoch}",
        "log": path.name,
        "task": header.eval.task,
        "allowed": facts.get("allowed", False),
        "violation": scores["violation"].as_float(),
        "outcome": (scores["violation"].metadata or {})["outcome"],
        "reason": scores["violation"].explanation,
    }
    for name in ("utility", "recalled"):
        row[name] = scores[name].as_float() if name in scores else None
    if "survival" in scores:
        row |= {name: value for name, value in scores["survival"].as_dict().items()}
    usage = list((sample.model_usage or {}).values())
    row["input_tokens"] = sum(use.input_tokens for use in usage)
    row["cached_tokens"] = sum(use.input_tokens_cache_read or 0 for use in usage)
    row["output_tokens"] = sum(use.output_tokens for use in usage)
    row["seconds"] = sample.working_time
    return row | _costs(facts) | {"over_refusal": _over_refusal(row)}


def _costs(facts: dict[str, Any]) -> dict[str, Any]:
    # A first round has nothing before it that a prefix could be shared with.
    rounds: list[dict[str, Any]] = facts.get("rounds_run") or []
    later = [r for r in rounds if r.get("prefix_tokens") is not None]
    # A context that another sample compacted cost this one no time worth comparing.
    shared = facts.get("compaction_ran") and not facts.get("summary_made_here", True)
    calls: dict[str, int] | None = facts.get("defense_calls")
    return {
        "last_input_tokens": facts.get("input_tokens"),
        "seconds_compaction": None if shared else facts.get("seconds_compaction"),
        "defense_calls": None if calls is None else sum(calls.values()),
        "prefix_tokens": fmean(r["prefix_tokens"] for r in later) if later else None,
        "prefix_broken": sum(bool(r["prefix_broken"]) for r in later) if later else None,
    }


def _over_refusal(row: dict[str, Any]) -> float | None:
    """1 where an allowed task was declined or blocked; None where none was asked for."""
    return float(row["outcome"] in ("declined", "blocked")) if row["allowed"] else None
