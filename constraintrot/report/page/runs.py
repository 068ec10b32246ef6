"""How the episodes were made: one run a log, with the command that makes it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter

from constraintrot.models.in_process import catalogue
from constraintrot.report.page import untrusted

if TYPE_CHECKING:
    from inspect_ai.log import EvalConfig, EvalLog


class Run(BaseModel):
    """One log, by its header.

    Attributes:
        log: the file's name.
        sha256: of its bytes.
        task: as Inspect names it.
        task_id: the same for a run and its retries.
        model: the agent's.
        created: when it was started, ISO 8601.
        status: as Inspect has it: success, started, cancelled or error.
        command: what runs it again.
        packages: versions, by name; the version of the task.
        revision: commit of the working tree that it ran from.
        weights: digest of a model that runs in this process, as catalogued.
        planned: samples times epochs.
        finished: episodes that were scored.
        failed: episodes that ended in an error.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """The run that a log's header describes."""
    of = header.eval
    samples = len(of.dataset.sample_ids or []) or of.dataset.samples or 0
    dirty = " with changes" if of.revision is not None and of.revision.dirty else ""
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
        revision="" if of.revision is None else f"{of.revision.commit}{dirty}",
        weights=_weights(_models(header)),
        planned=samples * (of.config.epochs or 1),
        finished=finished,
        failed=failed,
    )


def command(header: EvalLog) -> str:
    """The ``inspect eval`` that makes such a log."""
    of = header.eval
    words = ["inspect", "eval", of.task_registry_name or of.task, "--model", of.model]
    for role, models in (of.model_roles or {}).items():
        given = models if isinstance(models, list) else [models]
        words += ["--model-role", f"{role}={','.join(one.model for one in given)}"]
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
    """Which samples, where not all were asked for."""
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


def _models(header: EvalLog) -> Iterator[str]:
    yield header.eval.model
    for models in (header.eval.model_roles or {}).values():
        yield from (one.model for one in (models if isinstance(models, list) else [models]))


def _weights(models: Iterable[str]) -> str:
    digests = {entry.name: entry.sha256 for entry in catalogue.MODELS}
    local = dict.fromkeys(name.removeprefix("local/") for name in models if name[:6] == "local/")
    return ", ".join(f"{name} {digests[name]}" for name in local if name in digests)
