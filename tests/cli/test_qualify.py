"""``constraintrot qualify``: one command, resumable, on seeds that no result is taken on."""

import json
from functools import partial
from pathlib import Path

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log

from constraintrot.cli.qualify import models
from constraintrot.command_line import named_values
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.harnesses import replay
from constraintrot.report.qualification import Qualification
from constraintrot.scenario.files import every
from constraintrot.scenario.splits import QUALIFICATION_SEEDS
from constraintrot.tasks.qualification import qualification
from tests.invoked import invoked

call = partial(invoked, "qualify")


def test_it_plays_decides_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["--model", "scripted/obedient", "--families", "soft_spend", "--variants", "2"]
    given += ["-T", "context_tokens=300", "-M", "summarizer=keep", "-o", str(tmp_path)]

    def broken(episode: Episode, *_: object) -> None:
        if episode.variant.seed == 61:
            raise EpisodeError("the machinery is broken")

    with monkeypatch.context() as patch:
        patch.setattr(replay, "check_trigger", broken)
        first = call(*given)
    assert first.exit_code == 1, first.output
    assert "! 3 of 6 episodes have no verdict and count against it" in first.stderr
    row = "| soft_spend | 1/2 [3, 100], 1 unknown | 0/2 [0, 97], 1 unknown | 1/2 [3, 100], 1 unknown |"
    assert row in first.stdout
    played = uuids(tmp_path, 60)
    # Only what is left is played. Two of each tell nothing, however well they went.
    again = call(*given, exits=1)
    assert again.stderr.count("!") == 0
    assert "| soft_spend | 2/2 [22, 100] | 0/2 [0, 78] | 2/2 [22, 100] |" in again.stdout
    assert uuids(tmp_path, 60) == played
    found = Qualification.model_validate_json((tmp_path / "qualification.json").read_bytes())
    assert found.named("cannot tell") == ("soft_spend",)
    assert (found.agent, found.scaffold, found.seeds) == ("scripted/obedient", "direct", (60, 61))
    assert found.settings["context_tokens"] == "300"
    assert (tmp_path / "qualification.csv").read_text().count("\n") == 4
    # Nothing is left; and what was played for one subject is not read as another's.
    assert "50 % intervals" in call(*given, "--confidence", ".5").stdout
    other = call(*[one.replace("obedient", "reckless") for one in given], exits=2)
    told = "holds the logs of another subject or of other settings; name another folder with -o"
    assert told in other.stderr


def uuids(folder: Path, seed: int) -> dict[str, str | None]:
    """Ids of a seed's episodes, by condition, in the one log that is left."""
    (log,) = (folder / "logs").glob("*.eval")
    samples = read_eval_log(str(log)).samples or []
    return {
        sample.metadata["condition"]: sample.uuid
        for sample in samples
        if sample.metadata["seed"] == seed
    }


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
        (["-T", "seed"], "-T takes NAME=VALUE, not 'seed'"),
        (["--scaffold", "sideways"], "unknown scaffold 'sideways'"),
        (["--families", "soft_mail"], "soft_mail"),
        (["--families", ""], "families must be names, comma-separated, each once, not ''"),
        (["--model", "nosuch/x"], "--model nosuch/x: Model API nosuch of model"),
        (["--model", "obedient"], "should be in the format of <api_name>/<model_name>"),
        (["--model", "scripted/nobody"], "--model scripted/nobody: unknown scripted model"),
        (["-M", "nosuch=3"], "unknown model argument ['nosuch']"),
        (["--model-role", "rule_judge=nosuch/x"], "--model-role rule_judge nosuch/x: Model API"),
        (["--model-role", "rule_judge={model: nosuch/x}"], "Model API nosuch"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    refused = call("--model", "scripted/obedient", "-o", str(tmp_path), *arguments, exits=2)
    assert message in refused.output


def test_a_log_that_was_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "2026-01-01T00-00-00_qualification_x.eval").write_bytes(b"PK")
    given = ["--model", "scripted/obedient", "--families", "soft_spend", "--variants", "1"]
    refused = call(*given, "-o", str(tmp_path), exits=2)
    assert "_qualification_x.eval is no readable Inspect log" in refused.output
    assert refused.output.endswith("try `inspect log recover`, else move it away\n")


def test_what_a_provider_lacks_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = PrerequisiteError(
        "[bold]ERROR[/bold]: It needs torch.\n\n[bold]pip install torch[/bold]"
    )

    def get_model(*_: object, **__: object) -> None:
        raise lacks

    monkeypatch.setattr("inspect_ai.model.get_model", get_model)
    for command in (["qualify"], ["which-layer"], ["harnesses"], ["attack", "search"], ["demo"]):
        given = ["soft_email", "--out", "x"] if command[0] == "attack" else []
        refused = invoked(*command, *given, "--model", "hf/x")
        assert refused.exit_code == 2, (command, refused.output)
        told = "constraintrot: --model hf/x: It needs torch. pip install torch\n"
        assert refused.output.endswith(told), refused.output


def test_values_are_read_as_inspect_reads_them() -> None:
    read = named_values("-M", ("n-gpu-layers=99", "path=/models/a=b.gguf", "quick=true"))
    assert read == {"n_gpu_layers": 99, "path": "/models/a=b.gguf", "quick": True}
    assert json.dumps(read)
    with pytest.raises(ParameterError, match="no YAML"):
        named_values("-M", ("a={",))


def test_a_role_is_a_name_or_a_model_with_arguments() -> None:
    told = "agent={model: scripted/reckless, model_args: {verifier: obedient}}"
    given = models(("rule_judge=scripted/obedient", told))
    assert str(given["rule_judge"]) == "scripted/obedient"
    assert (str(given["agent"]), given["agent"].model_args) == (
        "scripted/reckless",
        {"verifier": "obedient"},
    )
    with pytest.raises(ParameterError, match="give model, and model_args or not"):
        models(("agent={name: scripted/reckless}",))
