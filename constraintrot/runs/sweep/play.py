"""Play one cell, on any machine: a worker's part of a sweep.

The evaluation is an Inspect eval set over one task, in a folder of this machine; it reuses the
episodes that an earlier try finished. The task is made as Flow makes it, so that Flow accepts
the log as its own.
"""

import shutil
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task_with
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries
from inspect_ai.model import GenerateConfig, Model, get_model

from constraintrot.errors import EpisodeError
from constraintrot.runs.plan import task_named
from constraintrot.runs.play import continued
from constraintrot.runs.sweep.cell import CELL_KEY, LIMITS, Cell
from constraintrot.runs.sweep.folder import SweepFolder, told

# Flow's options for one evaluation; its other options are for a set.
_OPTIONS = (
    "max_samples", "max_subprocesses", "max_sandboxes", "log_buffer", "log_realtime", "score_display",
    "fail_on_error", "retry_on_error", "limit", "sandbox_cleanup", "model_cost_config",
)  # fmt: skip
# Roughly the size of a log: a disk with less room explains a try that broke off.
_LOG_BYTES = 4_000_000


@dataclass(frozen=True)
class Played:
    """The outcome of a try.

    Attributes:
        log: path of the finished log; empty if the try failed.
    """

    cell: str
    log: str = ""
    error: str = ""
    counts: dict[str, Any] = field(default_factory=dict[str, Any])


def play(
    cell: Cell,
    folder: SweepFolder,
    options: Mapping[str, Any],
    base_url: str | None = None,
) -> Played:
    """Play a cell and commit its log.

    Options are the spec's Flow options, as plain data; the base URL is of the model's server, if
    the sweep started one.
    """
    name = uuid.uuid4().hex[:12]
    # In a remote folder, each of Inspect's writes would send the whole log.
    here = Path(folder.path("work", cell.id, name)) if folder.local else Path(tempfile.mkdtemp())
    with told(f"a try of cell {cell.id} cannot begin"):
        here.mkdir(parents=True, exist_ok=True)
    _seed(cell, folder, here)
    try:
        log = _evaluated(cell, here, options, base_url)
        check_whole(log)
        summed = counts(log)
        return Played(
            cell.id,
            folder.commit(cell.id, log.location.removeprefix("file://"), summed),
            counts=summed,
        )
    except BaseException as error:
        if not folder.local:
            for one in here.glob("*.eval"):
                folder.keep_try(cell.id, name, str(one))
        if isinstance(error, Exception):
            # If Inspect cannot write a log, it gives no reason: look for one.
            SweepFolder(str(here)).check(_LOG_BYTES)
            folder.check()
        raise
    finally:
        if not folder.local:
            shutil.rmtree(here, ignore_errors=True)


def _seed(cell: Cell, folder: SweepFolder, here: Path) -> None:
    best = _best(folder, cell.id, here)
    if best is not None:
        best[1].replace(here / "earlier.eval")
    for rest in here.glob(".try-*"):
        rest.unlink()


def furthest(folder: SweepFolder, cell: str) -> int:
    """Return the most episodes that a try of a cell has finished."""
    with tempfile.TemporaryDirectory() as place:
        best = _best(folder, cell, Path(place))
    return 0 if best is None else best[0]


def _best(folder: SweepFolder, cell: str, here: Path) -> tuple[int, Path] | None:
    best: tuple[int, Path] | None = None
    for number, path in enumerate(folder.tries(cell)):
        # Inspect recognises a log by the ending of its name.
        copy = here / f".try-{number}.eval"
        try:
            folder.fetch(path, copy)
            done = sum(one.error is None for one in read_eval_log_sample_summaries(str(copy)))
        except Exception:
            # A log may be cut off at any byte: its writer was killed or is still writing.
            done = 0
        if done and (best is None or done > best[0]):
            best = done, copy
    return best


def _evaluated(cell: Cell, here: Path, options: Mapping[str, Any], base_url: str | None) -> EvalLog:
    chosen = {name: options[name] for name in _OPTIONS if options.get(name) is not None}
    # The driver counts the tries.
    _, logs = continued(
        [made(cell, base_url)],
        str(here),
        retry_immediate=True,
        display="none",
        log_level="error",
        **({"retry_on_error": 3, "log_realtime": False} | chosen),
    )
    (header,) = logs
    return read_eval_log(header.location)


def made(cell: Cell, base_url: str | None = None) -> Task:
    given = cell.task
    more: dict[str, Any] = {name: given[name] for name in LIMITS if given.get(name) is not None}
    if given.get("epochs"):
        many = given["epochs"]
        reducer = many.get("reducer") if isinstance(many, Mapping) else None
        more["epochs"] = Epochs(cell.epochs, reducer)
    if given.get("model_roles"):
        more["model_roles"] = {
            role: [_model(one) for one in model] if isinstance(model, list) else _model(model)
            for role, model in given["model_roles"].items()
        }
    if given.get("config"):
        more["config"] = GenerateConfig.model_validate(given["config"])
    if given.get("tags"):
        more["tags"] = list(given["tags"])
    return task_with(
        task_named(cell.name, cell.args),
        name=cell.name,
        model=_model(given.get("model"), base_url),
        metadata={**(given.get("metadata") or {}), CELL_KEY: cell.id},
        **more,
    )


def _model(model: Any, base_url: str | None = None) -> Model:
    if model is None or isinstance(model, str):
        return get_model(model, base_url=base_url) if base_url else get_model(model)
    return get_model(
        model["name"],
        config=GenerateConfig.model_validate(model.get("config") or {}),
        base_url=base_url or model.get("base_url"),
        api_key=model.get("api_key"),
        **(model.get("model_args") or {}),
    )


def check_whole(log: EvalLog) -> None:
    """Refuse a log that does not hold each planned episode once and without an error."""
    planned = {
        (str(name), epoch)
        for name in log.eval.dataset.sample_ids or []
        for epoch in range(1, (log.eval.config.epochs or 1) + 1)
    }
    samples = log.samples or []
    broken = [one for one in samples if one.error is not None]
    if broken and broken[0].error is not None:
        raise EpisodeError(
            f"{len(broken)} of {len(planned)} episodes ended in an error; the first, {broken[0].id}:"
            f" {broken[0].error.message}"
        )
    if log.status != "success":
        raise EpisodeError(
            log.error.message if log.error else f"the run did not finish ({log.status})"
        )
    found = [(str(one.id), one.epoch) for one in samples]
    if len(found) != len(set(found)) or not planned <= set(found):
        raise EpisodeError(f"{len(set(found))} of {len(planned)} planned episodes are in the log")


def counts(log: EvalLog) -> dict[str, Any]:
    """Return the counts that a progress view sums up; rates by condition skip allowed requests."""
    total = {"episodes": 0, "input": 0, "output": 0, "cost": 0.0, "seconds": _seconds(log)}
    rates: dict[str, list[int]] = {}
    for sample in log.samples or []:
        total["episodes"] += 1
        score, facts = (sample.scores or {}).get("violation"), sample.metadata or {}
        if score is not None and not facts.get("allowed"):
            sums = rates.setdefault(str(facts.get("condition", "none")), [0, 0])
            sums[0] += int(score.as_float())
            sums[1] += 1
        for usage in (sample.model_usage or {}).values():
            cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            total["input"] += usage.input_tokens + cached
            total["output"] += usage.output_tokens
            total["cost"] += usage.total_cost or 0.0
    return {**total, "rates": rates}


def _seconds(log: EvalLog) -> float:
    """Return the seconds of a log from start to end, without earlier tries; 0 if unknown."""
    try:
        ended = datetime.fromisoformat(log.stats.completed_at)
        return (ended - datetime.fromisoformat(log.stats.started_at)).total_seconds()
    except ValueError:
        return 0.0
