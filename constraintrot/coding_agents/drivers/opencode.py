"""opencode: ``opencode acp``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from constraintrot.coding_agents.configuration import (
    OPENCODE_ENVIRONMENT,
    opencode_config,
    opencode_types,
)
from constraintrot.coding_agents.drivers.agent import (
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.drivers.json_rpc import begin_acp
from constraintrot.coding_agents.wire.conversation import SERVER

# Its tools that run, write or fetch something.
_TOOLS = ("bash", "edit", "write", "patch", "webfetch", "websearch", "codesearch", "skill",
          "todowrite", "todoread", "question", "grep", "glob", "list", "lsp")  # fmt: skip
_DELEGATING = "task"


class OpenCode(Agent):
    """opencode has the whole conversation summarised, by a request with a prompt of its own."""

    name: ClassVar[str] = "opencode"
    memory_file: ClassVar[str] = ".config/opencode/AGENTS.md"
    # It also asks for a title, without tools too.
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"the summary process")

    def read_call(self, path: Path) -> NativeCall:
        return "read", {"filePath": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task, "subagent_type": "general"}
        return _DELEGATING, given

    def prepare(self, place: Place) -> None:
        off = [*_TOOLS, *([] if place.reads_files else ["read"])]
        off += [] if place.delegates else [_DELEGATING]
        config = opencode_config(place.box.url, place.window) | {
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "permission": {"*": "allow", **dict.fromkeys(off, "deny")},
            "mcp": {SERVER: {"type": "local", "command": place.mcp, "enabled": True}},
            "compaction": {"auto": place.compacts},
            "agent": {"build": {"prompt": place.system}},
        }
        home = place.box.home / ".config" / "opencode"
        place.write(home / "opencode.json", config)
        for name, text in opencode_types().items():
            place.write(home / name, text)

    async def start(self, place: Place) -> Dialogue:
        quiet = {"OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1", "OPENCODE_LOG_LEVEL": "ERROR"}
        env = {**OPENCODE_ENVIRONMENT, **quiet}
        argv = [str(place.installed.program), "acp"]
        program = await place.box.start(self.package.title, argv, env)
        return await begin_acp(program, place, compact="/compact")
