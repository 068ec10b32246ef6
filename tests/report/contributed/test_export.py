"""A contributed folder is written from logs, or refused with the reason."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from inspect_ai.log import EvalError, EvalLog, read_eval_log, write_eval_log

from constraintrot.redaction import MASK
from constraintrot.report.contributed.check import check
from constraintrot.report.contributed.folder import CALLS, EPISODES, RUN, read_run
from constraintrot.tasks.rebuildable import TASKS
from tests.conftest import Run
from tests.invoked import invoked

Changed = Callable[..., Path]


@pytest.fixture
def log(shared_run: Run) -> Path:
    return Path(shared_run("soft_deploy", variants=1, conditions="control,compaction").location)


@pytest.fixture
def changed(log: Path, tmp_path: Path) -> Changed:
    """The log, with a change, under another name."""

    def write(change: Callable[[EvalLog], object]) -> Path:
        read = read_eval_log(str(log))
        change(read)
        write_eval_log(read, str(tmp_path / "changed.eval"))
        return tmp_path / "changed.eval"

    return write


def export(folder: Path, *given: str | Path) -> Result:
    return invoked("results", "export", *given, "-o", folder)


def test_a_folder_holds_what_the_grading_reads_and_nothing_else(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    said = export(folder, log, "--machine", "a machine")
    assert said.exit_code == 0, said.output
    assert said.output.endswith("2 of 2 planned episodes played; graded anew, all fit\n")
    assert {path.name for path in folder.iterdir()} == {RUN, EPISODES, CALLS}
    run = read_run(folder)
    assert (run.name, run.model, run.machine) == ("mine", "scripted/obedient", "a machine")
    assert run.logs[0].command.startswith("inspect eval constraintrot/soft_deploy --model scripted")
    lines = [json.loads(line) for line in (folder / CALLS).read_text().splitlines()]
    by_sample = {line["sample"].rpartition("-")[2]: line for line in lines}
    assert by_sample["compaction"]["calls"][0]["arguments"]
    # It refuses by a call or in words; words are kept where no call acts.
    assert "prose" not in by_sample["compaction"]
    again = export(folder, log)
    assert (again.exit_code, "--force overwrites it" in again.output) == (2, True)
    assert export(folder, log, "--force").exit_code == 0


def _of_part(log: EvalLog) -> None:
    log.eval.config.limit = 1


def _of_a_file(log: EvalLog) -> None:
    log.eval.task_registry_name = "constraintrot/mine"


def _private(log: EvalLog) -> None:
    for sample in log.samples or []:
        sample.metadata["private_key"] = "0123"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_of_part, "a part of what was planned"),
        (_of_a_file, "nobody else can rebuild"),
        (_private, "private key"),
    ],
)
def test_what_nobody_can_check_is_refused(
    change: Callable[[EvalLog], None], reason: str, changed: Changed, tmp_path: Path
) -> None:
    said = export(tmp_path / "mine", changed(change))
    assert said.exit_code == 2
    assert reason in said.output
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda log: setattr(log.eval, "model", "other/model"), "another model"),
        (lambda log: setattr(log.eval.model_generate_config, "temperature", 1.0), "generation"),
    ],
)
def test_two_subjects_are_two_folders(
    change: Callable[[EvalLog], None], reason: str, changed: Changed, log: Path, tmp_path: Path
) -> None:
    def retold(read: EvalLog) -> None:
        change(read)
        read.eval.task_id = "another"
        for sample in read.samples or []:
            sample.uuid = f"{sample.uuid}-2"

    said = export(tmp_path / "mine", log, changed(retold))
    assert said.exit_code == 2
    assert reason in said.output
    assert "export each by itself" in said.output


def test_secrets_of_a_command_stay_at_home(changed: Changed, tmp_path: Path) -> None:
    def with_key(read: EvalLog) -> None:
        read.eval.model_args = {
            "api_key": "sk-hidden",
            "device": "cpu",
            "default_headers": {"Authorization": "Bearer hidden"},
            "client": {"base_url": "https://sam:hidden-word@models.example/v1?sig=hidden"},
        }
        read.eval.model_generate_config.extra_headers = {"X-Team": "hidden"}
        read.eval.model_generate_config.extra_body = {"auth": {"sas": "hidden"}, "top_k": 4}

    folder = tmp_path / "mine"
    assert export(folder, changed(with_key)).exit_code == 0
    assert "hidden" not in (folder / RUN).read_text()
    run = read_run(folder)
    assert run.model_args["device"] == "cpu"
    assert run.model_args["api_key"] == MASK
    assert run.generation["extra_body"] == {"auth": {"sas": MASK}, "top_k": 4}


def test_a_retry_stands_for_what_it_retried(changed: Changed, log: Path, tmp_path: Path) -> None:
    def begun_before(read: EvalLog) -> None:
        read.eval.created = "2020-01-01T00:00:00+00:00"
        read.samples = (read.samples or [])[:1]

    folder = tmp_path / "mine"
    said = export(folder, changed(begun_before), log)
    assert said.exit_code == 0, said.output
    assert [one.log for one in read_run(folder).logs] == [log.name]
    assert len(check(folder, TASKS).frame) == 2


def test_an_episode_that_ended_in_an_error_is_counted(changed: Changed, tmp_path: Path) -> None:
    def failed(read: EvalLog) -> None:
        sample = (read.samples or [])[0]
        sample.error = EvalError(message="broken", traceback="", traceback_ansi="")
        sample.scores = None

    folder = tmp_path / "mine"
    said = export(folder, changed(failed))
    assert "1 of 2 planned episodes played" in said.output
    assert "1 of 2 planned episodes have no verdict, more than 10 %" in said.output


def test_a_report_and_a_store_hold_no_secret(changed: Changed, tmp_path: Path) -> None:
    def with_key(read: EvalLog) -> None:
        read.eval.model_args = {"default_headers": {"Authorization": "hidden-word"}}
        read.eval.model_generate_config.extra_body = {"one": [{"api_key": "hidden-word"}]}
        sample = (read.samples or [])[0]
        told = "401: Incorrect API key provided: sk-hidden-word-0123456789"
        sample.error = EvalError(message=told, traceback="", traceback_ansi="")
        sample.scores = None

    log = changed(with_key)
    for words in (
        ["report", str(log), "-o", str(tmp_path / "page")],
        ["store", "add", str(tmp_path / "store"), str(log)],
        ["table", str(log)],
        ["results", "export", str(log), "-o", str(tmp_path / "mine")],
    ):
        said = invoked(*words, exits=int(words[0] == "results"))
        assert "hidden-word" not in said.output
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != log]
    assert len(written) > 8
    for path in written:
        assert b"hidden-word" not in path.read_bytes(), path
