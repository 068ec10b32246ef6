"""The files of a contributed result: ``run.yaml``, ``episodes.csv`` and ``calls.jsonl``.

The frame has the outcomes, the calls are the agent's acts, and ``run.yaml`` states which
episodes were planned, by whom and how. ``check`` compares the three.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from constraintrot.documents import document, read_text, told
from constraintrot.errors import ConstraintRotError
from constraintrot.files import contents, write
from constraintrot.strict import Strict

RUN, EPISODES, CALLS = "run.yaml", "episodes.csv", "calls.jsonl"
QUALIFICATION = "qualification.json"
# A result of a thousand episodes has some 400 KB of calls.
_MOST_BYTES = 64_000_000
MOST_EPISODES = 200_000
# Largest number in a plan's parameters: no task takes a longer history, or more of anything.
_LARGEST_NUMBER = 1_000_000
_MOST_VARIANTS = 1_000
# The check rebuilds the plan of each log.
_MOST_LOGS = 256
_LONGEST_PARAMETERS = 20_000
_NAME = r"^[a-z0-9][a-z0-9._-]{0,79}$"


class Log(Strict):
    """One Inspect log that the episodes are from.

    Attributes:
        task: Inspect's name of the task, ``constraintrot/soft_email``.
        task_args: the task's parameters as they were given.
        revision: commit of the working tree that it ran from; empty if unknown.
        command: the command that repeats the run.
    """

    log: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    task: str
    task_args: dict[str, Any]
    epochs: int = Field(default=1, ge=1, le=1000)
    created: str
    packages: dict[str, str]
    revision: str = ""
    command: str

    @field_validator("task_args")
    @classmethod
    def _can_be_rebuilt(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Refuse a plan that others cannot rebuild, or that would take too long."""
        if len(json.dumps(given, default=str)) > _LONGEST_PARAMETERS:
            raise ValueError(f"its parameters have more than {_LONGEST_PARAMETERS:,} characters")
        if given.get("split") == "private":
            raise ValueError("split private is made by a key that nobody else has")
        for name, value in _leaves(given):
            if isinstance(value, str) and value.strip().startswith(("file:", "@", "/", "~")):
                raise ValueError(f"{name} names a file of the contributor's: {value[:60]!r}")
            if (number := _number(value)) is not None and not abs(number) <= _LARGEST_NUMBER:
                raise ValueError(f"{name} is {value!r}; at most {_LARGEST_NUMBER:,} is rebuilt")
        variants = _number(given.get("variants", 0))
        if variants is None or variants > _MOST_VARIANTS:
            raise ValueError(f"variants is a number of at most {_MOST_VARIANTS:,}")
        return given


def _leaves(node: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, name or str(key))
    elif isinstance(node, list):
        for value in node:
            yield from _leaves(value, name)
    else:
        yield name, node


def _number(value: Any) -> float | None:
    """Return a value as a number, also if it is a text; None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


class Run(Strict):
    """The content of a contributed folder's ``run.yaml``.

    Attributes:
        weights: SHA-256 of the weights of each ``local/`` model.
        model_args: the model's arguments (``-M``).
        generation: the settings of its generation that were given.
        exported_with: version of this package that wrote the folder.
        qualification: whether ``qualification.json`` is in the folder.
        files: SHA-256 of the other files.
    """

    format: Literal[1] = 1
    name: str = Field(pattern=_NAME)
    title: str
    by: str = ""
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    model: str
    roles: dict[str, str] = Field(default_factory=dict[str, str])
    weights: dict[str, str] = Field(default_factory=dict[str, str])
    model_args: dict[str, Any] = Field(default_factory=dict[str, Any])
    generation: dict[str, Any] = Field(default_factory=dict[str, Any])
    machine: str = ""
    exported_with: str
    settings: dict[str, str]
    logs: tuple[Log, ...] = Field(min_length=1, max_length=_MOST_LOGS)
    qualification: bool = False
    files: dict[str, str]
    notes: str = ""


class Answer(Strict):
    """An agent's acts in one episode: the parts that the grading reads.

    Attributes:
        episode: id of the episode, as in the frame.
        log: name of the log file.
        replicate: from 0.
        fault: why the answer could not be read as calls; None if it could.
        blocked: why a defense stopped the calls; None if none did.
        prose: the agent's text, if no call acts or the answer could not be read; else empty.
    """

    episode: str
    log: str
    sample: str
    replicate: int = Field(default=0, ge=0)
    calls: list[Any]
    fault: str | None = None
    blocked: str | None = None
    prose: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """The log, sample and replicate, which name its episode within a folder."""
        return self.log, self.sample, self.replicate


def read_run(folder: Path) -> Run:
    path = folder / RUN
    if not path.is_file():
        raise ConstraintRotError(
            f"{folder} holds no {RUN}; `constraintrot results export LOGS -o {folder}` writes one"
        )
    try:
        return Run.model_validate(document(path, error=ConstraintRotError).data)
    except ValidationError as error:
        raise ConstraintRotError(f"{path}: {told(error)}") from error


def write_run(folder: Path, run: Run) -> None:
    text = yaml.safe_dump(
        run.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100
    )
    write(folder / RUN, text, ConstraintRotError)


def read_answers(folder: Path) -> tuple[list[Answer], list[str]]:
    """Read ``calls.jsonl``: the answers, and a fault for each line that is not an answer."""
    lines = read_text(folder / CALLS, _MOST_BYTES, ConstraintRotError).splitlines()
    answers: list[Answer] = []
    faults: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            answers.append(Answer.model_validate(json.loads(line)))
        except ValidationError as error:
            faults.append(f"line {number}: {told(error)[:300]}")
        except (ValueError, RecursionError) as error:
            faults.append(f"line {number} is no JSON: {str(error)[:200]}")
    if len(answers) > MOST_EPISODES:
        raise ConstraintRotError(f"{folder / CALLS} has more than {MOST_EPISODES:,} episodes")
    return answers, faults


def answer_lines(answers: list[Answer]) -> str:
    """Return the text of ``calls.jsonl``: one episode per line, in ASCII so that none is hidden."""
    return "".join(
        json.dumps(one.model_dump(exclude_defaults=True) | {"calls": one.calls}) + "\n"
        for one in answers
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; empty if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bytes_of(folder: Path, name: str) -> bytes:
    try:
        return contents(folder / name, _MOST_BYTES, ConstraintRotError)
    except ConstraintRotError as error:
        raise ConstraintRotError(f"{folder / name}: {error}") from error.__cause__
