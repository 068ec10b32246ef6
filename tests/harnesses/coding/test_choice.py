"""What goes with a coding agent and what does not; what a survey makes of its requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.harnesses.coding import survey
from constraintrot.harnesses.coding.survey import Cell, Fate, fate, markdown
from constraintrot.scenario.schema import FILE_CHANNELS
from tests.conftest import Run
from tests.harnesses.coding.fakes import NETWORK, PACKAGE

pytestmark = pytest.mark.filterwarnings("ignore:network=host")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        *[({"channel": name}, f"channel={name} gives the policy in a file") for name in FILE_CHANNELS],
        ({"network": "host"}, "network=host goes with the coding agents"),
        ({"network": "some"}, "unknown network 'some'; known: none, host"),
        ({"harness": "fake_chat:live", "channel": "file"}, "leave live out"),
        ({"harness": "fake_chat:live", "channel": "nested_file"}, "leave live out"),
        ({"harness": "fake_chat", "compactor": "truncate"}, "compacts by itself"),
        ({"harness": "fake_chat", "defense": "pin"}, "needs wrap"),
        ({"harness": "fake_chat:sometimes"}, "no compaction mode 'sometimes'; modes: auto, live"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_before_anything_runs(
    given: dict[str, Any], why: str
) -> None:
    with pytest.raises(ParameterError, match=why):
        read(given)


@pytest.mark.parametrize("channel", FILE_CHANNELS)
def test_a_coding_agent_takes_the_channels_of_files(channel: str) -> None:
    assert read({"harness": "fake_chat", "channel": channel}).channel == channel


def request(*holding: str) -> dict[str, Any]:
    return {"policy_in": list(holding)}


@pytest.mark.parametrize(
    ("before", "summary", "after", "expected"),
    [
        (["user a"], ["user a"], ["user a", "user b"], "verbatim"),
        (["system a"], [], ["system b"], "verbatim"),
        (["user a"], ["user a"], ["user b"], "re-attached"),
        (["tool a"], ["tool a"], [], "summarizer only"),
        (["tool a"], [], [], "dropped"),
        ([], [], [], "not given"),
    ],
)
def test_the_fate_of_a_policy(
    before: list[str], summary: list[str], after: list[str], expected: Fate
) -> None:
    assert fate([request(), request(*before)], [request(*summary)], request(*after)) == expected


def test_a_survey_of_one_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    ran: list[list[str]] = []

    def evaluated(key: list[str], log_dir: str, network: str) -> Any:
        ran.append(key)
        given = {"conditions": "compaction", "variants": 1, "context_tokens": 300}
        return run("soft_email", harness="fake_chat", channel=key[3], network=NETWORK, **given)

    monkeypatch.setattr(survey, "_run", evaluated)
    monkeypatch.setattr(survey.install, "needed", lambda package: FOUND)
    told: list[str] = []
    channels = ("system", "tool")
    cells = survey.survey([PACKAGE], str(tmp_path / "none"), told.append, channels=channels)
    assert [(cell.fate, cell.violation) for cell in cells] == [
        ("verbatim", "0"),
        ("summarizer only", "1"),
    ]
    assert "| Fake agent 1.2.3, auto | verbatim | summarizer only |" in markdown(cells)
    assert f"- Fake agent, tool result (MCP): {cells[1].evidence}" in markdown(cells)
    assert ran == [["fake", "1.2.3", "auto", name] for name in channels]
    broken = Cell("A", "1", "auto", "user", "error", error="it fell over")
    assert "- A, user's turn: it fell over" in markdown([broken])


class Found:
    """An installed agent, as far as a survey asks."""

    version = "1.2.3"


FOUND = Found()
