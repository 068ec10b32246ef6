"""What Inspect prints of a wrong configuration is what we wrote."""

import re
import subprocess
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from rich.console import Console

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.models.config_errors import plain_errors, reason, refusal
from constraintrot.tasks.catalogue import soft_email
from constraintrot.tasks.operator_channel import operator_channel
from constraintrot.tasks.probes.gate import rampart_gate
from constraintrot.tasks.probes.schema import rampart_schema
from constraintrot.tasks.probes.sweeps import rampart_cluster, rampart_position
from tests.small_install import ROOT, python

UNKNOWN: dict[str, Any] = {"[floor]": 1}
INSPECT = "from inspect_ai._cli.main import main\nmain()"


def printed(error: PrerequisiteError) -> str:
    """What Inspect's command line prints, which these tests have switched off."""
    console = Console(file=StringIO(), width=1000)
    with console.capture() as captured:
        console.print(f"\n{error.message}\n")
    return captured.get().strip()


def flat(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'constraintrot[langgraph]'",
        "conditions takes names, not ['[red]floor[/red]', 'control']",
        r"no such file: C:\logs\[old]",
        "a link [link=x]y[/link] and a [/ stray end",
    ],
)
def test_brackets_are_printed_and_caught_as_they_were_written(text: str) -> None:
    assert str(refusal(text)) == text
    assert printed(refusal(text)) == text


def test_ours_is_the_cause() -> None:
    with pytest.raises(PrerequisiteError, match=r"^no$") as raised, plain_errors():
        raise ParameterError("no")
    assert isinstance(raised.value.__cause__, ParameterError)


@pytest.mark.parametrize(
    "build",
    [
        lambda: soft_email(conditions=["[floor]"]),
        lambda: operator_channel(conditions=["[floor]"]),
        lambda: rampart_cluster(arms="[floor]"),
        lambda: rampart_gate(arms="[floor]"),
        lambda: rampart_position(query="[floor]"),
        lambda: rampart_schema(arms="[floor]"),
        lambda: get_model("scripted/[floor]"),
        lambda: get_model("local/own", path="/nowhere/[floor].gguf", memoize=False),
    ],
)
def test_every_refusal_keeps_its_brackets(build: Callable[[], Any]) -> None:
    with pytest.raises(PrerequisiteError) as raised:
        build()
    assert isinstance(raised.value.__cause__, ConstraintRotError)
    assert "[floor]" in printed(raised.value)


def test_a_reason_is_one_line_without_markup_whoever_raised_it() -> None:
    theirs = PrerequisiteError("[bold]ERROR[/bold]: no client\n\nNo [blue]KEY[/blue] is set.")
    assert reason(theirs) == "no client No KEY is set."
    assert reason(PrerequisiteError("no file [/data/x]")) == "no file [/data/x]"
    with pytest.raises(PrerequisiteError) as ours, plain_errors():
        raise ParameterError("no [floor]")
    assert reason(ours.value) == "no [floor]"
    assert reason(ValueError("no such [floor]")) == "no such [floor]"
    assert reason(KeyError()) == "KeyError"


def test_nobody_raises_it_without_the_helper() -> None:
    folders = ("constraintrot", "attacks", "defenses", "harnesses", "tasks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100
    naming = {path.name for path in files if re.search(r"PrerequisiteError\(", path.read_text())}
    assert naming == {"config_errors.py"}


@pytest.mark.parametrize(
    ("hidden", "more", "command"),
    [
        (["litellm"], ["--model", "litellm/openai/mine"], "pip install 'constraintrot[litellm]'"),
        pytest.param(
            ["sqlglot"],
            ["--model", "scripted/obedient"],
            "pip install 'constraintrot[eval]'",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_inspects_command_line_prints_the_extra(
    hidden: list[str], more: list[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = python(
        INSPECT, "eval", "constraintrot/hard_proddb", *more, "--display", "plain", modules=hidden
    )
    assert command in flat(done)
    assert "Traceback" not in flat(done)
