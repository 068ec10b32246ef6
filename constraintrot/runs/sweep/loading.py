"""Sweeps, loaded by the name of a packaged one or from the file of an Inspect Flow spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from constraintrot.errors import ConstraintRotError, ParameterError, UnknownNameError
from constraintrot.evaluation import roles
from constraintrot.runs.sweep.cell import CELL_KEY, KEY, Cell

if TYPE_CHECKING:
    from inspect_flow import FlowSpec

SPECS = Path(__file__).parent / "specs"
_SPECS = "constraintrot.runs.sweep.specs"


@dataclass(frozen=True)
class Sweep:
    """A spec and its cells.

    Attributes:
        spec: Flow's spec; each task has the id of its cell in its metadata.
        settings: this project's entries in its metadata: ``refused``, ``budgets``, ``stop``,
            ``resources``.
    """

    name: str
    spec: FlowSpec
    cells: tuple[Cell, ...]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


def names() -> list[str]:
    return sorted(
        path.stem.replace("_", "-") for path in SPECS.glob("*.py") if path.stem != "__init__"
    )


def spec_file(name: str) -> Path:
    if name in names():
        return SPECS / f"{name.replace('-', '_')}.py"
    if Path(name).is_file():
        return Path(name)
    raise UnknownNameError("sweep", name, [*names(), "or the file of an Inspect Flow spec"])


def load(name: str, args: Mapping[str, Any] | None = None) -> Sweep:
    """Load a sweep by a name that ``spec_file`` takes, with arguments for the spec's function."""
    file = spec_file(name)
    from inspect_flow.api import dump_spec, init, load_spec

    init(log_level="error", display="plain", dotenv_base_dir=None)
    try:
        spec = load_spec(str(file), args=dict(args or {}))
        dumped = dump_spec(spec)
    except ConstraintRotError:
        raise
    except Exception as error:
        cause = error.__cause__
        if isinstance(cause, ConstraintRotError):
            raise cause from error
        raise ParameterError(f"{file}: {error}{_takes(name)}") from error
    return of_spec(name, spec, dumped)


def _takes(name: str) -> str:
    if name not in names():
        return ""
    stem = name.replace("-", "_")
    function: Any = getattr(import_module(f"{_SPECS}.{stem}"), stem)
    return f"; {name} takes {', '.join(signature(function).parameters)}"


def of_spec(name: str, spec: FlowSpec, dumped: Mapping[str, Any]) -> Sweep:
    tasks: Sequence[Any] = dumped.get("tasks") or ()
    cells = tuple(_cell(task) for task in tasks)
    if not cells:
        raise ParameterError(f"{name}: the spec has no tasks")
    seen: set[str] = set()
    for cell in cells:
        roles.check(cell.task.get("model_roles") or ())
        if cell.id in seen:
            raise ParameterError(f"{name}: a cell is in the spec twice: {cell.label}")
        seen.add(cell.id)
    settings: dict[str, Any] = (dumped.get("flow_metadata") or {}).get(KEY) or {}
    return Sweep(name, _marked(spec, cells), cells, settings)


def _cell(task: Any) -> Cell:
    plain: dict[str, Any] = {"name": task} if isinstance(task, str) else dict(task)
    own = (plain.get("flow_metadata") or {}).get(KEY) or {}
    return Cell(plain, int(own.get("look", 1)))


def _marked(spec: FlowSpec, cells: Sequence[Cell]) -> FlowSpec:
    """Return the spec with each cell's id in its task's metadata, which its log copies."""
    from inspect_flow import FlowTask

    tasks: list[Any] = []
    for task, cell in zip(cast("Sequence[Any]", spec.tasks), cells, strict=True):
        one = FlowTask(name=task) if isinstance(task, str) else task
        known = one.metadata if isinstance(one.metadata, Mapping) else {}
        tasks.append(one.model_copy(update={"metadata": {**known, CELL_KEY: cell.id}}))
    return spec.model_copy(update={"tasks": tasks})
