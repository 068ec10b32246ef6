"""Codex CLI: ``codex app-server``, in its local compaction."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from constraintrot.coding_agents.drivers.agent import (
    KEY,
    MODEL,
    Agent,
    Dialogue,
    Mode,
    NativeCall,
    Place,
)
from constraintrot.coding_agents.drivers.json_rpc import JsonRpc
from constraintrot.coding_agents.wire.common import SERVER
from constraintrot.errors import EpisodeError

# What would ask the network or add tools that run something.
_OFF = (
    "plugins", "apps", "remote_plugin", "image_generation", "browser_use",
    "browser_use_external", "computer_use", "in_app_browser", "tool_suggest", "goals",
    "enable_request_compression", "skill_search",
)  # fmt: skip
_DELEGATING = "multi_agent"
_SHELL = ("shell_tool", "unified_exec", "shell_snapshot", "view_image")
# Any other name than OpenAI's own: of that provider Codex asks for an opaque compaction.
_PROVIDER = "loopback"
_COMPACTS_AT = 60_000


class Codex(Agent):
    """Codex keeps what the user wrote, up to a budget, and has all else summarised."""

    name: ClassVar[str] = "codex"
    modes: ClassVar[tuple[Mode, ...]] = ("auto", "manual")
    memory_file: ClassVar[str] = ".codex/AGENTS.md"

    def read_call(self, path: Path) -> NativeCall:
        return "exec_command", {"cmd": f"cat {shlex.quote(str(path))}"}

    def delegate_call(self, task: str) -> NativeCall | None:
        return "spawn_agent", {"message": task}

    def prepare(self, place: Place) -> None:
        command, *arguments = place.mcp
        features = {name: False for name in (*_OFF, *(() if place.reads_files else _SHELL))}
        features[_DELEGATING] = place.delegates
        top = {
            "model": MODEL,
            "model_provider": _PROVIDER,
            "model_context_window": place.window,
            "model_auto_compact_token_limit": _COMPACTS_AT if place.compacts else place.window,
            "approval_policy": "never",
            "sandbox_mode": "danger-full-access",
            "developer_instructions": place.system,
            "check_for_update_on_startup": False,
            "web_search": "disabled",
        }
        tables: dict[str, Mapping[str, object]] = {
            f"model_providers.{_PROVIDER}": {
                "name": _PROVIDER,
                "base_url": f"{place.box.url}/v1",
                "wire_api": "responses",
                "env_key": "LOOPBACK_KEY",
                "request_max_retries": 0,
                "stream_max_retries": 0,
            },
            "features": features,
            "analytics": {"enabled": False},
            "feedback": {"enabled": False},
            "otel": {"exporter": "none"},
            f'projects."{place.box.work}"': {"trust_level": "trusted"},
            f"mcp_servers.{SERVER}": {"command": command, "args": arguments},
        }
        place.write(place.box.home / ".codex" / "config.toml", _toml(top, tables))

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
    """Trust the hooks in this HOME, as a user does with ``/hooks``: before, Codex runs none."""
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
    """A conversation of Codex's server, which its editors' extensions drive too."""

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


def _toml(top: Mapping[str, object], tables: Mapping[str, Mapping[str, object]]) -> str:
    """Plain values as TOML, whose strings, numbers, booleans and lists of strings are JSON's."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in top.items()]
    for table, values in tables.items():
        lines += [
            f"[{table}]",
            *(f"{name} = {json.dumps(value)}" for name, value in values.items()),
        ]
    return "\n".join(lines) + "\n"
