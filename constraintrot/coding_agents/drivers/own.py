"""The agents that are driven by a protocol of their own.

``claude --print`` by a stream of JSON, ``codex app-server`` with its local compaction, and
``pi --mode rpc``. pi has no MCP, so an extension offers the scenario's tools.
"""

import json
import re
import shlex
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.configuration import (
    KEY,
    MODEL,
    PI_ENVIRONMENT,
    PROVIDER,
    claude_environment,
    codex_config,
    pi_models,
    pi_settings,
    toml_settings,
)
from constraintrot.coding_agents.drivers.agent import (
    WINDOW,
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.drivers.json_rpc import JsonRpc
from constraintrot.coding_agents.wire.conversation import SERVER
from constraintrot.errors import EpisodeError

# A real model's name: Claude Code knows the windows of these only.
_CLAUDE_MODEL = "claude-sonnet-4-5"
_CLAUDE_WINDOW = 1_000_000
# Waiting for the scenario's tools: most tries, and seconds between them.
_TRIES, _PAUSE = 300, 0.1
_SUMMARY = re.compile(r"<summary>.*</summary>", re.DOTALL)


class Claude(Agent):
    """Claude Code summarises all but the newest messages, and attaches its rule files again."""

    name = "claude"
    rule_file = "CLAUDE.md"
    memory_file = ".claude/CLAUDE.md"
    asks_for_summary = re.compile(
        r"summary of (the|this|our) conversation|<summary>", re.IGNORECASE
    )

    def read_call(self, path: Path) -> NativeCall:
        return "Read", {"file_path": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task, "run_in_background": False}
        return "Agent", given | {"subagent_type": "general-purpose"}

    def prepare(self, place: Place) -> None:
        place.write(place.box.folder / "mcp.json", {"mcpServers": {SERVER: place.server}})

    async def start(self, place: Place) -> Dialogue:
        tools = ["Read"] * place.reads_files + ["Agent"] * place.delegates
        argv = [
            str(place.installed.program), "--print", "--verbose", "--model", _CLAUDE_MODEL,
            "--input-format", "stream-json", "--output-format", "stream-json",
            "--mcp-config", str(place.box.folder / "mcp.json"), "--strict-mcp-config",
            "--tools", ",".join(tools),
            "--append-system-prompt", place.system, "--dangerously-skip-permissions",
        ]  # fmt: skip
        window = str(WINDOW if place.compacts else _CLAUDE_WINDOW)
        env = {
            **claude_environment(place.box.url),
            # Otherwise it hides the scenario's tools behind a search.
            "ENABLE_TOOL_SEARCH": "0",
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": window,
        }
        stream = _Stream(await place.box.start(self.package.title, argv, env))
        await stream.ready()
        return stream

    def shaped(self, summary: str) -> str:
        return summary if _SUMMARY.search(summary) else f"<summary>\n{summary}\n</summary>"


class _Stream(Dialogue):
    def __init__(self, program: Program) -> None:
        self._program, self._asked = program, 0

    async def ready(self) -> None:
        """Wait for the scenario's tools: an immediate first request would lack them."""
        await self._ask("initialize")
        for _ in range(_TRIES):
            status = await self._ask("mcp_status")
            servers = status["mcpServers"]
            if servers and all(one["status"] == "connected" for one in servers):
                return
            await anyio.sleep(_PAUSE)
        raise EpisodeError(f"Claude Code: the scenario's tools are not there: {status}")

    async def _ask(self, subtype: str) -> Any:
        self._asked += 1
        number = str(self._asked)
        request = {"type": "control_request", "request_id": number}
        await self._program.send(request | {"request": {"subtype": subtype}})
        while True:
            heard = (await self._program.receive()).get("response")
            if isinstance(heard, dict) and heard.get("request_id") == number:
                if heard.get("subtype") == "error":
                    raise EpisodeError(f"Claude Code, {subtype}: {heard.get('error')}")
                return heard.get("response")

    async def say(self, text: str) -> None:
        message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": text}]}
        await self._program.send({"type": "user", "message": message})
        while (heard := await self._program.receive()).get("type") != "result":
            pass
        if heard.get("is_error"):
            raise EpisodeError(f"Claude Code: {heard.get('subtype')}: {heard.get('result')}")

    async def compact(self) -> None:
        await self.say("/compact")


_DELEGATING = "multi_agent"
_SHELL = ("shell_tool", "unified_exec", "shell_snapshot", "view_image")
_COMPACTS_AT = 60_000


class Codex(Agent):
    """Codex keeps the user's messages, up to a budget, and summarises the rest."""

    name = "codex"
    memory_file = ".codex/AGENTS.md"

    def read_call(self, path: Path) -> NativeCall:
        return "exec_command", {"cmd": f"cat {shlex.quote(str(path))}"}

    def delegate_call(self, task: str) -> NativeCall | None:
        return "spawn_agent", {"message": task}

    def prepare(self, place: Place) -> None:
        at = _COMPACTS_AT if place.compacts else place.window
        config = codex_config(place.box.url, place.window, at)
        config["features"] |= dict.fromkeys(() if place.reads_files else _SHELL, False)
        config["features"][_DELEGATING] = place.delegates
        config |= {
            "sandbox_mode": "danger-full-access",
            "developer_instructions": place.system,
            "projects": {str(place.box.work): {"trust_level": "trusted"}},
            "mcp_servers": {SERVER: place.server},
        }
        text = "".join(f"{line}\n" for line in toml_settings(config))
        place.write(place.box.home / ".codex" / "config.toml", text)

    async def start(self, place: Place) -> Dialogue:
        argv = [str(place.installed.program), "app-server"]
        rpc = JsonRpc(await place.box.start(self.package.title, argv, {"LOOPBACK_KEY": KEY}))
        client = {"name": "constraintrot", "version": "1"}
        await rpc.request("initialize", {"clientInfo": client})
        await rpc.notify("initialized", {})
        await _trust_hooks(rpc, place.box.work)
        begun = await rpc.request("thread/start", {"cwd": str(place.box.work)})
        return _Thread(rpc, begun["thread"]["id"])


async def _trust_hooks(rpc: JsonRpc, work: Path) -> None:
    """Trust the hooks in this HOME, as a user does with ``/hooks``: Codex runs no others."""
    listed = await rpc.request("hooks/list", {"cwds": [str(work)]})
    trusted = {
        hook["key"]: {"trusted_hash": hook["currentHash"]}
        for entry in listed["data"]
        for hook in entry["hooks"]
    }
    if trusted:
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        await rpc.request("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})


class _Thread(Dialogue):
    """A conversation with Codex's server, the interface of its editor extensions."""

    def __init__(self, rpc: JsonRpc, thread: str) -> None:
        self._rpc, self._thread = rpc, thread

    async def say(self, text: str) -> None:
        said = {"type": "text", "text": text, "text_elements": []}
        await self._rpc.request("turn/start", {"threadId": self._thread, "input": [said]})
        await self._done()

    async def compact(self) -> None:
        await self._rpc.request("thread/compact/start", {"threadId": self._thread})
        await self._done()

    async def _done(self) -> None:
        turn = (await self._rpc.until("turn/completed"))["turn"]
        if turn["status"] != "completed":
            raise EpisodeError(f"Codex CLI: the turn {turn['status']}: {turn.get('error')}")


# Tokens of the newest messages that it keeps; the default of 20,000 exceeds a short history.
_KEEPS = 200
# The extension sends each call to the evaluation, which answers from the script.
_EXTENSION = """\
const TOOLS = %s;
const URL = %s;
export default function (pi) {
  for (const tool of TOOLS) {
    pi.registerTool({
      name: tool.name, label: tool.name, description: tool.description,
      parameters: tool.inputSchema,
      async execute(id, given) {
        const body = JSON.stringify({ name: tool.name, arguments: given });
        const said = await fetch(URL, { method: "POST", body });
        return { content: [{ type: "text", text: (await said.json()).text }], details: {} };
      },
    });
  }
}
"""


class Pi(Agent):
    """pi summarises all but the newest tokens."""

    name = "pi"
    memory_file = ".pi/agent/AGENTS.md"

    def read_call(self, path: Path) -> NativeCall:
        return "read", {"path": str(path)}

    def prepare(self, place: Place) -> None:
        home = place.box.home / ".pi" / "agent"
        keeps = None if place.keeps_tail else _KEEPS
        place.write(home / "models.json", pi_models(place.box.url, place.window))
        place.write(home / "settings.json", pi_settings(compacts=place.compacts, keeps=keeps))
        text = _EXTENSION % (json.dumps(place.offered), json.dumps(f"{place.box.url}/tool"))
        place.write(place.box.folder / "tools.mjs", text)

    async def start(self, place: Place) -> Dialogue:
        builtin = ["--tools", ",".join(["read", *(tool.name for tool in place.tools)])]
        argv = [
            str(place.installed.program), "--mode", "rpc", "--provider", PROVIDER,
            "--model", MODEL, "--append-system-prompt", place.system,
            "--extension", str(place.box.folder / "tools.mjs"),
            "--no-skills", "--no-prompt-templates",
            *(builtin if place.reads_files else ["--no-builtin-tools"]),
        ]  # fmt: skip
        return _Rpc(await place.box.start(self.package.title, argv, PI_ENVIRONMENT))


class _Rpc(Dialogue):
    def __init__(self, program: Program) -> None:
        self._program, self._numbers = program, count(1)

    async def say(self, text: str) -> None:
        await self._ask({"type": "prompt", "message": text})
        # A due compaction starts after the agent has ended, and belongs to the turn.
        await self._until("agent_end")
        while (await self._ask({"type": "get_state"}))["isCompacting"]:
            await self._until("compaction_end")

    async def compact(self) -> None:
        await self._ask({"type": "compact"})

    async def _until(self, kind: str) -> None:
        while (await self._program.receive()).get("type") != kind:
            pass

    async def _ask(self, what: dict[str, Any]) -> Any:
        number = str(next(self._numbers))
        await self._program.send({"id": number, **what})
        while True:
            heard = await self._program.receive()
            if heard.get("type") == "response" and heard.get("id") == number:
                if not heard.get("success"):
                    raise EpisodeError(f"pi, {what['type']}: {heard.get('error')}")
                return heard.get("data")
