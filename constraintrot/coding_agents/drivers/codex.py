"""Codex CLI: ``codex app-server``, with its local compaction."""

import shlex
from pathlib import Path
from typing import ClassVar

from constraintrot.coding_agents.configuration import KEY, codex_config, toml_settings
from constraintrot.coding_agents.drivers.agent import (
    Agent,
    Dialogue,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.drivers.json_rpc import JsonRpc
from constraintrot.coding_agents.wire.conversation import SERVER
from constraintrot.errors import EpisodeError

_DELEGATING = "multi_agent"
_SHELL = ("shell_tool", "unified_exec", "shell_snapshot", "view_image")
_COMPACTS_AT = 60_000


class Codex(Agent):
    """Codex keeps the user's messages, up to a budget, and summarises the rest."""

    name: ClassVar[str] = "codex"
    memory_file: ClassVar[str] = ".codex/AGENTS.md"

    def read_call(self, path: Path) -> NativeCall:
        return "exec_command", {"cmd": f"cat {shlex.quote(str(path))}"}

    def delegate_call(self, task: str) -> NativeCall | None:
        return "spawn_agent", {"message": task}

    def prepare(self, place: Place) -> None:
        at = _COMPACTS_AT if place.compacts else place.window
        config = codex_config(place.box.url, place.window, at)
        config["features"] |= dict.fromkeys(() if place.reads_files else _SHELL, False)
        config["features"][_DELEGATING] = place.delegates
        config |= {
            "sandbox_mode": "danger-full-access",
            "developer_instructions": place.system,
            "projects": {str(place.box.work): {"trust_level": "trusted"}},
            "mcp_servers": {SERVER: place.server},
        }
        text = "".join(f"{line}\n" for line in toml_settings(config))
        place.write(place.box.home / ".codex" / "config.toml", text)

    async def start(self, place: Place) -> Dialogue:
        argv = [str(place.installed.program), "app-server"]
        rpc = JsonRpc(await place.box.start(self.package.title, argv, {"LOOPBACK_KEY": KEY}))
        client = {"name": "constraintrot", "version": "1"}
        await rpc.request("initialize", {"clientInfo": client})
        await rpc.notify("initialized", {})
        await _trust_hooks(rpc, place.box.work)
        begun = await rpc.request("thread/start", {"cwd": str(place.box.work)})
        return _Thread(rpc, begun["thread"]["id"])


async def _trust_hooks(rpc: JsonRpc, work: Path) -> None:
    """Trust the hooks in this HOME, as a user does with ``/hooks``: Codex runs no others."""
    listed = await rpc.request("hooks/list", {"cwds": [str(work)]})
    trusted = {
        hook["key"]: {"trusted_hash": hook["currentHash"]}
        for entry in listed["data"]
        for hook in entry["hooks"]
    }
    if trusted:
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        await rpc.request("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})


class _Thread(Dialogue):
    """A conversation with Codex's server, the interface of its editor extensions."""

    def __init__(self, rpc: JsonRpc, thread: str) -> None:
        self._rpc, self._thread = rpc, thread

    async def say(self, text: str) -> None:
        said = {"type": "text", "text": text, "text_elements": []}
        await self._rpc.request("turn/start", {"threadId": self._thread, "input": [said]})
        await self._done()

    async def compact(self) -> None:
        await self._rpc.request("thread/compact/start", {"threadId": self._thread})
        await self._done()

    async def _done(self) -> None:
        turn = (await self._rpc.until("turn/completed"))["turn"]
        if turn["status"] != "completed":
            raise EpisodeError(f"Codex CLI: the turn {turn['status']}: {turn.get('error')}")
