"""OpenHands CLI: ``openhands acp``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from constraintrot.coding_agents.configuration import openhands_environment, openhands_settings
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, FullOn, NativeCall, Place
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

_READING, _DELEGATING = "file_editor", "task"
_OFF: Final = ("terminal", "task_tracker", "invoke_skill")
_REFUSED: Final = json.dumps({"decision": "deny", "reason": "This tool is off."})


class OpenHands(Agent):
    """OpenHands has the older half of a conversation summarised when a request is refused as too long.

    It keeps its system prompt and what the user said first, which is its default.
    """

    name: ClassVar[str] = "openhands"
    full_on: ClassVar[FullOn] = "refusal"
    added: ClassVar[Mapping[str, Any]] = MappingProxyType({"security_risk": "LOW"})
    memory_file: ClassVar[str] = ".openhands/skills/rules.md"
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(
        r"Now summarize the events using the rules above"
    )

    def read_call(self, path: Path) -> NativeCall:
        return _READING, {"command": "view", "path": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task}
        return _DELEGATING, given | {"subagent_type": "general-purpose"}

    def prepare(self, place: Place) -> None:
        folder = place.box.home / ".openhands"
        place.write(folder / "agent_settings.json", openhands_settings(place.box.url))
        command, *arguments = place.mcp
        server = {"command": command, "args": arguments}
        place.write(folder / "mcp.json", {"mcpServers": {SERVER: server}})
        # It has no option that adds to its system prompt; a skill of the user's does.
        place.write(folder / "skills" / "operator.md", place.system)
        # It cannot be told to offer fewer tools.
        off = [*_OFF, *(() if place.reads_files else (_READING,))]
        off += [] if place.delegates else [_DELEGATING]
        off = [name for name in off if name not in {tool.name for tool in place.tools}]
        refuse = {"type": "command", "command": f"printf %s {shlex.quote(_REFUSED)}"}
        before = [{"matcher": "|".join(off), "hooks": [refuse]}]
        place.write(folder / "hooks.json", {"hooks": {"PreToolUse": before}})

    async def start(self, place: Place) -> Dialogue:
        argv = [str(place.installed.program), "acp", "--always-approve"]
        env = openhands_environment(place.box.home)
        program = await place.box.start(self.package.title, argv, env)
        return await begin_acp(program, place)
