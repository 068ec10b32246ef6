"""The proof of ``pin status``: a compaction in an agent, here one that is made for this test."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.checking import program_of
from constraintrot.coding_agents.proof.endpoint import SUMMARY, Script, serving
from constraintrot.coding_agents.proof.model_apis import protocol_of
from constraintrot.coding_agents.proof.proof import Proof, play, prove
from constraintrot.coding_agents.proof.sandbox import without_network
from constraintrot.coding_agents.proof.wire import Said, said, tools_of
from tests.coding_agents.pins.conftest import RULE

# Looked for in the real home, which no test has.
PROGRAMS = {name: program_of(name) for name in AGENTS}
# As little of Codex as the proof needs: hooks.json, OpenAI's responses, a compaction of its own.
AGENT = """#!@PYTHON@
import json, os, pathlib, subprocess, sys, tomllib, urllib.request
home = pathlib.Path(os.environ["HOME"])
assert set(os.environ) <= {"HOME", "PATH", "TERM", "LANG", "TMPDIR", "CHECK_KEY", "LC_CTYPE"}
config = tomllib.loads((home / ".codex/config.toml").read_text())
url = config["model_providers"]["check"]["base_url"] + "/responses"
kept = home / "session.json"
session = json.loads(kept.read_text()) if "resume" in sys.argv else {"input": [], "used": 0}

def say(role, text):
    session["input"].append({"type": "message", "role": role,
                             "content": [{"type": "input_text", "text": text}]})

def fire(event, **more):
    for entry in json.loads((home / ".codex/hooks.json").read_text())["hooks"].get(event, []):
        given = json.dumps({"hook_event_name": event, "session_id": "s", **more})
        done = subprocess.run(["sh", "-c", entry["hooks"][0]["command"]], input=given,
                              capture_output=True, text=True)
        if done.stdout:
            say("developer", json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

def ask(tools):
    body = json.dumps({"model": "m", "input": session["input"], "tools": tools}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        read = json.load(answer)
    session["used"] = read["usage"]["total_tokens"]
    return read["output"][0]["content"][0]["text"]

if not session["input"]:
    fire("SessionStart", source="startup")
if session["used"] > config["model_auto_compact_token_limit"]:
    say("user", "Write a handoff summary of all this.")
    summary = ask([])
    session["input"] = []
    say("user", summary)
    fire("SessionStart", source="@COMPACT@")
fire("UserPromptSubmit")
say("user", sys.argv[-1])
ask([{"type": "function", "name": "shell", "parameters": {}}])
kept.write_text(json.dumps(session))
"""


def agent(folder: Path, text: str = AGENT) -> Path:
    """The program of an agent."""
    path = folder / "codex"
    path.write_text(text.replace("@PYTHON@", sys.executable))
    path.chmod(0o755)
    return path


def test_a_pin_that_the_agent_hands_on_is_proved(tmp_path: Path) -> None:
    proof = prove("codex", agent(tmp_path), f"{RULE}\n", network=without_network() is None)
    assert proof == Proof(
        "codex",
        compacted=3,
        after=4,
        roles=["developer"],
        verbatim=True,
        first_turn=False,
        summarizer=True,
        amended=["developer"],
        requests=5,
        seconds=proof.seconds,
    )
    assert proof.held
    first, second = proof.lines()
    assert first.startswith("PROVED with the agent")
    assert second == "amended: in the next request (role: developer)"


FORGETS = ('fire("SessionStart", source="@COMPACT@")', "pass")
STOPS = ("import json", "raise SystemExit(print('no model') or 3)\nimport json")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (FORGETS, "NOT HELD: request 3 asked for a summary, and request 4, the next one, did not"),
        (STOPS, "NOT PROVED: the agent ended with 3: no model"),
    ],
    ids=["forgets", "stops"],
)
def test_an_agent_that_does_otherwise_proves_nothing(
    tmp_path: Path, change: tuple[str, str], line: str
) -> None:
    (tmp_path / "rules.txt").write_text(RULE)
    proof = play("codex", str(agent(tmp_path, AGENT.replace(*change))), tmp_path)
    assert not proof.held
    assert proof.lines()[0].startswith(line)


# The shapes of requests as the agents send them, written by hand.
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "result"},
        ],
        "tools": [{"type": "function", "function": {"name": "read"}}],
    },
    "/v1/responses": {
        "instructions": "be brief",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "hello"}],
            },
            {"type": "function_call", "name": "read", "arguments": "{}"},
        ],
        "tools": [{"type": "function", "name": "read"}, {"type": "web_search"}],
    },
    "/v1/messages?beta=true": {
        "system": [{"type": "text", "text": "be brief"}],
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "read", "input": {}}]},
        ],
        "tools": [{"name": "read", "input_schema": {}}],
    },
    "/v1beta/models/m:streamGenerateContent?alt=sse": {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hello"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "read"}]}],
    },
}


@pytest.mark.parametrize("path", REQUESTS)
def test_a_request_of_each_protocol_is_read(path: str) -> None:
    protocol, body = protocol_of(path), REQUESTS[path]
    assert protocol is not None
    first, second = said(protocol, body)[:2]
    assert (first.text, second) == ("be brief", Said("user", "hello"))
    assert tools_of(protocol, body)[0] == "read"


@pytest.mark.parametrize("path", REQUESTS)
@pytest.mark.parametrize("stream", [False, True])
def test_each_protocol_is_answered(path: str, stream: bool) -> None:
    script = Script()
    asked = {**REQUESTS[path], "stream": stream}
    with serving(script) as port:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", json.dumps(asked).encode()
        )
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
    events = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    assert bool(events) == (stream or "stream" in path)
    joined = "".join(events) if events else text
    assert "ok." in joined
    for event in events or [text]:
        assert event == "[DONE]" or json.loads(event)
    (kept,) = script.requests
    assert not kept.summary


def test_a_summary_is_asked_for_without_tools_or_behind_the_last_answer() -> None:
    script = Script()
    history = "CHECK-TURN-1 hello"
    script.reply("chat", {"messages": [{"role": "user", "content": f"Summarize: {history}"}]})
    messages = [
        {"role": "user", "content": history},
        {"role": "assistant", "content": "ok."},
        {"role": "user", "content": "Write a summary."},
    ]
    tools = [{"name": "read"}]
    reply = script.reply("messages", {"messages": messages, "tools": tools})
    assert SUMMARY in reply.text
    # The policies speak of summaries too, and stand beside a turn of the user's.
    messages[2]["content"] = "CHECK-TURN-2 whatever a summary says"
    script.reply("messages", {"messages": messages, "tools": tools})
    assert [request.summary for request in script.requests] == [True, True, False]


def test_what_is_no_request_for_an_answer_is_not_kept() -> None:
    script = Script()
    with serving(script) as port:
        url = f"http://127.0.0.1:{port}/v1/messages/count_tokens"
        with urllib.request.urlopen(urllib.request.Request(url, b"{}")) as answer:
            assert json.load(answer)["input_tokens"]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models")
    assert script.requests == []


@pytest.mark.soak
@pytest.mark.parametrize("name", AGENTS)
def test_each_agent_that_is_installed_holds_a_pin(name: str, home: Path) -> None:
    program = PROGRAMS[name]
    if program is None:
        pytest.skip(f"{AGENTS[name].title} is not installed, so its compaction was not played")
    proof = prove(name, program, f"{RULE}\n")
    assert proof.held, proof
    assert proof.amended, proof
