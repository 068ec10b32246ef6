"""Qwen Code, which came from Gemini CLI: ``qwen --acp``."""

from __future__ import annotations

import re
from typing import ClassVar

from constraintrot.coding_agents.configuration import MODEL, qwen_environment, qwen_settings
from constraintrot.coding_agents.drivers.agent import WINDOW, Dialogue, NativeCall, Place
from constraintrot.coding_agents.drivers.gemini import Gemini
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

_READING, _DELEGATING = "read_file", "agent"
_TOOLS = (
    "exec", "edit", "write_file", "zoom_image", "grep_search", "glob", "run_shell_command",
    "todo_write", "save_memory", "skill", "enter_plan_mode", "exit_plan_mode", "web_fetch",
    "web_search", "image_gen", "list_directory", "lsp", "ask_user_question", "cron_create",
    "cron_list", "cron_delete", "loop_wakeup", "list_agents", "task_stop", "send_message",
    "monitor", "notebook_edit", "read_mcp_resource", "enter_worktree", "exit_worktree",
    "workflow", "artifact", "record_artifact", "record_source", "propose_goal",
)  # fmt: skip


class Qwen(Gemini):
    """Qwen Code compacts before it sends its next request, within a turn too."""

    name: ClassVar[str] = "qwen"
    full: ClassVar[int] = WINDOW - 1_000
    rule_file: ClassVar[str] = "QWEN.md"
    memory_file: ClassVar[str] = ".qwen/QWEN.md"
    # The summary has the tag too, and is the user's last message where it compacts within a turn.
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"produce the <state_snapshot>")

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task}
        return _DELEGATING, given | {"subagent_type": "general-purpose"}

    def prepare(self, place: Place) -> None:
        command, *arguments = place.mcp
        scenarios = {tool.name for tool in place.tools}
        off = [*_TOOLS, *(() if place.delegates else (_DELEGATING,))]
        off += () if place.reads_files else {_READING} - scenarios
        # Else it hides the scenario's tools behind a search.
        tools = {"disabled": off, "toolSearch": {"enabled": False}}
        server = {"command": command, "args": arguments, "trust": True}
        settings = qwen_settings(place.window, mcpServers={SERVER: server}, tools=tools)
        place.write(place.box.home / ".qwen" / "settings.json", settings)

    async def start(self, place: Place) -> Dialogue:
        argv = [
            str(place.installed.program), "--acp", "--yolo", "--auth-type", "openai", "-m", MODEL,
            "--append-system-prompt", place.system,
        ]  # fmt: skip
        # Else a first request goes out without the scenario's tools.
        env = qwen_environment(place.box.url) | {"QWEN_CODE_LEGACY_MCP_BLOCKING": "1"}
        program = await place.box.start(self.package.title, argv, env)
        return await begin_acp(program, place, compact="/compress")
