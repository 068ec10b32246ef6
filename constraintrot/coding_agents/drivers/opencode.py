"""opencode: ``opencode acp``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from constraintrot.coding_agents.drivers.acp import begin
from constraintrot.coding_agents.drivers.agent import (
    KEY,
    MODEL,
    Agent,
    Dialogue,
    Mode,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.proof.drivers import opencode_types
from constraintrot.coding_agents.wire.common import SERVER

_PROVIDER = "loopback"
_OUTPUT = 4_000
# What would ask the network, or take time for what no episode has: an index of files, skills.
_OFF = (
    "AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "FFF", "CLAUDE_CODE",
    "EXTERNAL_SKILLS", "EMBEDDED_WEB_UI",
)  # fmt: skip
# Its tools that run, write or fetch something.
_TOOLS = ("bash", "edit", "write", "patch", "webfetch", "websearch", "codesearch", "skill",
          "todowrite", "todoread", "question", "grep", "glob", "list", "lsp")  # fmt: skip
_DELEGATING = "task"


class OpenCode(Agent):
    """opencode has the whole conversation summarised, by a request with a prompt of its own."""

    name: ClassVar[str] = "opencode"
    modes: ClassVar[tuple[Mode, ...]] = ("auto", "manual")
    memory_file: ClassVar[str] = ".config/opencode/AGENTS.md"
    # It also asks for a title, without tools too.
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"the summary process")

    def read_call(self, path: Path) -> NativeCall:
        return "read", {"filePath": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        given = {"description": "A small task", "prompt": task, "subagent_type": "general"}
        return _DELEGATING, given

    def prepare(self, place: Place) -> None:
        limit = {"context": place.window, "output": _OUTPUT}
        model = {"name": MODEL, "tool_call": True, "limit": limit}
        command = {"type": "local", "command": place.mcp, "enabled": True}
        off = [*_TOOLS, *([] if place.reads_files else ["read"])]
        off += [] if place.delegates else [_DELEGATING]
        config: dict[str, Any] = {
            "model": f"{_PROVIDER}/{MODEL}",
            "small_model": f"{_PROVIDER}/{MODEL}",
            "share": "disabled",
            "autoupdate": False,
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "enabled_providers": [_PROVIDER],
            "permission": {"*": "allow", **dict.fromkeys(off, "deny")},
            "mcp": {SERVER: command},
            "compaction": {"auto": place.compacts},
            "agent": {"build": {"prompt": place.system}},
            "provider": {
                _PROVIDER: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": _PROVIDER,
                    "options": {"baseURL": f"{place.box.url}/v1", "apiKey": KEY},
                    "models": {MODEL: model},
                }
            },
        }
        home = place.box.home / ".config" / "opencode"
        place.write(home / "opencode.json", config)
        for name, text in opencode_types().items():
            place.write(home / name, text)

    async def start(self, place: Place) -> Dialogue:
        env = {f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}
        env |= {"OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1", "OPENCODE_LOG_LEVEL": "ERROR"}
        argv = [str(place.installed.program), "acp"]
        program = await place.box.start(self.package.title, argv, env)
        return await begin(program, place, compact="/compact")
