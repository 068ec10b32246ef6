"""Write a contributed folder from Inspect logs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from constraintrot import files
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.models.in_process import catalogue
from constraintrot.report import frame, untrusted
from constraintrot.report.contributed.check import Tasks
from constraintrot.report.contributed.folder import (
    CALLS,
    EPISODES,
    QUALIFICATION,
    RUN,
    Answer,
    Log,
    Run,
    answer_lines,
    digest,
    write_run,
)
from constraintrot.report.contributed.run_check import settings_of
from constraintrot.report.episode_counts import PlannedEpisodes
from constraintrot.report.page import frames, runs

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

# Outcomes without an acting call, for which the text decides between refusal and silence.
_READ_IN_WORDS = ("refused_text", "no_call")


@dataclass
class _Reading:
    rows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    headers: list[tuple[Path, EvalLog]] = field(default_factory=list[tuple[Path, "EvalLog"]])
    planned: PlannedEpisodes = field(default_factory=PlannedEpisodes)


def export(
    logs: Sequence[str | Path],
    folder: Path,
    tasks: Tasks,
    *,
    title: str,
    machine: str = "",
    by: str = "",
    notes: str = "",
    qualification: Path | None = None,
    force: bool = False,
) -> Run:
    """Write ``run.yaml``, ``episodes.csv`` and ``calls.jsonl``.

    The logs are of one model under one setting. ``tasks`` are those whose episodes can be rebuilt, by
    Inspect's name. A ``qualification`` (the file of ``constraintrot qualify``) is copied.
    """
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / RUN).is_file()):
        more = "; --force overwrites it" if (folder / RUN).is_file() else ""
        raise ParameterError(f"{folder} is there and not empty{more}")
    read = _read(logs, tasks)
    retried = _retried(read)
    unplayed = frame.unplayed_rows(read.planned)
    unplayed = [row | {"log": retried.get(row["log"], row["log"])} for row in unplayed]
    rows = [*read.rows.values(), *unplayed]
    episodes = frames.tidy(pd.DataFrame(rows))
    settings = settings_of(episodes)
    run = _run(read, settings, folder, title=title, machine=machine, by=by, notes=notes)
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / EPISODES, frames.csv_text(episodes), ConstraintRotError)
    calls = answer_lines(list(read.answers.values()))
    files.write(folder / CALLS, calls, ConstraintRotError)
    names = [EPISODES, CALLS]
    if qualification is not None:
        shutil.copyfile(qualification, folder / QUALIFICATION)
        names.append(QUALIFICATION)
    run = run.model_copy(
        update={
            "qualification": qualification is not None,
            "files": {name: digest(folder / name) for name in names},
        }
    )
    write_run(folder, run)
    return run


def _read(logs: Sequence[str | Path], tasks: Tasks) -> _Reading:
    read = _Reading()
    for path in frame.paths(logs):
        for header, sample in frame.samples(path, read.planned):
            if sample is None:
                _check_whole(header, path, tasks)
                read.headers.append((path, header))
            elif frame.is_finished(sample):
                _take(read, header, sample, path.name)
    if not read.rows:
        given = ", ".join(map(str, logs)) or "nothing"
        raise ConstraintRotError(f"no finished ConstraintRot episode in {given}")
    return read


def _retried(read: _Reading) -> dict[str, str]:
    """Leave out the logs that were retried; a retry's log has their finished episodes too."""
    read.headers.sort(key=lambda one: one[1].eval.created)
    last = {header.eval.task_id: path.name for path, header in read.headers}
    names = {path.name: last[header.eval.task_id] for path, header in read.headers}
    read.headers = [
        (path, header) for path, header in read.headers if names[path.name] == path.name
    ]
    return names


def _check_whole(header: EvalLog, path: Path, tasks: Tasks) -> None:
    of = header.eval
    if _task(header) not in tasks:
        raise ConstraintRotError(
            f"{path.name} is of {_task(header)}, whose episodes nobody else can rebuild; a result"
            f" is of {', '.join(tasks)}"
        )
    if of.config.limit is not None or of.config.sample_id is not None:
        raise ConstraintRotError(
            f"{path.name} is a part of what was planned (--limit or --sample-id); use -T variants="
            " for a smaller run"
        )


def _task(header: EvalLog) -> str:
    return header.eval.task_registry_name or header.eval.task


def _take(read: _Reading, header: EvalLog, sample: EvalSample, log: str) -> None:
    row = frame.sample_row(header, sample, log)
    episode, facts = str(row.pop("uuid")), sample.metadata
    if "private_key" in facts:
        raise ConstraintRotError(
            f"{log} was made with a private key, so nobody else can grade it; use another split"
        )
    row["reason"] = untrusted.cut(str(row["reason"] or ""), untrusted.CELL)
    read.rows[episode] = row | {"episode": episode, "created": header.eval.created}
    decided, unread = _outcome(row, sample), facts.get("fault") is not None
    read.answers[episode] = Answer(
        episode=episode,
        log=log,
        sample=str(sample.id),
        replicate=sample.epoch - 1,
        calls=facts["calls"],
        fault=facts.get("fault"),
        blocked=facts.get("blocked"),
        prose=str(facts.get("prose", "")) if decided in _READ_IN_WORDS or unread else "",
    )


def _outcome(row: Mapping[str, Any], sample: EvalSample) -> str:
    """Return the outcome; for a blocked call, the outcome without the block."""
    told = ((sample.scores or {})["violation"].metadata or {}).get("proposed") or {}
    return str(told.get("outcome", row["outcome"]))


def _run(read: _Reading, settings: dict[str, str], folder: Path, **told: Any) -> Run:
    subjects = [_subject(header) for _, header in read.headers]
    for (path, _), subject in zip(read.headers, subjects, strict=True):
        differing = [name for name, value in subject.items() if value != subjects[0][name]]
        if differing:
            raise ConstraintRotError(
                f"{path.name} has another {' and '.join(differing)} than"
                f" {read.headers[0][0].name}; export each by itself"
            )
    subject = subjects[0]
    models = [subject["model"], *subject["roles"].values()]
    digests = {f"local/{entry.name}": entry.sha256 for entry in catalogue.MODELS}
    return Run(
        name=folder.resolve().name,
        date=min(header.eval.created for _, header in read.headers)[:10],
        weights={name: digests[name] for name in models if name in digests},
        exported_with=version("constraintrot"),
        settings=settings,
        logs=tuple(_log(path, header) for path, header in read.headers),
        files={},
        **subject,
        **told,
    )


def _subject(header: EvalLog) -> dict[str, Any]:
    of = runs.public(header).eval
    return {
        "model": of.model,
        "roles": {role: ",".join(models) for role, models in runs.roles(header).items()},
        "model_args": _plain(of.model_args),
        "generation": _plain(of.model_generate_config.model_dump(exclude_none=True)),
    }


def _log(path: Path, header: EvalLog) -> Log:
    of = runs.public(header).eval
    return Log(
        log=path.name,
        sha256=digest(path),
        task=_task(header),
        task_args=_plain(of.task_args_passed or of.task_args),
        epochs=of.config.epochs or 1,
        created=of.created,
        packages={name: str(version) for name, version in of.packages.items()},
        revision=runs.revision(header),
        command=runs.command(header),
    )


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy as plain JSON data, for which YAML needs no aliases."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(given), default=str))
    return plain
