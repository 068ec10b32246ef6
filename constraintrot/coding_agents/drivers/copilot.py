"""GitHub Copilot CLI: ``copilot --acp``, with a model provider of the user's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from constraintrot.coding_agents.configuration import copilot_environment
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, NativeCall, Place
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

_READING, _DELEGATING = "view", "task"
_TOOLS = (
    "bash", "read_bash", "write_bash", "stop_bash", "list_bash", "create", "edit", "sql", "grep",
    "glob", "read_agent", "list_agents", "write_agent", "web_fetch", "ask_user", "report_intent",
    "update_todo", "skill", "store_memory", "exit_plan_mode", "fetch_copilot_cli_documentation",
)  # fmt: skip
_INSTRUCTIONS = "instructions"


class Copilot(Agent):
    """Copilot CLI has the whole conversation summarised, and lists what the user said beside."""

    name: ClassVar[str] = "copilot"
    memory_file: ClassVar[str] = ".copilot/copilot-instructions.md"
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"Please write the summary now")

    def read_call(self, path: Path) -> NativeCall:
        return _READING, {"path": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"name": "small", "description": "A small task", "prompt": task, "mode": "sync"}
        return _DELEGATING, given | {"agent_type": "general-purpose"}

    def prepare(self, place: Place) -> None:
        command, *arguments = place.mcp
        server = {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
        place.write(place.box.folder / "mcp.json", {"mcpServers": {SERVER: server}})
        # It has no option that adds to its system prompt; the instructions of a folder do.
        place.write(place.box.folder / _INSTRUCTIONS / "operator.instructions.md", place.system)

    async def start(self, place: Place) -> Dialogue:
        off = [*_TOOLS, *(() if place.reads_files else (_READING,))]
        off += [] if place.delegates else [_DELEGATING]
        argv = [
            str(place.installed.program), "--acp", "--allow-all", "--no-auto-update",
            "--disable-builtin-mcps", f"--excluded-tools={','.join(off)}",
            "--additional-mcp-config", f"@{place.box.folder / 'mcp.json'}",
        ]  # fmt: skip
        env = copilot_environment(place.box.url, place.window)
        env["COPILOT_CUSTOM_INSTRUCTIONS_DIRS"] = str(place.box.folder / _INSTRUCTIONS)
        program = await place.box.start(self.package.title, argv, env)
        return await begin_acp(program, place, compact="/compact")
