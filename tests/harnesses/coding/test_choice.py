"""What goes with a coding agent and what does not, its pin, and what a survey makes of requests."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.tool import ToolInfo

from constraintrot.coding_agents.drivers import DRIVERS
from constraintrot.coding_agents.drivers.agent import Place
from constraintrot.coding_agents.pins.record import records
from constraintrot.coding_agents.sandbox import environment
from constraintrot.coding_agents.wire.conversation import read as read_request
from constraintrot.coding_agents.wire.messages import ModelRequest, with_arguments
from constraintrot.defenses.pin import declared
from constraintrot.defenses.pinning.pinned_block import PROVENANCE, PinnedBlock
from constraintrot.episode.channels.file import FILE_CHANNELS
from constraintrot.errors import ParameterError
from constraintrot.evaluation.defense import Deployment
from constraintrot.evaluation.parameters import read
from constraintrot.harnesses import HARNESSES
from constraintrot.harnesses.coding.files import install_pins, roles_of
from constraintrot.runs.survey_matrix import Cell, Fate, fate, markdown
from tests.harnesses.coding.fakes import INSTALLED, Fake


@pytest.mark.parametrize(
    ("given", "why"),
    [
        *[({"channel": name}, f"channel={name} gives the policy in a file") for name in FILE_CHANNELS],
        ({"network": "host"}, "network=host goes with the coding agents"),
        ({"network": "some"}, "unknown network 'some'; known: none, host"),
        ({"harness": "fake_chat:live", "channel": "file"}, "leave live out"),
        ({"harness": "fake_chat:live", "channel": "nested_file"}, "leave live out"),
        ({"harness": "fake_chat", "compactor": "truncate"}, "compacts by itself"),
        ({"harness": "fake_chat", "defense": "pin_extract"}, "needs wrap"),
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


@pytest.mark.parametrize("agent", DRIVERS)
def test_each_driver_has_a_harness_in_the_modes_of_the_catalogue(agent: str) -> None:
    spec = HARNESSES.get(f"coding/{agent}")
    assert spec.modes == DRIVERS[agent].package.modes
    assert callable(spec.factory("auto", False))


def test_a_coding_agent_compacts_as_often_as_asked_and_is_pinned_by_its_own_hook() -> None:
    parameters = read({"harness": "fake_chat", "rounds": 3, "defense": "pin"})
    assert (parameters.rounds, parameters.plays[0].defense.name) == (3, "pin")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    box: Any = SimpleNamespace(folder=tmp_path, home=tmp_path / "home", work=tmp_path / "work")
    box.home.mkdir()
    box.url = "http://127.0.0.1:1"
    return Place(box, INSTALLED, "", (), compacts=True)


def offered(names: tuple[str, ...]) -> tuple[ToolInfo, ...]:
    return tuple(ToolInfo(name=name, description=name) for name in names)


@pytest.mark.parametrize(("tools", "off"), [((), True), (("read_file",), False)])
@pytest.mark.parametrize(("agent", "key"), [("gemini", "exclude"), ("qwen", "disabled")])
def test_an_agent_keeps_a_scenario_s_tool_that_has_the_name_of_its_own(
    place: Place, agent: str, key: str, tools: tuple[str, ...], off: bool
) -> None:
    DRIVERS[agent].prepare(replace(place, tools=offered(tools)))
    settings = json.loads((place.box.home / f".{agent}/settings.json").read_text())
    assert ("read_file" in settings["tools"][key]) == off
    assert "run_shell_command" in settings["tools"][key]


@pytest.mark.parametrize(
    ("options", "tools", "denied"),
    [
        ({}, (), ("terminal", "file_editor", "task")),
        ({"reads_files": True, "delegates": True}, (), ("terminal",)),
        ({}, ("task",), ("terminal", "file_editor")),
    ],
)
def test_the_tools_that_openhands_offers_all_the_same_are_denied(
    place: Place, options: dict[str, Any], tools: tuple[str, ...], denied: tuple[str, ...]
) -> None:
    given = replace(place, system="Be brief.", tools=offered(tools), **options)
    DRIVERS["openhands"].prepare(given)
    folder = place.box.home / ".openhands"
    (entry,) = json.loads((folder / "hooks.json").read_text())["hooks"]["PreToolUse"]
    known = {"terminal", "file_editor", "task", "handbook"}
    assert known & set(entry["matcher"].split("|")) == set(denied)
    command = entry["hooks"][0]["command"]
    said = subprocess.run(command, shell=True, capture_output=True, check=True).stdout
    assert json.loads(said)["decision"] == "deny"
    assert (folder / "skills/operator.md").read_text() == "Be brief."


def test_what_openhands_asks_for_in_each_call_is_neither_offered_nor_graded() -> None:
    asked = {"type": "string"}
    schema = {"properties": {"to": asked, "security_risk": asked}, "required": ["security_risk"]}
    call = {"name": "mail", "arguments": '{"to": "ann", "security_risk": "LOW"}'}
    made = {"role": "assistant", "tool_calls": [{"id": "1", "function": call}]}
    tools = [{"type": "function", "function": {"name": "mail", "parameters": schema}}]
    body = {"messages": [made], "tools": tools}
    added = DRIVERS["openhands"].added
    request = ModelRequest.of(read_request("chat", body)).less(added)
    (tool,), (reply,) = request.tools, request.messages
    assert (list(tool.parameters.properties), tool.parameters.required) == (["to"], [])
    assert isinstance(reply, ChatMessageAssistant)
    assert reply.tool_calls
    assert reply.tool_calls[0].arguments == {"to": "ann"}
    answered = with_arguments(reply, added).tool_calls or []
    assert answered[0].arguments == {"to": "ann", "security_risk": "LOW"}


def test_a_summary_that_qwen_has_is_no_request_for_one() -> None:
    def kind(text: str) -> bool:
        body = {"messages": [{"role": "user", "content": text}]}
        return DRIVERS["qwen"].is_summary(ModelRequest.of(read_request("chat", body)))

    assert kind("Think first. Then, produce the <state_snapshot> XML.")
    assert not kind("<state_snapshot>what was said</state_snapshot>")


def test_node_beside_an_agent_s_program_comes_before_the_user_s(tmp_path: Path) -> None:
    program, node = tmp_path / "qwen", tmp_path / "node"
    assert str(tmp_path) not in environment(tmp_path, None, str(program))["PATH"]
    node.touch(0o755)
    assert environment(tmp_path, None, str(program))["PATH"].split(":")[0] == str(tmp_path)


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


def test_the_matrix_names_the_requests_that_show_it() -> None:
    kept = Cell("A", "1", "auto", "system", "verbatim", "3", "4", "5", "0", "2026-11-22")
    broken = Cell("A", "1", "auto", "user", "error", error="it fell over")
    text = markdown([kept, broken, replace(kept, compactions=2, tokens=9000)])
    assert "run by 2026-11-22" in text
    assert "| A 1, auto | verbatim | error |" in text
    assert "| A 1, auto, 2 compactions, 9,000 tokens of history | verbatim | - |" in text
    assert "- A 1, auto, system prompt: #3, #4 -> #5" in text
    assert "- A 1, auto, user's turn: it fell over" in text


RULES = ("Send email only to addresses at example.org.", "Never <deploy> on a Friday.")


def test_a_hook_hands_out_every_declared_policy_and_the_user_s_own_home_is_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_HOME", str(tmp_path / "the user's"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    text = install_pins(PinnedBlock(declared(Deployment(RULES))), Fake("chat"), place)
    assert all(rule in text for rule in RULES)
    assert text.startswith("Standing policies, pinned by the operator of this agent")
    assert "hook.py" in (place.box.home / ".fake/hooks.json").read_text()
    assert not (tmp_path / "the user's").exists()
    assert records() == []


def test_a_heading_of_the_defense_s_own_is_the_hook_s(place: Place) -> None:
    pins = PinnedBlock(declared(Deployment(RULES)), heading=PROVENANCE)
    assert install_pins(pins, Fake("chat"), place).startswith(PROVENANCE)


def test_a_text_is_found_where_an_agent_wrote_its_angle_brackets_as_html() -> None:
    written = ChatMessageUser(content="<hook_context>Never  &lt;deploy&gt; on a\nFriday.</hook>")
    messages: list[ChatMessage] = [ChatMessageSystem(content="Never deploy on a Friday."), written]
    assert roles_of(RULES[1], messages) == ["user"]
    assert roles_of("", messages) == []
