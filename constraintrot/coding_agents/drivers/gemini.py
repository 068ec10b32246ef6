"""Gemini CLI: ``gemini --acp``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from constraintrot.coding_agents.configuration import (
    GEMINI_MODEL,
    gemini_environment,
    gemini_settings,
)
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, NativeCall, Place
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

# Of its own model, in tokens.
_WINDOW = 1_048_576
_SHARE, _NEVER = 0.05, 1.0
_SNAPSHOT = re.compile(r"<state_snapshot>.*</state_snapshot>", re.DOTALL)
# An allow-list would leave out the tools of MCP servers too.
_TOOLS = (
    "update_topic", "list_directory", "grep_search", "glob", "replace", "write_file", "web_fetch",
    "run_shell_command", "google_web_search", "save_memory", "write_todos", "read_many_files",
    "ask_user", "enter_plan_mode", "exit_plan_mode", "activate_skill",
    "list_background_processes", "read_background_output", "get_internal_docs",
)  # fmt: skip
_DELEGATING = ("codebase_investigator", "cli_help", "invoke_agent", "generalist")


class Gemini(Agent):
    """Gemini CLI compacts within a turn, once its tools' results are in."""

    name: ClassVar[str] = "gemini"
    full_summary: ClassVar[bool] = True
    full: ClassVar[int] = _WINDOW // 2
    rule_file: ClassVar[str] = "GEMINI.md"
    memory_file: ClassVar[str] = ".gemini/GEMINI.md"
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"state_snapshot")

    def read_call(self, path: Path) -> NativeCall:
        return "read_file", {"file_path": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        return "invoke_agent", {"agent_name": "generalist", "prompt": task}

    def prepare(self, place: Place) -> None:
        command, *arguments = place.mcp
        server = {"command": command, "args": arguments, "trust": True}
        settings = gemini_settings(_SHARE if place.compacts else _NEVER)
        settings |= {"mcpServers": {SERVER: server}, "tools": {"exclude": _excluded(place)}}
        place.write(place.box.home / ".gemini" / "settings.json", settings)
        place.write(place.box.folder / "system.md", place.system)

    async def start(self, place: Place) -> Dialogue:
        argv = [str(place.installed.program), "--acp", "-m", GEMINI_MODEL, "--yolo"]
        env = gemini_environment(place.box.url)
        env["GEMINI_SYSTEM_MD"] = str(place.box.folder / "system.md")
        return await begin_acp(await place.box.start(self.package.title, argv, env), place)

    def shaped(self, summary: str) -> str:
        if _SNAPSHOT.search(summary):
            return summary
        return f"<state_snapshot>\n{summary}\n</state_snapshot>"


def _excluded(place: Place) -> list[str]:
    # What is left out of its own goes with a scenario's tool of that name; calls go to the latter.
    scenarios = {tool.name for tool in place.tools}
    reading = () if place.reads_files else {"read_file"} - scenarios
    return [*_TOOLS, *reading, *(() if place.delegates else _DELEGATING)]
