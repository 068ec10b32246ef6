"""Sweeps as eval sets of Hawk: every cell once, and what Hawk has no place for is refused."""

from collections import Counter
from typing import Any

import pytest

from constraintrot.errors import ParameterError
from constraintrot.runs.sweep.cell import KEY, Cell
from constraintrot.runs.sweep.hawk import eval_sets
from constraintrot.runs.sweep.loading import Sweep

PACKAGE = "constraintrot[eval]==0.1.0"


def cell(model: Any, seed: int, **more: Any) -> Cell:
    return Cell(
        {"name": "constraintrot/soft_email", "args": {"seed": seed}, "model": model, **more}
    )


def sweep(*cells: Cell, **settings: Any) -> Sweep:
    spec: Any = None
    return Sweep("specs/my_own.py", spec, cells, settings)


def test_each_cell_is_in_one_eval_set_and_models_that_play_the_same_share_it() -> None:
    tuned = {
        "name": "openai/b",
        "config": {"temperature": 0.5},
        "model_args": {"service_tier": "flex"},
    }
    role = {"model_roles": {"summarizer": "openai/s"}, "epochs": 2, "token_limit": 9}
    cells = [cell(model, seed) for model in ("openai/a", tuned) for seed in (0, 1)]
    cells += [cell("openai/a", 2), cell("openai/a", 0, **role)]
    made = eval_sets(sweep(*cells), PACKAGE)
    assert [one["name"] for one in made] == ["my-own-1", "my-own-2", "my-own-3"]
    played = Counter(
        (model["name"], item["args"]["seed"], "model_roles" in one)
        for one in made
        for tasks in one["tasks"]
        for item in tasks["items"]
        for models in one["models"]
        for model in models["items"]
    )
    assert played == Counter((one.model, one.args["seed"], bool(one.roles)) for one in cells)
    assert made[1]["models"][0]["items"] == [
        {"name": "openai/b", "args": {"config": {"temperature": 0.5}, "service_tier": "flex"}}
    ]
    assert {name: made[2][name] for name in ("epochs", "token_limit", "model_roles")} == {
        "epochs": 2,
        "token_limit": 9,
        "model_roles": {"summarizer": {"package": "inspect-ai", "items": [{"name": "openai/s"}]}},
    }
    assert made[0]["tasks"][0]["package"] == PACKAGE
    assert made[0]["tasks"][0]["items"][0]["name"] == "soft_email"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (sweep(cell("openai/a", 0), budgets={"openai/": {}}), "sets budgets, which Hawk"),
        (sweep(cell({"name": "v", "flow_metadata": {KEY: {"server": {"command": ["x"]}}}}, 0)), "servers"),
        (sweep(cell("openai/a", 0, turn_limit=3)), "turn_limit"),
        (sweep(cell(None, 0)), "names no model"),
        (sweep(cell("openai/a", 0, config={"seed": 1})), "a task's `config`"),
        (sweep(cell("openai/a", 0, model_roles={"judge": ["x", "y"]})), "several models"),
        (sweep(Cell({"name": "other/task", "model": "openai/a"})), "other packages .*other/task"),
    ],
)  # fmt: skip
def test_what_hawk_has_no_place_for_is_refused(given: Sweep, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        eval_sets(given, PACKAGE)
