"""The proof of ``pin status``: a compaction in an agent, here one that is made for this test."""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from constraintrot.coding_agents.catalogue import package
from constraintrot.coding_agents.endpoint import serving
from constraintrot.coding_agents.pins.agents import AGENTS, Scope
from constraintrot.coding_agents.pins.checking import program_of
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.installing import Change, install
from constraintrot.coding_agents.pins.record import Pin, records, together
from constraintrot.coding_agents.proof.drivers import DRIVERS, Place
from constraintrot.coding_agents.proof.proof import Proof, prove
from constraintrot.coding_agents.proof.script import SUMMARY, Script
from constraintrot.coding_agents.proof.stage import stage
from constraintrot.coding_agents.sandbox import without_network
from constraintrot.coding_agents.wire.answers import Protocol, protocol_of
from constraintrot.coding_agents.wire.conversation import read
from tests.coding_agents.pins.conftest import settings, write_settings
from tests.invoked import invoked

Pinned = Callable[..., Change]
# Looked for in the real home, which no test has.
PROGRAMS = {name: program_of(name) for name in AGENTS}
VERSION = package("codex").version
# As little of Codex as the proof needs: hooks.json, OpenAI's responses, a compaction of its own,
# and a server that says which hooks the user trusts.
AGENT = """#!@PYTHON@
import json, os, pathlib, subprocess, sys, tomllib, urllib.request
if sys.argv[1:] == ["--version"]:
    raise SystemExit(print("codex-cli @VERSION@"))
home = pathlib.Path(os.environ["HOME"])
folder = pathlib.Path(os.environ.get("CODEX_HOME", home / ".codex"))
hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
if sys.argv[1:] == ["app-server"]:
    state = tomllib.loads((folder / "config.toml").read_text()).get("hooks", {}).get("state", {})
    for line in sys.stdin:
        asked = json.loads(line)
        listed = [
            {"eventName": event, "command": entry["hooks"][0]["command"], "enabled": True,
             "trustStatus": "trusted" if f"{folder}/hooks.json:{event}" in state else "untrusted"}
            for event, entries in hooks.items() for entry in entries
        ] if asked["method"] == "hooks/list" else []
        if "id" in asked:
            print(json.dumps({"id": asked["id"], "result": {"data": [{"hooks": listed}]}}), flush=True)
    raise SystemExit
allowed = {"HOME", "PATH", "TERM", "LANG", "TMPDIR", "LOOPBACK_KEY", "LC_CTYPE"}
assert set(os.environ) <= allowed, os.environ
config = tomllib.loads("\\n".join(b for a, b in zip(sys.argv, sys.argv[1:]) if a == "-c"))
assert config["mcp_servers"] == {"mine": {"enabled": False}}, config
url = config["model_providers"]["loopback"]["base_url"] + "/responses"
kept = home / "session.json"
session = json.loads(kept.read_text()) if "resume" in sys.argv else {"input": [], "used": 0}

def say(role, text):
    session["input"].append({"type": "message", "role": role,
                             "content": [{"type": "input_text", "text": text}]})

def fire(event, **more):
    for entry in hooks.get(event, []):
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
    fire("SessionStart", source="compact")
fire("UserPromptSubmit")
say("user", sys.argv[-1])
ask([{"type": "function", "name": "shell", "parameters": {}}])
kept.write_text(json.dumps(session))
"""
MINE = 'notify = ["mine"]\n[mcp_servers.mine]\ncommand = "mine"\n'


@pytest.fixture
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write Codex' program to the PATH, and a user's settings; all hooks are trusted."""
    folder = home / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def made(*change: str, trusts: bool = True) -> Path:
        text = AGENT.replace(change[0], change[1]) if change else AGENT
        path = folder / "codex"
        path.write_text(text.replace("@PYTHON@", sys.executable).replace("@VERSION@", VERSION))
        path.chmod(0o755)
        config = settings(home, "codex").with_name("config.toml")
        config.parent.mkdir(exist_ok=True)
        hooks = settings(home, "codex")
        trusted = (f'[hooks.state."{hooks}:{event}"]\n' for event in AGENTS["codex"].events)
        config.write_text(MINE + ("".join(trusted) if trusts else ""))
        return path

    return made


def proved(home: Path, program: Path) -> Proof:
    (record,) = records()
    return prove(together(record, [record], home), program, network=without_network() is None)


def test_a_pin_that_the_agent_hands_on_is_proved_in_a_copy_of_the_user_s_settings(
    home: Path, agent: Callable[..., Path], pinned: Pinned
) -> None:
    write_settings(home, '{"hooks": {"Stop": [{"hooks": [{"command": "false"}]}]}}\n', "codex")
    program = agent()
    folder = pinned("codex").folder
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    proof = proved(home, program)
    assert proof == Proof(
        "codex",
        VERSION,
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
    first, second = proof.lines()
    assert first.startswith(f"PROVED with Codex CLI {VERSION}, the version that was tried, in")
    assert second == "amended: in the next request (role: developer)"
    # Neither the user's rules nor what the pin keeps was touched.
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_version_that_was_not_tried_is_named(
    home: Path, agent: Callable[..., Path], pinned: Pinned
) -> None:
    program = agent("@VERSION@", "9.1.0-beta.2")
    pinned("codex")
    assert (
        proved(home, program)
        .lines()[0]
        .startswith(f"PROVED with Codex CLI 9.1.0-beta.2 (tried: {VERSION})")
    )


FORGETS = ('fire("SessionStart", source="compact")', "pass")
STOPS = (
    "hooks = json",
    'print("no model") or sys.exit(3) if "exec" in sys.argv else 0\nhooks = json',
)
REFUSES = ('"result": {"data": [{"hooks": listed}]}', '"error": {"message": "unknown method"}')
HIDES = ("for event, entries in hooks.items()", "for event, entries in ()")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (FORGETS, "NOT HELD by Codex CLI {}, the version that was tried: request 3 asked for a"
                  " summary, and request 4, the next one, did not hold the policies"),
        (STOPS, "NOT PROVED with Codex CLI {}, the version that was tried: the agent ended with 3:"
                " no model"),
        (REFUSES, "NOT PROVED with Codex CLI {}, the version that was tried: Codex does not say"
                  " which hooks it trusts: unknown method"),
        (HIDES, "NOT IN FORCE in Codex CLI {}, the version that was tried"),
    ],
    ids=["forgets", "stops", "refuses", "hides"],
)  # fmt: skip
def test_an_agent_that_does_otherwise_proves_nothing(
    home: Path,
    agent: Callable[..., Path],
    pinned: Pinned,
    change: tuple[str, str],
    line: str,
) -> None:
    program = agent(*change)
    pinned("codex")
    proof = proved(home, program)
    assert not proof.held
    assert proof.lines()[0].startswith(line.format(VERSION))


def status(*arguments: str) -> Result:
    network = "none" if without_network() else "host"
    return invoked("pin", "status", "--network", network, *arguments)


def test_a_hook_that_the_user_has_not_trusted_is_not_in_force(
    home: Path, agent: Callable[..., Path], pinned: Pinned
) -> None:
    agent(trusts=False)
    pinned("codex")
    said = status("codex")
    assert said.exit_code == 1
    assert "NOT IN FORCE in Codex CLI" in said.output
    assert "PROVED" not in said.output
    assert said.stdout.endswith("  Codex CLI: nothing\n")
    agent()
    (pin,) = json.loads(status("codex", "--json").stdout)["pins"]
    assert (pin["in_force"], pin["proof"]["held"], pin["proof"]["version"]) == (True, True, VERSION)


def test_settings_that_the_agent_ignores_prove_nothing(
    home: Path, agent: Callable[..., Path], pinned: Pinned
) -> None:
    agent()
    pinned("codex")
    path = settings(home, "codex")
    path.write_text(path.read_text() + "// mine\n")
    said = status("codex")
    assert said.exit_code == 1
    assert "for which Codex CLI reads nothing of the file" in said.output
    assert "NOT PROVED with" in said.output
    assert "  PROVED" not in said.output


def test_both_scopes_are_shown_and_what_of_them_is_in_force(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: Path
) -> None:
    project = tmp_path / "project"
    for name in ("below", ".git"):
        (project / name).mkdir(parents=True)
    scopes: tuple[Scope, ...] = ("user", "project")
    for scope in scopes:
        install(Pin(AGENTS["claude"], scope, project), Source("rules", rules))
    shown = {}
    for where in (project / "below", tmp_path):
        monkeypatch.chdir(where)
        said = status("--no-play")
        assert said.exit_code == 0
        shown[where.name] = said.stdout
        facts = json.loads(status("--no-play", "--json").stdout)
        assert facts["folder"] == str(where)
        here = where != tmp_path
        assert [pin["in_force"] for pin in facts["pins"]] == [here, True]
    user, both = "the list 'user', revision 1", "and the list 'project', revision 1\n"
    assert shown["below"].endswith(f"  Claude Code: {user} {both}")
    assert shown[tmp_path.name].endswith(f"  Claude Code: {user}\n")
    assert f"holds in {project}, and is not read in this folder" in shown[tmp_path.name]


def test_every_file_of_a_user_s_hooks_is_played(home: Path, pinned: Pinned, tmp_path: Path) -> None:
    pinned("copilot")
    mine = settings(home, "copilot").with_name("mine.json")
    mine.write_text('{"version": 1}')
    stage(records(), tmp_path / "staged")
    copied = AGENTS["copilot"].folder(tmp_path / "staged/home") / "hooks"
    assert {path.name for path in copied.iterdir()} == {"mine.json", "constraintrot-pin.json"}


# Settings in which a user goes to a provider of their own, and starts servers.
OWN = {
    "codex": 'model_provider = "mine"\n[mcp_servers.mine]\ncommand = "mine"\n',
    "gemini": '// mine\n{"security": {"auth": {"selectedType": "oauth"}}, "vimMode": true,\n'
    '  "mcpServers": {"mine": {"command": "mine"}} /* here */}\n',
    "copilot": '// mine\n{"theme": "dark"}',
    "opencode": '{"mcp": {"mine": {"type": "local"}}, "plugin": ["mine"], "theme": "dark"}',
    "openhands": '{"hooks": {"Stop": []}}',
    "claude": '\ufeff{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}\r\n',
    "pi": '{"defaultProvider": "mine"}',
    "qwen": '// mine\n{"model": {"name": "mine"}, "vimMode": true,\n'
    '  "mcpServers": {"mine": {"command": "mine"}} /* here */}\n',
}


@pytest.mark.parametrize("name", DRIVERS)
def test_what_the_check_needs_comes_over_the_user_s_settings_and_leaves_the_rest(
    tmp_path: Path, name: str
) -> None:
    place = Place(tmp_path / "home", tmp_path / "work", "http://127.0.0.1:7")
    known = AGENTS[name]
    file = "config.toml" if name == "codex" else known.user_settings[0]
    path = known.folder(place.home) / file
    path.parent.mkdir(parents=True)
    path.write_bytes(OWN[name].encode())
    started = DRIVERS[name].prepare(place)
    told = [*started.variables.values(), *started.arguments]
    written = (one.read_text() for one in tmp_path.rglob("*.json"))
    assert any("http://127.0.0.1:7" in text for text in [*told, *written])
    text = path.read_bytes().decode()
    if name in ("gemini", "opencode", "qwen"):
        assert "command" not in text
        assert '"mine"' not in text
        kept = (
            ("dark",) if name == "opencode" else ("// mine\n", '"vimMode": true,\n', "/* here */")
        )
        assert all(one in text for one in kept)
    else:
        assert text == OWN[name]


# The shapes of requests as the agents send them, written by hand.
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}]},
    "/v1/responses": {"input": [{"type": "message", "role": "user", "content": "hello"}]},
    "/v1/messages?beta=true": {"messages": [{"role": "user", "content": "hello"}]},
    "/v1beta/models/m:streamGenerateContent?alt=sse": {
        "contents": [{"parts": [{"text": "hello"}]}]
    },
    "/v1beta/models/m:generateContent": {"contents": [{"parts": [{"text": "hello"}]}]},
}


@pytest.mark.parametrize("path", REQUESTS)
@pytest.mark.parametrize("stream", [False, True])
def test_each_protocol_is_answered(path: str, stream: bool) -> None:
    script = Script()
    asked = json.dumps({**REQUESTS[path], "stream": stream}).encode()
    with serving(script) as port:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", asked)
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
    events = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    assert bool(events) == ("stream" in path if "Content" in path else stream)
    joined = "".join(events) if events else text
    assert "ok." in joined
    for event in events or [text]:
        assert event == "[DONE]" or json.loads(event)
    (kept,) = script.requests
    assert [(one.role, one.text) for one in kept.said] == [("user", "hello")]
    assert not kept.summary


def test_a_summary_is_asked_for_without_tools_or_behind_the_last_answer() -> None:
    script = Script()

    def asked(protocol: Protocol, body: dict[str, Any]) -> str:
        return script.reply(read(protocol, body)).text

    history = "CHECK-TURN-1 hello"
    asked("chat", {"messages": [{"role": "user", "content": f"Summarize: {history}"}]})
    messages = [
        {"role": "user", "content": history},
        {"role": "assistant", "content": "ok."},
        {"role": "user", "content": "Write a summary."},
    ]
    tools = [{"name": "read", "input_schema": {}}]
    assert SUMMARY in asked("messages", {"messages": messages, "tools": tools})
    # The policies speak of summaries too, and stand beside a turn of the user's.
    messages[2]["content"] = "CHECK-TURN-2 whatever a summary says"
    asked("messages", {"messages": messages, "tools": tools})
    assert [request.summary for request in script.requests] == [True, True, False]


def test_what_is_no_request_for_an_answer_is_not_kept() -> None:
    script = Script()
    with serving(script) as port:
        url = f"http://127.0.0.1:{port}/v1/messages/count_tokens"
        with urllib.request.urlopen(urllib.request.Request(url, b"{}")) as answer:
            assert json.load(answer)["input_tokens"]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/elsewhere")
    assert script.requests == []
    assert protocol_of("/v1/models") is None


@pytest.mark.soak
@pytest.mark.parametrize("name", AGENTS)
def test_each_agent_that_is_installed_holds_a_pin(name: str, home: Path, pinned: Pinned) -> None:
    program = PROGRAMS[name]
    if program is None:
        pytest.skip(f"{AGENTS[name].title} is not installed, so its compaction was not played")
    pinned(name)
    proof = proved(home, program)
    # Nobody has trusted Codex' hook in this home.
    assert proof.untrusted if name == "codex" else proof.held, proof
    assert name == "codex" or proof.amended, proof
