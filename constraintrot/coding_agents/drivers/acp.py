"""The agents that editors drive by the Agent Client Protocol (ACP), each with an option for it."""

import json
import re
import shlex
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from constraintrot.coding_agents.configuration import (
    GEMINI_MODEL,
    MODEL,
    OPENCODE_ENVIRONMENT,
    copilot_environment,
    gemini_environment,
    gemini_settings,
    opencode_config,
    opencode_types,
    openhands_environment,
    openhands_settings,
    qwen_environment,
    qwen_settings,
)
from constraintrot.coding_agents.drivers.agent import (
    WINDOW,
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

Command = tuple[list[str], dict[str, str]]


class AcpAgent(Agent):
    """An agent that is started as a server of the protocol."""

    own: ClassVar[tuple[str, ...]]  # its tools that run, write or fetch something
    # Its tool that reads a file, and the name of the call's path argument.
    reading: ClassVar[tuple[str, str]]
    delegating: ClassVar[tuple[str, ...]]  # its tools for sub-agents; the first is the one to call
    # Arguments of that call besides the task.
    delegated: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    # Whether switching off one of its tools also hides a scenario's tool of that name.
    shadowed: ClassVar[bool] = False
    compacting: ClassVar[str] = ""  # its command to compact; empty if it has none

    def read_call(self, path: Path) -> NativeCall:
        tool, name = self.reading
        return tool, {name: str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task}
        return self.delegating[0], given | dict(self.delegated)

    def off(self, place: Place) -> list[str]:
        """Return the agent's own tools that are switched off."""
        named = [*self.own, *(() if place.reads_files else self.reading[:1])]
        named += () if place.delegates else self.delegating
        kept = {tool.name for tool in place.tools} if self.shadowed else set[str]()
        return [name for name in named if name not in kept]

    @abstractmethod
    def command(self, place: Place) -> Command:
        """Return the program's arguments and environment variables."""

    async def start(self, place: Place) -> Dialogue:
        argv, env = self.command(place)
        argv = [str(place.installed.program), *argv]
        program = await place.box.start(self.package.title, argv, env)
        return await begin_acp(program, place, compact=self.compacting)


class Copilot(AcpAgent):
    """Copilot CLI summarises the whole conversation and lists the user's turns beside it."""

    name = "copilot"
    memory_file = ".copilot/copilot-instructions.md"
    asks_for_summary = re.compile(r"Please write the summary now")
    own = (
        "bash", "read_bash", "write_bash", "stop_bash", "list_bash", "create", "edit", "sql",
        "grep", "glob", "read_agent", "list_agents", "write_agent", "web_fetch", "ask_user",
        "report_intent", "update_todo", "skill", "store_memory", "exit_plan_mode",
        "fetch_copilot_cli_documentation",
    )  # fmt: skip
    reading = ("view", "path")
    delegating = ("task",)
    delegated = MappingProxyType({"name": "small", "mode": "sync", "agent_type": "general-purpose"})
    compacting = "/compact"

    def prepare(self, place: Place) -> None:
        server = {"type": "local", **place.server, "tools": ["*"]}
        place.write(place.box.folder / "mcp.json", {"mcpServers": {SERVER: server}})
        # No option adds to its system prompt, but a folder's instructions do.
        folder = place.box.folder / "instructions"
        place.write(folder / "operator.instructions.md", place.system)

    def command(self, place: Place) -> Command:
        argv = [
            "--acp", "--allow-all", "--no-auto-update", "--disable-builtin-mcps",
            f"--excluded-tools={','.join(self.off(place))}",
            "--additional-mcp-config", f"@{place.box.folder / 'mcp.json'}",
        ]  # fmt: skip
        env = copilot_environment(place.box.url, place.window)
        env["COPILOT_CUSTOM_INSTRUCTIONS_DIRS"] = str(place.box.folder / "instructions")
        return argv, env


class OpenCode(AcpAgent):
    """opencode summarises the whole conversation, in a request with its own prompt."""

    name = "opencode"
    memory_file = ".config/opencode/AGENTS.md"
    # Its request for a title has no tools either.
    asks_for_summary = re.compile(r"the summary process")
    own = (
        "bash", "edit", "write", "patch", "webfetch", "websearch", "codesearch", "skill",
        "todowrite", "todoread", "question", "grep", "glob", "list", "lsp",
    )  # fmt: skip
    reading = ("read", "filePath")
    delegating = ("task",)
    delegated = MappingProxyType({"subagent_type": "general"})
    compacting = "/compact"

    def prepare(self, place: Place) -> None:
        config = opencode_config(place.box.url, place.window) | {
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "permission": {"*": "allow", **dict.fromkeys(self.off(place), "deny")},
            "mcp": {SERVER: {"type": "local", "command": place.mcp, "enabled": True}},
            "compaction": {"auto": place.compacts},
            "agent": {"build": {"prompt": place.system}},
        }
        home = place.box.home / ".config" / "opencode"
        place.write(home / "opencode.json", config)
        for name, text in opencode_types().items():
            place.write(home / name, text)

    def command(self, place: Place) -> Command:
        quiet = {"OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1", "OPENCODE_LOG_LEVEL": "ERROR"}
        return ["acp"], {**OPENCODE_ENVIRONMENT, **quiet}


class OpenHands(AcpAgent):
    """OpenHands summarises a conversation's older half when a request is refused as too long.

    By default it keeps its system prompt and the user's first message.
    """

    name = "openhands"
    full_on = "refusal"
    added = MappingProxyType({"security_risk": "LOW"})
    memory_file = ".openhands/skills/rules.md"
    asks_for_summary = re.compile(r"Now summarize the events using the rules above")
    own = ("terminal", "task_tracker", "invoke_skill")
    reading = ("file_editor", "path")
    delegating = ("task",)
    delegated = MappingProxyType({"subagent_type": "general-purpose"})
    shadowed = True

    def read_call(self, path: Path) -> NativeCall:
        return self.reading[0], {"command": "view", "path": str(path)}

    def prepare(self, place: Place) -> None:
        folder = place.box.home / ".openhands"
        place.write(folder / "agent_settings.json", openhands_settings(place.box.url))
        place.write(folder / "mcp.json", {"mcpServers": {SERVER: place.server}})
        # No option adds to its system prompt, but a skill of the user does.
        place.write(folder / "skills" / "operator.md", place.system)
        # No setting reduces its tools, so a hook refuses their calls.
        refused = json.dumps({"decision": "deny", "reason": "This tool is off."})
        refuse = {"type": "command", "command": f"printf %s {shlex.quote(refused)}"}
        before = [{"matcher": "|".join(self.off(place)), "hooks": [refuse]}]
        place.write(folder / "hooks.json", {"hooks": {"PreToolUse": before}})

    def command(self, place: Place) -> Command:
        return ["acp", "--always-approve"], openhands_environment(place.box.home)


# The window of Gemini CLI's own model, in tokens.
_GEMINI_WINDOW = 1_048_576
_SHARE, _NEVER = 0.05, 1.0
_SNAPSHOT = re.compile(r"<state_snapshot>.*</state_snapshot>", re.DOTALL)


class Gemini(AcpAgent):
    """Gemini CLI compacts within a turn, after its tools' results."""

    name = "gemini"
    full_summary = True
    full = _GEMINI_WINDOW // 2
    rule_file = "GEMINI.md"
    memory_file = ".gemini/GEMINI.md"
    asks_for_summary = re.compile(r"state_snapshot")
    # An allow-list would leave out the tools of MCP servers too.
    own: ClassVar[tuple[str, ...]] = (
        "update_topic", "list_directory", "grep_search", "glob", "replace", "write_file",
        "web_fetch", "run_shell_command", "google_web_search", "save_memory", "write_todos",
        "read_many_files", "ask_user", "enter_plan_mode", "exit_plan_mode", "activate_skill",
        "list_background_processes", "read_background_output", "get_internal_docs",
    )  # fmt: skip
    reading = ("read_file", "file_path")
    delegating: ClassVar[tuple[str, ...]] = (
        "invoke_agent",
        "codebase_investigator",
        "cli_help",
        "generalist",
    )
    shadowed = True

    def delegate_call(self, task: str) -> NativeCall | None:
        return self.delegating[0], {"agent_name": "generalist", "prompt": task}

    def prepare(self, place: Place) -> None:
        settings = gemini_settings(_SHARE if place.compacts else _NEVER)
        servers = {SERVER: {**place.server, "trust": True}}
        settings |= {"mcpServers": servers, "tools": {"exclude": self.off(place)}}
        place.write(place.box.home / ".gemini" / "settings.json", settings)
        place.write(place.box.folder / "system.md", place.system)

    def command(self, place: Place) -> Command:
        system = {"GEMINI_SYSTEM_MD": str(place.box.folder / "system.md")}
        return ["--acp", "-m", GEMINI_MODEL, "--yolo"], gemini_environment(place.box.url) | system

    def shaped(self, summary: str) -> str:
        if _SNAPSHOT.search(summary):
            return summary
        return f"<state_snapshot>\n{summary}\n</state_snapshot>"


class Qwen(Gemini):
    """Qwen Code, a fork of Gemini CLI, compacts before its next request, also within a turn."""

    name = "qwen"
    full = WINDOW - 1_000
    rule_file = "QWEN.md"
    memory_file = ".qwen/QWEN.md"
    # Not the tag alone: the summary has it too, and can be the last user message within a turn.
    asks_for_summary = re.compile(r"produce the <state_snapshot>")
    own = (
        "exec", "edit", "write_file", "zoom_image", "grep_search", "glob", "run_shell_command",
        "todo_write", "save_memory", "skill", "enter_plan_mode", "exit_plan_mode", "web_fetch",
        "web_search", "image_gen", "list_directory", "lsp", "ask_user_question", "cron_create",
        "cron_list", "cron_delete", "loop_wakeup", "list_agents", "task_stop", "send_message",
        "monitor", "notebook_edit", "read_mcp_resource", "enter_worktree", "exit_worktree",
        "workflow", "artifact", "record_artifact", "record_source", "propose_goal",
    )  # fmt: skip
    delegating = ("agent",)
    delegated = MappingProxyType({"subagent_type": "general-purpose"})
    compacting = "/compress"

    def delegate_call(self, task: str) -> NativeCall | None:
        return AcpAgent.delegate_call(self, task)

    def prepare(self, place: Place) -> None:
        # Otherwise it hides the scenario's tools behind a search.
        tools = {"disabled": self.off(place), "toolSearch": {"enabled": False}}
        servers = {SERVER: {**place.server, "trust": True}}
        settings = qwen_settings(place.window, mcpServers=servers, tools=tools)
        place.write(place.box.home / ".qwen" / "settings.json", settings)

    def command(self, place: Place) -> Command:
        argv = ["--acp", "--yolo", "--auth-type", "openai", "-m", MODEL]
        # Otherwise the first request lacks the scenario's tools.
        env = qwen_environment(place.box.url) | {"QWEN_CODE_LEGACY_MCP_BLOCKING": "1"}
        return [*argv, "--append-system-prompt", place.system], env
