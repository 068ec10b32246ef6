"""The tutorials run as they are written, a scripted model in place of the local one."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from constraintrot import extras
from constraintrot.runs import recorded
from constraintrot.scenario import user_files
from tests.docs_code import DOCS, run_page
from tests.test_commands import run, sequences

FOLDER = DOCS / "tutorials"
NOTEBOOK = FOLDER / "first-look.ipynb"
# What they need that a test has not: an index, weights.
_INSTALLS = ("$ pip install", "$ constraintrot models pull")


def commands(page: str) -> list[str]:
    """A tutorial's commands, but for those that install something."""
    lines = [line for block in sequences(f"docs/tutorials/{page}") for line in block]
    return [line for line in lines if not line.startswith(_INSTALLS)]


def test_measure_your_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)
    monkeypatch.chdir(tmp_path)
    lines = commands("measure-your-model.md")
    assert len(lines) == 8
    assert sum("--model local/qwen2.5-coder-1.5b" in line for line in lines) == 2
    said: list[str] = []
    for line in lines:
        if line.startswith("$ constraintrot report"):
            continue  # tests/report has it.
        scripted = line.replace("local/qwen2.5-coder-1.5b", "scripted/obedient")
        shorter = scripted.replace("variants=2", "variants=1")
        result = run(shorter.replace("scenario check", "scenario check --seeds 2"))
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
        said.append(result.output)
    first, second = (text for text in said if "| condition " in text)
    rates = re.findall(r"^\| (\w+) +\| (\d+/\d+)", first, re.MULTILINE)
    assert rates == [("floor", "1/1"), ("control", "0/1"), ("compaction", "1/1")]
    assert re.search(r"\| pin +\| compaction +\| 0/1", second)


def test_protect_your_agent(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_page("tutorials/protect-your-agent.md")
    assert names["block"].text.count("Send email only to addresses at example.org.") == 1
    (pinned,) = names["rules"].pins()
    assert pinned.content.endswith("example.org or example.net.")
    assert "only its author changes its content" in capsys.readouterr().out


def test_doctor_your_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(FOLDER / "session.jsonl", "session.jsonl")
    page = (FOLDER / "doctor-your-sessions.md").read_text()
    (rules,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    Path("rules.yaml").write_text(rules)
    with_rules, without, written = commands("doctor-your-sessions.md")
    said = run(with_rules).output
    assert "1 of 2 rules did not survive the compaction" in said
    assert '"Never force-push to the release branch."\n    not stated any more' in said
    assert "Confirmed: 1 call broke a rule that was lost before" in said
    assert "Never force-push" in run(without).output
    if not all(extras.installed(name) for name in extras.MODULES["doctor"]):
        pytest.skip("!!! constraintrot[doctor] is not installed: the report is NOT TRIED")
    assert run(written).exit_code == 0
    for name in ("report/doctor.html", "report/junit.xml", "pins/lost-rules.md"):
        assert (tmp_path / name).is_file()


def test_from_a_finding_to_a_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)
    monkeypatch.setattr(recorded, "SUMMARIZERS", recorded.SUMMARIZERS[:1])
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(FOLDER / "session.jsonl", "session.jsonl")
    finding, question, *gate = commands("from-a-finding-to-a-gate.md")
    assert '"Never force-push to the release branch."' in run(finding).output
    compared = run(question).output
    assert re.search(r"summarize +\| continue_work +\| none +\| compaction \| 1/1", compared)
    assert re.search(r"summarize +\| continue_work +\| pin +\| compaction \| 0/1", compared)
    assert (tmp_path / "rule.yaml").is_file()
    assert len(gate) == 5
    for line in gate:
        result = run(line)
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
    assert result.output.rstrip().splitlines()[-1].startswith("HOLDS: ")
    assert (tmp_path / "verdict.xml").is_file()
    # The workflow's commands are these, in a loop, and a check.
    page = (FOLDER / "from-a-finding-to-a-gate.md").read_text()
    workflow = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0])
    job = workflow["jobs"]["gate"]
    install, check, play, decide = (step["run"] for step in job["steps"] if "run" in step)
    assert install.startswith("pip install")
    assert run(f"$ {check}").exit_code == 0
    assert f"$ {decide}" == gate[-1]
    (shown,) = (line.strip() for line in play.splitlines() if "inspect eval" in line)
    settings = [("false", "none"), ("false", "pin"), ("true", "none"), ("true", "pin")]
    looped = [
        shown.replace("$MODEL", job["env"]["MODEL"])
        .replace("$allowed", allowed)
        .replace("$defense", defense)
        for allowed, defense in settings
    ]
    plain = {"-T allowed=false": "", "-T defense=none": "", "--display plain": ""}
    for line, wanted in zip(looped, gate, strict=False):
        for left_out in plain:
            line = line.replace(left_out, "")
        assert line.split() == wanted.removeprefix("$ ").split()


def test_add_a_compactor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page("tutorials/add-a-compactor.md")
    # Of a policy's first 25 characters the word lists may not decide; the tutorial says so.
    assert set(names["compacted"]["state"]) == {"lost", "cannot tell"}
    assert (names["compacted"]["tokens_after"] < names["compacted"]["tokens_before"]).all()
    assert "| compaction | 8/8 = 100 %" in capsys.readouterr().out


def cells() -> list[str]:
    """The code of the notebook."""
    told = json.loads(NOTEBOOK.read_text())
    assert (told["nbformat"], told["nbformat_minor"]) == (4, 4)
    return ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_python_and_committed_without_output() -> None:
    for code in cells():
        compile(code, NOTEBOOK.name, "exec")
        assert not code.startswith(("!", "%"))
    assert '"outputs": []' in NOTEBOOK.read_text()
    assert '"output_type"' not in NOTEBOOK.read_text()


@pytest.mark.soak
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in cells():
        exec(compile(code, NOTEBOOK.name, "exec"), names)
    assert names["log"].status == "success"
    last = eval(cells()[-1].splitlines()[-1], names)
    assert last.outcome == "violated"
