"""A sweep as eval sets of METR's Hawk (https://hawk.metr.org), which plays them on its own cluster.

An eval set of Hawk crosses all its tasks with all its models, under the same roles, replicates and
limits. So models share an eval set if these and their tasks are the same. Checked against
``EvalSetConfig.schema.json`` of the package ``hawk`` 3.7.2.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from constraintrot.errors import ParameterError
from constraintrot.runs.sweep.cell import LIMITS, Cell
from constraintrot.runs.sweep.loading import Sweep

# This package's models too are named as Inspect names them: its tasks install them.
_INSPECT = "inspect-ai"
_PACKAGE = "constraintrot"
_UNKNOWN_TO_HAWK = ("turn_limit",)


def eval_sets(sweep: Sweep, package: str) -> list[dict[str, Any]]:
    """Return the eval sets of a sweep, as plain data.

    ``package`` is the requirement that Hawk installs: ``constraintrot[eval]==0.1.0``.
    """
    _check(sweep)
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for cell in sweep.cells:
        item = {"name": cell.name.removeprefix("constraintrot/"), "args": cell.args}
        by_model = groups.setdefault(_text(_shared(cell)), {})
        by_model.setdefault(_text(_model(cell.task.get("model"))), []).append(item)
    made: list[dict[str, Any]] = []
    for shared, by_model in groups.items():
        alike: dict[str, list[str]] = {}
        for model, given in by_model.items():
            alike.setdefault(_text(given), []).append(model)
        for items, models in alike.items():
            tasks = {"package": package, "name": _PACKAGE, "items": json.loads(items)}
            agents = {"package": _INSPECT, "items": [json.loads(one) for one in models]}
            made.append({"tasks": [tasks], "models": [agents], **json.loads(shared)})
    name = sweep.name.rpartition("/")[2].removesuffix(".py").replace("_", "-")
    return [{"name": f"{name}-{number}", **one} for number, one in enumerate(made, 1)]


def _check(sweep: Sweep) -> None:
    named = [name for name in ("budgets", "stop") if sweep.settings.get(name)]
    if any(cell.server for cell in sweep.cells):
        named.append("servers")
    named += [key for key in _UNKNOWN_TO_HAWK if any(cell.task.get(key) for cell in sweep.cells)]
    if named:
        raise ParameterError(
            f"{sweep.name} sets {', '.join(named)}, which Hawk has no place for; leave it out, or"
            " play the sweep with `sweep run --ray`"
        )
    foreign = sorted(
        {cell.name for cell in sweep.cells if not cell.name.startswith("constraintrot/")}
    )
    if foreign:
        raise ParameterError(f"tasks of other packages are not exported: {', '.join(foreign)}")


def _model(model: Any) -> dict[str, Any]:
    if model is None:
        raise ParameterError("a cell names no model, and Hawk has no default; name one in the spec")
    if isinstance(model, str):
        return {"name": model}
    args: dict[str, Any] = dict(model.get("model_args") or {})
    args |= {name: model[name] for name in ("config", "base_url") if model.get(name)}
    return {"name": model["name"], **({"args": args} if args else {})}


def _shared(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: cell.task[name] for name in LIMITS if cell.task.get(name) is not None
    }
    if cell.epochs > 1:
        found["epochs"] = cell.epochs
    roles: Mapping[str, Any] = cell.task.get("model_roles") or {}
    if any(isinstance(one, Sequence) and not isinstance(one, str) for one in roles.values()):
        raise ParameterError("a role with several models has no place in Hawk; name one of them")
    if roles:
        found["model_roles"] = {
            role: {"package": _INSPECT, "items": [_model(one)]} for role, one in roles.items()
        }
    if cell.task.get("config"):
        raise ParameterError("a task's `config` has no place in Hawk; set the model's `config`")
    return found


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
