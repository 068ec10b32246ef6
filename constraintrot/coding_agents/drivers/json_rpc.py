"""JSON-RPC with an agent's program over standard input and output, and the Agent Client Protocol.

Editors drive opencode, Gemini CLI and others by this protocol (ACP).
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.drivers.agent import Dialogue, Place
from constraintrot.errors import EpisodeError

_VERSION = 1
_ENDED_WELL = "end_turn"


class JsonRpc:
    """A client that sends one request at a time, and answers the server's requests meanwhile.

    It grants every permission: the agent's tools are simulated, and it runs in a box.
    """

    def __init__(self, program: Program) -> None:
        self._program, self._numbers = program, count(1)

    async def request(self, method: str, params: object) -> Any:
        """Send a request and return its result."""
        number = next(self._numbers)
        await self._send(id=number, method=method, params=params)
        while True:
            heard = await self.hear()
            if heard.get("id") == number:
                if "error" in heard:
                    raise EpisodeError(f"{self._program.name}, {method}: {heard['error']}")
                return heard.get("result")

    async def until(self, method: str) -> Any:
        """Wait for the next notification with this method, and return its parameters."""
        while True:
            heard = await self.hear()
            if heard.get("method") == method:
                return heard.get("params")

    async def notify(self, method: str, params: object) -> None:
        await self._send(method=method, params=params)

    async def hear(self) -> dict[str, Any]:
        """Return the next answer or notification; answer the server's requests before it."""
        while True:
            heard = await self._program.receive()
            if "id" not in heard or "method" not in heard:
                return heard
            if heard["method"] == "session/request_permission":
                await self._send(id=heard["id"], result=_leave(heard["params"]["options"]))
            else:
                error = {"code": -32601, "message": "not supported"}
                await self._send(id=heard["id"], error=error)

    async def _send(self, **what: object) -> None:
        await self._program.send({"jsonrpc": "2.0", **what})


def _leave(options: Sequence[dict[str, Any]]) -> object:
    """Return the answer that selects the first option that allows; otherwise "cancelled"."""
    granting = [one["optionId"] for one in options if one["kind"].startswith("allow")]
    chosen = {"outcome": "selected", "optionId": granting[0]} if granting else None
    return {"outcome": chosen or {"outcome": "cancelled"}}


class AcpDialogue(Dialogue):
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


async def begin_acp(program: Program, place: Place, *, compact: str = "") -> AcpDialogue:
    """Begin a session; the scenario's MCP server is in the agent's own configuration."""
    rpc = JsonRpc(program)
    nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    await rpc.request("initialize", {"protocolVersion": _VERSION, "clientCapabilities": nothing})
    begun = await rpc.request("session/new", {"cwd": str(place.box.work), "mcpServers": []})
    return AcpDialogue(rpc, begun["sessionId"], compact)
