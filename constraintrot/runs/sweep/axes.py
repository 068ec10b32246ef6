"""The package's axes as an Inspect Flow spec; impossible combinations are refused beforehand.

No episode is played twice: the controls of cells that differ only in the compactor, its prompt
or the summarizer's model are the same episodes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.runs.plan import Planned, counted, planned
from constraintrot.runs.sweep.cell import KEY

if TYPE_CHECKING:
    from inspect_flow import FlowSpec

TASK = "constraintrot/suite"
# Parameters of some tasks only.
_MORE = ("families", "defenses", "allowed")
_COUNTS = ("variants", "block", "epochs", "looks")
# How the error for a name that does not exist begins.
_UNKNOWN = "unknown "


@dataclass(frozen=True)
class Combination:
    model: str
    roles: Mapping[str, str]
    args: Mapping[str, Any]
    look: int = 1


def sweep(
    models: Sequence[str],
    *,
    task: str = TASK,
    roles: Sequence[Mapping[str, str]] = ({},),
    epochs: int = 1,
    block: int | None = None,
    looks: int = 1,
    servers: Mapping[str, Mapping[str, Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **axes: Any,
) -> FlowSpec:
    """Return a spec over all combinations of axes, with each episode once.

    ``roles`` is an axis of models of other roles, such as ``{"summarizer": "openai/x"}``; each of
    ``axes`` is a task parameter, of which a list is an axis. ``block`` is the most variants of a
    family in one cell, and ``looks`` the number of interim looks over which the blocks are spread (see
    ``stopping``). ``servers`` has the settings of a model's server (see ``servers``), ``options`` are
    Flow's, and ``metadata`` has this project's other entries: ``budgets``, ``stop``, ``resources``.
    """
    from inspect_flow import FlowModel, FlowOptions, FlowSpec, FlowTask

    known = (*TaskParameters.__annotations__, *_MORE)
    unknown = sorted(set(axes) - set(known))
    if unknown:
        raise ParameterError(
            f"unknown axis {', '.join(map(repr, unknown))}; known: {', '.join(known)}"
        )
    for name, number in {**axes, "block": block, "epochs": epochs, "looks": looks}.items():
        if name in _COUNTS and number is not None:
            _check_count(name, number)
    chosen: dict[str, Any] = {"log_realtime": False, **(options or {})}
    possible, refused = split(task, list(combinations(models, roles, block, looks, axes)))
    if not possible:
        first = next(iter(refused), "there are no models")
        raise ParameterError(f"no combination of the axes is possible: {first}")

    def model(name: str) -> FlowModel | str:
        server = (servers or {}).get(name)
        return FlowModel(name=name, flow_metadata={KEY: {"server": server}}) if server else name

    return FlowSpec(
        tasks=[
            FlowTask(
                name=task,
                args=dict(one.args),
                model=model(one.model),
                **_given(one, epochs),
                flow_metadata={KEY: {"look": one.look}},
            )
            for one in once(task, possible)
        ],
        options=FlowOptions(**chosen),
        store=None,
        flow_metadata={KEY: {"refused": dict(refused), **(metadata or {})}},
    )


def _given(one: Combination, epochs: int) -> dict[str, Any]:
    """Return roles and epochs; defaults are left out, since naming them changes a cell's id."""
    roles = {"model_roles": dict(one.roles)} if one.roles else {}
    return roles | ({"epochs": epochs} if epochs > 1 else {})


def _check_count(name: str, number: object) -> None:
    for one in number if isinstance(number, list) else [number]:
        if isinstance(one, bool) or not isinstance(one, int) or one < 1:
            raise ParameterError(f"{name}={one}: give a whole number of at least 1")


def combinations(
    models: Sequence[str],
    roles: Sequence[Mapping[str, str]],
    block: int | None,
    looks: int,
    axes: Mapping[str, Any],
) -> Iterator[Combination]:
    """Yield every point of the matrix, in the order of the arguments."""
    names = [name for name, value in axes.items() if isinstance(value, list)]
    fixed = {name: value for name, value in axes.items() if name not in names}
    for model, others, *values in product(models, roles, *(axes[name] for name in names)):
        args = fixed | dict(zip(names, values, strict=True))
        for number, part in enumerate(blocks(args, block)):
            yield Combination(model, others, part, 1 + number % looks)


def blocks(args: dict[str, Any], block: int | None) -> Iterator[dict[str, Any]]:
    """Yield a cell's parameters with its variants in parts of at most ``block``."""
    if block is None:
        yield args
        return
    first, left = int(args.get("seed", 0)), int(args.get("variants", 4))
    while left > 0:
        yield args | {"seed": first, "variants": min(block, left)}
        first, left = first + block, left - block


def split(task: str, points: Sequence[Combination]) -> tuple[list[Combination], Counter[str]]:
    """Return the possible combinations, and the number of impossible ones by reason."""
    possible: list[Combination] = []
    refused: Counter[str] = Counter()
    for one in points:
        try:
            counted(task, one.args)
        except ConstraintRotError as error:
            if str(error).startswith(_UNKNOWN):
                raise ParameterError(f"{task}: {error}") from error
            refused[str(error)] += 1
        else:
            possible.append(one)
    return possible, refused


def once(task: str, points: Sequence[Combination]) -> Iterator[Combination]:
    """Yield the points, without the conditions that earlier points play in full.

    Points without any condition left are omitted.
    """
    seen: set[str] = set()
    for point in points:
        episodes: dict[str, set[str]] = {}
        for one in planned(task, point.args):
            episodes.setdefault(one.condition, set()).add(_identity(point, one))
        fresh = [name for name, identities in episodes.items() if not identities <= seen]
        seen |= set[str]().union(*episodes.values())
        if len(fresh) == len(episodes):
            yield point
        elif fresh:
            yield replace(point, args={**point.args, "conditions": ",".join(fresh)})


def _identity(point: Combination, one: Planned) -> str:
    roles = dict(point.roles)
    if one.compactor == "none":
        # No model is asked for a summary.
        roles.pop("summarizer", None)
    variants = [point.args.get(name) for name in ("seed", "variants")]
    return json.dumps([point.model, roles, variants, one.digest], sort_keys=True)
