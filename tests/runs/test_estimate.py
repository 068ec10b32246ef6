"""The estimate before a run: its line, its rates, and the question at a terminal."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from constraintrot.models.in_process import weights
from constraintrot.runs import estimate
from constraintrot.runs.estimate import Rate
from constraintrot.runs.plan import Size, counted
from tests.invoked import invoked

LOCAL = "local/qwen2.5-coder-1.5b"
SIZE = Size(8, 40, (80_000, 120_000), (2_000, 6_000), (0, 20_000))
DEAR = {"openai/some": {"input": 10.0, "output": 100.0}}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that a person at a terminal is asked; each is answered with no."""
    found: list[str] = []

    def confirm(text: str, **_: object) -> None:
        found.append(text)
        raise click.Abort

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr(estimate, "at_terminal", lambda: True)
    return found


def test_a_line_holds_calls_tokens_dollars_and_time() -> None:
    told = estimate.line("local/some", SIZE, (0, 0), Rate(100, 10).seconds(SIZE))
    assert told == (
        "Estimate for local/some: 8 episodes, at most 40 model calls, 0.08 to 0.12 M tokens in,"
        " 0.00 to 0.01 M out, $ 0.00, 17 to 27 minutes on this machine."
    )
    assert estimate.line("openai/some", SIZE, None, None).endswith("no price known.")


def test_a_long_run_is_asked_for_at_a_terminal(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    estimate.before({"openai/some": SIZE}, yes=True, prices=DEAR)
    estimate.before({"scripted/obedient": SIZE}, yes=False)
    assert not asked
    with pytest.raises(click.Abort):
        estimate.before({"openai/some": SIZE}, yes=False, prices=DEAR)
    assert asked == ["Play it?"]
    assert capsys.readouterr().err.count("$ 1.00 to 1.80.") == 2


def test_without_a_terminal_nothing_is_asked() -> None:
    code = (
        "from constraintrot.runs.estimate import before; from constraintrot.runs.plan import Size;"
        "before({'unknown/some': Size(1, 1, (9, 9), (9, 9))}, yes=False)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "no price known" in done.stderr


def test_a_local_models_rate_is_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []

    def measure(model: str) -> Rate:
        measured.append(model)
        return Rate(40.0, 8.0)

    monkeypatch.setenv("CONSTRAINTROT_CACHE", str(tmp_path))
    monkeypatch.setattr(estimate, "_measured", measure)
    monkeypatch.setattr(weights, "path", lambda name: None)
    assert estimate.rate_of(LOCAL) is None
    monkeypatch.setattr(weights, "path", lambda name: tmp_path)
    assert estimate.rate_of(LOCAL) == estimate.rate_of(LOCAL) == Rate(40.0, 8.0)
    assert measured == [LOCAL]
    (file,) = tmp_path.rglob(estimate.RATES)
    assert json.loads(file.read_text()) == {LOCAL: {"read": 40.0, "written": 8.0}}


def test_an_adapter_has_its_models_rate_and_ones_own_weights_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSTRAINTROT_CACHE", str(tmp_path))
    monkeypatch.setattr(estimate, "_measured", lambda model: Rate(40.0, len(model)))
    monkeypatch.setattr(weights, "path", lambda name: tmp_path)
    assert estimate.rate_of(f"{LOCAL}+acting") == estimate.rate_of(LOCAL)
    assert estimate.rate_of("local/mine") is None


def test_the_rates_are_those_of_the_calls() -> None:
    rate = estimate._measured("scripted/obedient")
    assert rate.read > 0
    assert rate.written > 0


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("qualify --model scripted/obedient --variants 2 --families soft_email -o", "6 episodes"),
        ("harnesses --only replay --variants 1 --log-dir", "10 episodes"),
        (
            "attack search soft_email --model scripted/obedient --queries 1 --variants 1"
            " --eval-variants 1 --log-dir logs --out",
            "4 episodes",
        ),
    ],
)
def test_a_command_tells_its_estimate_before_it_plays(
    command: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoked(*command.split(), tmp_path / "out")
    first = next(line for line in result.stderr.splitlines() if line.startswith("Estimate"))
    assert first.startswith(f"Estimate for scripted/obedient: {told}, at most ")
    assert "$ 0.00" in first


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({}, 5),
        ({"conditions": "control"}, 4),
        ({"rounds": 3}, 7),
        ({"probe": True, "awareness": True}, 7),
        ({"scaffold": "review"}, 7),
        ({"defense": "pin_gate"}, 13),
        ({"compactor": "hierarchical"}, 11),
        ({"compactor": "truncate", "steps": 1}, 1),
    ],
)
def test_the_most_calls_of_an_episode(given: dict[str, object], calls: int) -> None:
    asked = {"conditions": "compaction", "variants": 1} | given
    size = counted("constraintrot/soft_email", asked)
    assert (size.episodes, size.requests) == (1, calls)
