"""Claude Code: ``claude --print``, driven by a stream of JSON."""

import re
from pathlib import Path
from typing import Any, ClassVar

import anyio

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.configuration import claude_environment
from constraintrot.coding_agents.drivers.agent import (
    WINDOW,
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.wire.conversation import SERVER
from constraintrot.errors import EpisodeError

# A real model's name: Claude Code knows the windows of these only.
_MODEL = "claude-sonnet-4-5"
_ENDLESS = 1_000_000
# Waiting for the scenario's tools: most tries, and seconds between them.
_TRIES, _PAUSE = 300, 0.1
_SUMMARY = re.compile(r"<summary>.*</summary>", re.DOTALL)


class Claude(Agent):
    """Claude Code summarises all but the newest messages, and attaches its rule files again."""

    name: ClassVar[str] = "claude"
    rule_file: ClassVar[str] = "CLAUDE.md"
    memory_file: ClassVar[str] = ".claude/CLAUDE.md"
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(
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
            str(place.installed.program), "--print", "--verbose", "--model", _MODEL,
            "--input-format", "stream-json", "--output-format", "stream-json",
            "--mcp-config", str(place.box.folder / "mcp.json"), "--strict-mcp-config",
            "--tools", ",".join(tools),
            "--append-system-prompt", place.system, "--dangerously-skip-permissions",
        ]  # fmt: skip
        window = str(WINDOW if place.compacts else _ENDLESS)
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
