"""A cell of a sweep: one evaluation, as plain data that any machine can play."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from constraintrot.errors import ParameterError

KEY = "constraintrot_sweep"
"""The key of this project's data in Flow's metadata of a spec or a model."""
CELL_KEY = "constraintrot_cell"
"""The key of a cell's id in a log's metadata."""

# Settings of the connection to a model: a change does not make another cell.
_TRANSPORT = (
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
)
_NOT_IDENTITY = ("metadata", "flow_metadata", "tags", "description")
# Parameters of the history: cells with the same ones share a prefix of their prompts.
_HISTORY = (
    "families", "locale", "split", "seed", "variants", "channel", "wording", "exercised",
    "context_tokens", "distractors", "harness",
)  # fmt: skip
# Limits, and all fields of a FlowTask that a worker can play.
LIMITS = ("message_limit", "token_limit", "turn_limit", "time_limit", "working_limit", "cost_limit")
FIELDS = ("name", "args", "model", "model_roles", "config", "epochs", *LIMITS, *_NOT_IDENTITY)


@dataclass(frozen=True)
class Cell:
    """One evaluation.

    Attributes:
        task: a ``FlowTask``, as ``inspect_flow.api.dump_spec`` writes it.
        look: the interim look after which its result counts; see ``stopping``.
    """

    task: Mapping[str, Any]
    look: int = 1

    @cached_property
    def id(self) -> str:
        """A hash of the evaluation, equal on every machine and in every run."""
        task = {k: v for k, v in self.task.items() if k not in _NOT_IDENTITY}
        text = json.dumps(_without_transport(task), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        return str(self.task["name"])

    @property
    def args(self) -> dict[str, Any]:
        return dict(self.task.get("args") or {})

    @property
    def model(self) -> str:
        return model_name(self.task.get("model"))

    @property
    def roles(self) -> dict[str, str]:
        return {role: model_name(one) for role, one in (self.task.get("model_roles") or {}).items()}

    @property
    def epochs(self) -> int:
        given = self.task.get("epochs") or 1
        return int(given["epochs"] if isinstance(given, Mapping) else given)

    @property
    def prefix(self) -> str:
        """A text that is equal for cells of one model whose prompts begin with the same history."""
        shared = {name: value for name, value in self.args.items() if name in _HISTORY}
        return json.dumps([self.model, shared], sort_keys=True)

    @property
    def server(self) -> dict[str, Any] | None:
        """The settings of its model's server; None if the sweep does not start one."""
        model = self.task.get("model")
        own = (model.get("flow_metadata") or {}).get(KEY) if isinstance(model, Mapping) else None
        return (own or {}).get("server")

    @property
    def label(self) -> str:
        args = " ".join(f"{name}={value}" for name, value in self.args.items())
        return f"{self.name} {self.model} {args}".rstrip()


def model_name(model: Any) -> str:
    """Return the name of a model, or of a list of them, in a dumped spec; ``none`` for None."""
    if model is None:
        return "none"
    if isinstance(model, Sequence) and not isinstance(model, str):
        return ",".join(map(model_name, model))
    return str(model["name"] if isinstance(model, Mapping) else model)


def check_playable(cell: Cell) -> None:
    """Refuse a cell that only Flow can play."""
    unknown = sorted(set(cell.task) - set(FIELDS))
    if unknown or not isinstance(cell.task.get("name"), str):
        what = f"sets {', '.join(unknown)}" if unknown else "has no name"
        raise ParameterError(
            f"a task of the spec {what}, which workers on Ray do not play ({cell.task.get('name')});"
            f" they know {', '.join(FIELDS)}; leave it out, or run without --ray"
        )


def _without_transport(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _without_transport(inner)
            for key, inner in value.items()
            if key not in (*_TRANSPORT, "flow_metadata")
        }
    return [_without_transport(one) for one in value] if isinstance(value, list) else value
