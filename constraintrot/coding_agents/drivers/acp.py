"""The Agent Client Protocol, which editors drive agents by: opencode, Gemini CLI and others."""

from __future__ import annotations

from typing import Any

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.drivers.agent import Dialogue, Place
from constraintrot.coding_agents.drivers.json_rpc import JsonRpc
from constraintrot.errors import EpisodeError

_VERSION = 1
_ENDED_WELL = "end_turn"


class _Client(JsonRpc):
    """Grants what the agent asks leave for: its tools are simulated, and it is in a box."""

    def answer(self, method: str, params: dict[str, Any]) -> object | None:
        if method != "session/request_permission":
            return None
        granting = [one for one in params["options"] if one["kind"].startswith("allow")]
        if not granting:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": granting[0]["optionId"]}}


class AcpDialogue(Dialogue):
    """A session of an agent that speaks the protocol.

    Args:
        rpc: the agent.
        session: the session's id.
        compact: the agent's command to compact; empty if it has none.
    """

    def __init__(self, rpc: JsonRpc, session: str, compact: str) -> None:
        self._rpc, self._session, self._compact = rpc, session, compact

    async def say(self, text: str) -> None:
        prompt = [{"type": "text", "text": text}]
        said = await self._rpc.request(
            "session/prompt", {"sessionId": self._session, "prompt": prompt}
        )
        if said["stopReason"] != _ENDED_WELL:
            raise EpisodeError(f"the agent ended its turn with {said['stopReason']}")

    async def compact(self) -> None:
        await self.say(self._compact)


async def begin(program: Program, place: Place, *, compact: str = "") -> AcpDialogue:
    """Begin a session; the scenario's MCP server is in the agent's own configuration.

    Args:
        program: the agent, started.
        place: where it works.
        compact: the agent's command to compact.
    """
    rpc = _Client(program)
    nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    await rpc.request("initialize", {"protocolVersion": _VERSION, "clientCapabilities": nothing})
    begun = await rpc.request("session/new", {"cwd": str(place.box.work), "mcpServers": []})
    return AcpDialogue(rpc, begun["sessionId"], compact)
