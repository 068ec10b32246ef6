"""Inspect logs as a tidy frame, one row per episode."""

from __future__ import annotations

import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pandas as pd

# Inspect compresses its logs with zstd, and does not wrap its error.
from zstandard import ZstdError

from constraintrot.episode.facts import COLUMNS, EpisodeFacts
from constraintrot.errors import ConstraintRotError
from constraintrot.grading.verdict import NOT_DONE
from constraintrot.report import episode_counts
from constraintrot.report.episode_counts import PlannedEpisodes
from constraintrot.rule_text.survival.states import PRIMARY

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, ZstdError,
)  # fmt: skip
"""Exceptions of reading a file that is cut off or is not a log."""

_ENDING = ".eval"
# Long fields of Inspect's samples that a verdict does not need.
_TRANSCRIPT = ("messages", "output", "events", "events_data", "attachments", "store", "timelines")

OLD_NAMES = {"kept": "mentions", "slots": "mentions_share"}
"""Columns of frames from before a policy had a state, with their current names."""
_OTHER_STATES = ("weakened", "contradicted", "attributed", "partial")

_USAGE = {
    "input_tokens": "input_tokens",
    "input_tokens_cache_read": "cached_tokens",
    "output_tokens": "output_tokens",
}


def episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read the finished episodes of logs.

    Args:
        logs: log files, or folders of them.

    Returns:
        One row per sample: the facts of its metadata, ``violation``, ``outcome``,
        ``utility``, ``over_refusal``, ``survived``, ``state`` and ``bound``, the reader's
        probability (by the reader in ``measure``; older logs have the reader ``rules`` or
        ``mentions``; an undecided rule has no ``survived``), ``mentions``, ``verbatim``,
        ``recalled``, ``probed``, tokens, seconds and costs. ``input_tokens`` is the provider's
        count over all calls; ``last_input_tokens`` is the last input in o200k tokens. Values
        that were not measured are None.

    Raises:
        ConstraintRotError: the logs have no finished episode of a constraintrot task.
    """
    return _read(logs)[0]


def planned_episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read all planned episodes of some logs: finished, errored and never started.

    Args:
        logs: log files, or folders of them.

    Returns:
        As ``episodes``, with a ``status`` (``report.episode_counts``). An episode that
        errored or was not played has its facts and no ``violation``; its ``reason`` is the
        error.

    Raises:
        ConstraintRotError: the logs have no finished episode of a constraintrot task.
    """
    frame, unplayed = _read(logs)
    return _with_unplayed(frame, unplayed) if unplayed else frame


def _read(logs: Iterable[str | Path]) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    # A retry's log holds the finished samples of the earlier log too.
    found: dict[str, dict[str, Any]] = {}
    planned = PlannedEpisodes()
    given = list(logs)
    for path in paths(given):
        for header, sample in samples(path, planned):
            if sample is not None and is_finished(sample):
                row = sample_row(header, sample, path.name)
                found[row.pop("uuid")] = row
    unplayed = unplayed_rows(planned)
    if not found:
        raise none_finished(map(str, given), unplayed, "an Inspect log of a constraintrot task")
    return pd.DataFrame(list(found.values())), unplayed


def none_finished(
    given: Iterable[str], unplayed: Iterable[Mapping[str, Any]], wanted: str
) -> ConstraintRotError:
    """Return the error of logs without a finished episode, with the errors of the episodes."""
    errored = [row for row in unplayed if row["status"] == episode_counts.ERRORED]
    said = f"no finished ConstraintRot episode in {', '.join(given) or 'nothing'}"
    if errored:
        told = "\n".join(episode_counts.errors(errored))
        said += f"; {len(errored)} ended in an error:\n{told}\n`inspect eval-retry LOG --log-dir FOLDER` plays them again"
    else:
        said += (
            f"; give {wanted}, or a folder of them; `inspect eval-retry LOG --log-dir FOLDER` goes on with a run that"
            " was stopped"
        )
    return ConstraintRotError(said)


def unplayed_rows(planned: PlannedEpisodes) -> list[dict[str, Any]]:
    """Return rows of the planned episodes without a verdict, with only the frame's facts."""
    names = (*COLUMNS, "allowed", "log", "task", "status", "reason")
    return [{name: row.get(name) for name in names} for row in planned.rows()]


def _with_unplayed(frame: pd.DataFrame, unplayed: Sequence[dict[str, Any]]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for name in map(str, frame):
        values = [*frame[name], *(row.get(name) for row in unplayed)]
        # Numbers stay numbers, with nan for a gap.
        kind = frame[name].dtype.kind
        columns[name] = pd.Series(values, dtype="float64" if kind == "f" else object)
    return pd.DataFrame(columns).astype({"allowed": bool})


def paths(logs: Iterable[str | Path]) -> Iterator[Path]:
    """Yield the given logs, and the logs of the given folders.

    Args:
        logs: paths, or ``file://`` URLs as Inspect names the logs of an eval set.

    Raises:
        ConstraintRotError: a log does not exist.
    """
    for given in logs:
        name = str(given)
        path = Path(url2pathname(urlsplit(name).path) if name.startswith("file://") else given)
        if not path.exists():
            raise ConstraintRotError(f"no such log: {path}")
        if path.is_dir():
            yield from sorted(path.rglob("*.eval"))
        else:
            yield path


# Inspect's list of the logs of an eval set, beside them.
_MANIFEST = "logs.json"


def json_logs(logs: Iterable[str | Path]) -> list[Path]:
    """Return the logs in Inspect's JSON form in folders, which ``paths`` leaves out."""
    folders = [path for given in logs if (path := Path(str(given))).is_dir()]
    return [
        one
        for path in folders
        for one in sorted(path.rglob("*.json"))
        if one.name != _MANIFEST and _is_json_log(one)
    ]


def _is_json_log(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return b'"eval"' in head and b'"status"' in head and b'"version"' in head


def samples(path: Path, planned: PlannedEpisodes) -> Iterator[tuple[EvalLog, EvalSample | None]]:
    """Walk over a log's samples, as ``walk`` does.

    Raises:
        ConstraintRotError: the log cannot be read.
    """
    try:
        yield from walk(str(path), planned)
    except UNREADABLE as error:
        raise ConstraintRotError(
            f"{path} is no readable Inspect log ({error}); if it was cut off, try"
            " `inspect log recover`, else move it away"
        ) from error


def walk(
    path: str,
    planned: PlannedEpisodes,
    opened: Callable[[str], AbstractContextManager[IO[bytes] | str]] = nullcontext,
) -> Iterator[tuple[EvalLog, EvalSample | None]]:
    """Yield the samples of a log of a constraintrot task, without transcripts, with its header.

    The header without a sample comes first, since a log may have no samples. A log of another
    task yields nothing.

    ``planned`` gets the log after its last sample. ``opened`` opens the log; by default it must be a
    file of this machine.
    """
    from inspect_ai.log import read_eval_log

    header = read_eval_log(path, header_only=True)
    if not is_ours(header):
        return
    yield header, None
    seen: dict[tuple[str, int], tuple[EvalSample | None, dict[str, Any]]] = {}
    with opened(path) as file:
        for sample in light_samples(path, header, file):
            finished = is_finished(sample)
            seen[str(sample.id), sample.epoch] = (None if finished else sample), sample.metadata
            yield header, sample
    planned.add(header, Path(path).name, seen)


def light_samples(path: str, header: EvalLog, file: IO[bytes] | str) -> Iterator[EvalSample]:
    """Yield the samples of a log in order; those of an ``.eval`` log without their transcripts.

    Inspect's own reader reads whole samples, validates every event and reopens the log for
    each sample, which takes ten times as long.
    """
    from inspect_ai.log import EvalSample, read_eval_log_samples

    ids = header.eval.dataset.sample_ids
    if not path.endswith(_ENDING) or ids is None:
        yield from read_eval_log_samples(path, all_samples_required=False)
        return
    # Importing Inspect has registered its compression with zipfile.
    with zipfile.ZipFile(file) as archive:
        known = set(archive.namelist())
        for sample_id in ids:
            for epoch in range(1, (header.eval.config.epochs or 1) + 1):
                name = f"samples/{sample_id}_epoch_{epoch}.json"
                if name not in known:
                    continue
                yield EvalSample.model_validate(_fields(archive, name))


def _fields(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        fields = json.loads(archive.read(name))
    except (NotImplementedError, RuntimeError, struct.error) as error:
        # zipfile's errors for an unknown compression, a password and a cut-off header.
        raise ValueError(f"{name} is damaged: {error}") from error
    return {key: value for key, value in dict(fields).items() if key not in _TRANSCRIPT}


def is_finished(sample: EvalSample) -> bool:
    """Return whether an episode has a verdict."""
    return sample.error is None and "violation" in (sample.scores or {})


def is_ours(header: EvalLog) -> bool:
    return (header.eval.task_registry_name or header.eval.task).startswith("constraintrot/")


def sample_row(header: EvalLog, sample: EvalSample, log: str) -> dict[str, Any]:
    """Return a sample with a score ``violation`` as a row of the frame, with its id as ``uuid``.

    ``log`` is the name of the log file that has the header.
    """
    scores = sample.scores or {}
    numbers = {
        name: scores[name].as_float()
        for name in ("violation", "utility", "recalled", "probed")
        if name in scores
    }
    survival = scores["survival"].as_dict() if "survival" in scores else {}
    told = (scores["survival"].metadata or {}) if "survival" in scores else {}
    verdict, usage = scores["violation"], (sample.model_usage or {}).values()
    row: dict[str, Any] = {"uuid": sample.uuid or f"{log}/{sample.id}/{sample.epoch}"}
    row |= EpisodeFacts.read(sample.metadata, log).model_dump()
    row |= {"status": episode_counts.PLAYED, "log": log, "task": header.eval.task}
    row |= {"violation": numbers["violation"], "outcome": (verdict.metadata or {})["outcome"]}
    row |= {"reason": verdict.explanation, "utility": None, "recalled": None, "probed": None}
    row |= _survival(numbers | survival, told)
    row |= {name: sum(getattr(use, key) or 0 for use in usage) for key, name in _USAGE.items()}
    row |= {"seconds": sample.working_time} | _costs(sample.metadata)
    # 1 if an allowed task was refused or blocked, else 0; None for a prohibited request.
    refused = float(row["outcome"] in NOT_DONE) if row["allowed"] else None
    return row | {"over_refusal": refused}


def _survival(scores: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of survival under the current names: old logs have only mentions."""
    found = {OLD_NAMES.get(name, name): value for name, value in scores.items()}
    states = {name: found.pop(name) for name in _OTHER_STATES if name in found}
    if "bound" in told:
        survived = found.get("survived")
        unread = survived is None or math.isnan(survived)
        read = {"state": told["state"], "measure": told["measure"], "bound": told["bound"]}
        return found | {"survived": None if unread else survived} | read
    if found.get("survived") is None:
        old = {"survived": found["mentions"], "measure": "mentions"} if "mentions" in found else {}
        return {"survived": None, "state": None, "measure": None} | found | old
    other = next((name for name, it_is in states.items() if it_is == 1), "lost")
    whole = "verbatim" if found.get("verbatim") == 1 else "restated"
    state = whole if found["survived"] == 1 else other
    return found | {"state": state, "measure": PRIMARY}


def _costs(facts: dict[str, Any]) -> dict[str, Any]:
    # If another sample compacted the shared context, this one's time is not comparable.
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
