"""``constraintrot qualify``: one command, resumable, on seeds that no result is taken on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log

from constraintrot.cli.main import main
from constraintrot.cli.qualify import models, pairs
from constraintrot.errors import ParameterError
from constraintrot.report.qualification import Qualification
from constraintrot.scenario.files import every
from constraintrot.scenario.splits import QUALIFICATION_SEEDS
from constraintrot.tasks.qualification import qualification


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["qualify", *arguments])


def test_it_plays_decides_and_goes_on_where_it_was(tmp_path: Path) -> None:
    given = ["--model", "scripted/obedient", "--families", "soft_spend", "--variants", "2"]
    given += ["-T", "context_tokens=300", "-M", "summarizer=keep", "-o", str(tmp_path)]
    first = call(*given)
    # Two episodes of each tell nothing, however well they went.
    assert first.exit_code == 1, first.output
    assert "| soft_spend | 2/2 [22, 100] | 0/2 [0, 78] | 2/2 [22, 100] |" in first.output
    found = Qualification.model_validate_json((tmp_path / "qualification.json").read_bytes())
    assert found.named("cannot tell") == ("soft_spend",)
    assert (found.agent, found.scaffold, found.seeds) == ("scripted/obedient", "direct", (60, 61))
    assert found.settings["context_tokens"] == "300"
    assert (tmp_path / "qualification.csv").read_text().count("\n") == 4
    logs = list((tmp_path / "logs").glob("*.eval"))
    # Nothing is left to play.
    again = call(*given, "--confidence", ".5")
    assert list((tmp_path / "logs").glob("*.eval")) == logs
    assert "50 % intervals" in again.output
    (log,) = logs
    assert {sample.metadata["condition"] for sample in read_eval_log(str(log)).samples or []} == {
        "floor",
        "control",
        "allowed",
    }
    # What was played for one subject is not read as another's.
    other = call(*[one.replace("obedient", "reckless") for one in given])
    assert other.exit_code != 0


def test_its_seeds_are_none_of_the_results_and_every_family_has_them() -> None:
    assert QUALIFICATION_SEEDS.start == 60
    for scenario in every():
        assert scenario.seeds("held_out")[QUALIFICATION_SEEDS.stop - 1]
    with pytest.raises(PrerequisiteError, match="seeds 0 to 1 are not among"):
        qualification(families="soft_email", seed=0, variants=2)
    with pytest.raises(PrerequisiteError, match="seeds 60 to 96 are not among"):
        qualification(families="soft_spend", variants=37)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-T", "seed=3"], "-T seed is this command's to set"),
        (["-T", "seed"], "-T seed: give NAME=VALUE"),
        (["--scaffold", "sideways"], "unknown scaffold 'sideways'"),
        (["--families", "soft_mail"], "soft_mail"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    refused = call("--model", "scripted/obedient", "-o", str(tmp_path), *arguments)
    assert refused.exit_code == 2
    assert message in refused.output


def test_values_are_read_as_inspect_reads_them() -> None:
    read = pairs("-M", ("n-gpu-layers=99", "path=/models/a=b.gguf", "quick=true"))
    assert read == {"n_gpu_layers": 99, "path": "/models/a=b.gguf", "quick": True}
    assert json.dumps(read)
    with pytest.raises(ParameterError, match="no YAML"):
        pairs("-M", ("a={",))


def test_a_role_is_a_name_or_a_model_with_arguments() -> None:
    told = "agent={model: scripted/reckless, model_args: {verifier: obedient}}"
    given = models(("rule_judge=scripted/obedient", told))
    assert given["rule_judge"] == "scripted/obedient"
    assert (str(given["agent"]), given["agent"].model_args) == (
        "scripted/reckless",
        {"verifier": "obedient"},
    )
    with pytest.raises(ParameterError, match="give model, and model_args or not"):
        models(("agent={name: scripted/reckless}",))
