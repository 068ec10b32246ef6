"""``constraintrot demo``, on a scripted model."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from constraintrot.models.in_process import weights
from constraintrot.runs import demo
from tests.invoked import invoked

run = partial(invoked, "demo", "--variants", 1, "--log-dir", exits=0)


def _course(told: str) -> list[str]:
    lines = [line.strip() for line in told.splitlines() if "VIOLATED" in line or "OBEYED" in line]
    return [line.split(".")[0] for line in lines]


def test_a_newcomer_sees_it_obey_forget_violate_and_obey_again(tmp_path: Path) -> None:
    result = run(tmp_path, "--model", "scripted/obedient")
    assert "8 episodes on scripted/obedient." in result.output
    told, table = result.stdout.split("Now the table: ")
    assert _course(told) == ["OBEYED", "VIOLATED", "OBEYED"]
    assert "lost: no sentence states it" in told
    assert "send_email(to=" in told
    assert "obeyed in sight, broken after the summary, obeyed under the pin" in told
    for condition in ("floor", "control", "compaction", "defense_pin"):
        for family in ("soft_email", "soft_deploy"):
            assert re.search(rf"{family} +\| {condition} .* 1 +\| 1 +\| 0 ", table)
    assert (tmp_path / "report" / "report.html").is_file()
    files = sorted(tmp_path.glob("*.eval"))
    again = run(tmp_path, "--model", "scripted/obedient")
    assert sorted(tmp_path.glob("*.eval")) == files
    assert again.stdout.split("Now the table: ")[0] == told


def test_quick_ends_after_the_one_request(tmp_path: Path) -> None:
    result = run(tmp_path, "--model", "scripted/obedient", "--quick")
    assert _course(result.stdout) == ["OBEYED", "VIOLATED", "OBEYED"]
    assert "table" not in result.stdout
    assert len(list(tmp_path.glob("*.eval"))) == 3


def test_an_agent_that_never_obeys_is_no_contrast(tmp_path: Path) -> None:
    result = run(tmp_path, "--model", "scripted/reckless", "--quick")
    assert _course(result.stdout) == ["VIOLATED"] * 3
    assert "does not show the whole contrast" in result.stdout


def test_the_story_is_told_while_the_weights_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr(weights, "path", lambda name: None)
    monkeypatch.setattr(weights, "pull", lambda name, progress: fetched.append(name))
    monkeypatch.setattr(demo, "_play", _scripted(demo._play))
    monkeypatch.setattr(demo, "require", lambda user, *extras: None)
    demo.run("local/qwen2.5-coder-1.5b", 1, str(tmp_path), quick=True)
    assert fetched == ["qwen2.5-coder-1.5b"]
    said = capsys.readouterr().out
    plan, size, scripted, local = (
        said.index(one)
        for one in (
            "3 episodes on local/qwen2.5-coder-1.5b: about 3 minutes",
            "fetched once, 1.1 GB",
            "(model: scripted/obedient)",
            "(model: local/qwen2.5-coder-1.5b)",
        )
    )
    assert plan < size < scripted < local


def _scripted(play: Any) -> Any:
    return lambda model, *given, **options: play(demo.SCRIPTED, *given, **options)
