"""JSON-RPC over the standard input and output of an agent's program."""

from __future__ import annotations

from itertools import count
from typing import Any

from constraintrot.coding_agents.box import Program
from constraintrot.errors import EpisodeError


class JsonRpc:
    """A client that asks one thing at a time, and answers what it is asked meanwhile.

    Args:
        program: the server.
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
            answer = self.answer(heard["method"], heard.get("params") or {})
            if answer is None:
                error = {"code": -32601, "message": "not supported"}
                await self._send(id=heard["id"], error=error)
            else:
                await self._send(id=heard["id"], result=answer)

    def answer(self, method: str, params: dict[str, Any]) -> object | None:
        """What to answer to a request of the server's; None where it is not supported."""
        return None

    async def _send(self, **what: object) -> None:
        await self._program.send({"jsonrpc": "2.0", **what})
