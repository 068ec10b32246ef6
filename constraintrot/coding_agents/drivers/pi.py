"""pi: ``pi --mode rpc``; it has no MCP, so an extension offers the scenario's tools."""

import json
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.configuration import (
    MODEL,
    PI_ENVIRONMENT,
    PROVIDER,
    pi_models,
    pi_settings,
)
from constraintrot.coding_agents.drivers.agent import (
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.errors import EpisodeError

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

    name: ClassVar[str] = "pi"
    memory_file: ClassVar[str] = ".pi/agent/AGENTS.md"

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
