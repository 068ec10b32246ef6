"""The runs behind a report: one per log, with the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from constraintrot.models.in_process import catalogue
from constraintrot.redaction import redacted
from constraintrot.report import untrusted
from constraintrot.strict import Strict

if TYPE_CHECKING:
    from inspect_ai.log import EvalConfig, EvalLog


class Run(Strict):
    """A run, from its log's header.

    Attributes:
        task: Inspect's name of the task.
        task_id: Inspect's id of the task; a retry has the id of the run.
        status: Inspect's status: success, started, cancelled or error.
        packages: versions by package name, and the task's version as ``task``.
        revision: commit of the working tree that it ran from; empty if unknown.
        weights: name and SHA-256 of each model of the ``local/`` catalogue.
        planned: number of samples times epochs.
        finished: number of scored episodes.
        failed: number of episodes that ended in an error.
    """

    log: str
    sha256: str
    task: str
    task_id: str
    model: str
    created: str
    status: str
    command: str
    packages: dict[str, str]
    revision: str
    weights: str
    planned: int
    finished: int
    failed: int


RUNS = TypeAdapter(list[Run])


def run(header: EvalLog, log: str, sha256: str, finished: int, failed: int) -> Run:
    of = header.eval
    samples = len(of.dataset.sample_ids or []) or of.dataset.samples or 0
    return Run(
        log=untrusted.cut(log, 300),
        sha256=sha256,
        task=untrusted.cut(of.task_registry_name or of.task, 300),
        task_id=untrusted.cut(of.task_id, 100),
        model=untrusted.cut(of.model, 300),
        created=of.created,
        status=header.status,
        command=untrusted.cut(command(header), 2_000),
        packages=of.packages | {"task": str(of.task_version)},
        revision=revision(header),
        weights=_weights([of.model, *(one for names in roles(header).values() for one in names)]),
        planned=samples * (of.config.epochs or 1),
        finished=finished,
        failed=failed,
    )


def revision(header: EvalLog) -> str:
    """Return the commit of the working tree that a log was made in; empty if unknown."""
    found = header.eval.revision
    if found is None:
        return ""
    return f"{found.commit}{' with changes' if found.dirty else ''}"


def roles(header: EvalLog) -> dict[str, list[str]]:
    return {
        role: [one.model for one in (given if isinstance(given, list) else [given])]
        for role, given in (header.eval.model_roles or {}).items()
    }


def public(header: EvalLog) -> EvalLog:
    """Return a log's header with the secrets in its arguments and settings masked."""
    of = header.eval
    settings = redacted(of.model_generate_config.model_dump(exclude_none=True))
    update = {
        "model_args": redacted(of.model_args),
        "task_args": redacted(of.task_args),
        "task_args_passed": redacted(of.task_args_passed),
        "model_generate_config": of.model_generate_config.model_copy(update=settings),
    }
    return header.model_copy(update={"eval": of.model_copy(update=update)})


def command(header: EvalLog) -> str:
    """Return the ``inspect eval`` command that repeats a run, without its secrets."""
    of = public(header).eval
    words = ["inspect", "eval", of.task_registry_name or of.task, "--model", of.model]
    for role, models in roles(header).items():
        words += ["--model-role", f"{role}={','.join(models)}"]
    words += _pairs("-T", of.task_args_passed or of.task_args)
    words += _pairs("-M", of.model_args)
    settings = of.model_generate_config.model_dump(exclude_none=True)
    for name, value in settings.items():
        words += [f"--{name.replace('_', '-')}", _value(value)]
    epochs = of.config.epochs or 1
    words += ["--epochs", str(epochs)] if epochs > 1 else []
    words += _some(of.config)
    return shlex.join(words)


def _some(config: EvalConfig) -> Iterator[str]:
    if config.sample_id is not None:
        ids = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id]
        yield from ("--sample-id", ",".join(map(str, ids)))
    if isinstance(config.limit, tuple):
        # The command line counts from 1, the log from 0.
        yield from ("--limit", f"{config.limit[0] + 1}-{config.limit[1]}")
    elif config.limit is not None:
        yield from ("--limit", str(config.limit))


def _pairs(flag: str, given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        yield from (flag, f"{name}={_value(value)}")


def _value(value: Any) -> str:
    listed: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, list) else ()
    if listed and all(isinstance(one, str) for one in listed):
        return ",".join(listed)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _weights(models: Iterable[str]) -> str:
    digests = {entry.name: entry.sha256 for entry in catalogue.MODELS}
    local = dict.fromkeys(name.removeprefix("local/") for name in models if name[:6] == "local/")
    return ", ".join(f"{name} {digests[name]}" for name in local if name in digests)
