"""JSON-RPC over the standard input and output of an agent's program, and the protocol of editors.

Editors drive opencode, Gemini CLI and others by the Agent Client Protocol (ACP).
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
    """A client that asks one thing at a time, and answers what it is asked meanwhile.

    It grants what an agent asks leave for: its tools are simulated, and it is in a box.
    """

    def __init__(self, program: Program) -> None:
        self._program, self._numbers = program, count(1)

    async def request(self, method: str, params: object) -> Any:
        """The result of a request.

        Raises:
            EpisodeError: the server answered with an error, or ended.
        """
        number = next(self._numbers)
        await self._send(id=number, method=method, params=params)
        while True:
            heard = await self.hear()
            if heard.get("id") == number:
                if "error" in heard:
                    raise EpisodeError(f"{self._program.name}, {method}: {heard['error']}")
                return heard.get("result")

    async def until(self, method: str) -> Any:
        """The parameters of the next notification of a name."""
        while True:
            heard = await self.hear()
            if heard.get("method") == method:
                return heard.get("params")

    async def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        await self._send(method=method, params=params)

    async def hear(self) -> dict[str, Any]:
        """The next answer or notification; requests of the server's are answered on the way."""
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
    """The first option that grants what is asked; cancelled where none does."""
    granting = [one["optionId"] for one in options if one["kind"].startswith("allow")]
    chosen = {"outcome": "selected", "optionId": granting[0]} if granting else None
    return {"outcome": chosen or {"outcome": "cancelled"}}


class AcpDialogue(Dialogue):
    """A session of an agent that speaks the protocol."""

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
