"""The hooks of a pin that Codex reports as trusted; it runs no others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Any, Final

_SECONDS: Final = 60
_TRUSTED: Final = ("trusted", "managed")


def untrusted(
    program: str, project: str, variables: Mapping[str, str], parts: Sequence[str], events: int
) -> str | None:
    """Return why hooks are not run; None where all of them are trusted.

    Args:
        program: Codex.
        project: the folder that is worked in.
        variables: of the environment, ``CODEX_HOME`` among them.
        parts: what the commands of each pin's hooks hold.
        events: the number of hooks of a pin.

    Raises:
        OSError: Codex could not be asked.
    """
    hooks = _listed(program, project, variables)
    for part in parts:
        ours = [hook for hook in hooks if part in str(hook.get("command"))]
        waiting = [
            str(hook.get("eventName"))
            for hook in ours
            if hook.get("trustStatus") not in _TRUSTED or hook.get("enabled") is False
        ]
        if waiting:
            return f"Codex does not trust its hook for {', '.join(waiting)}, and does not run it"
        if len(ours) < events:
            return "Codex does not see its hooks; of a project that it does not trust it reads none"
    return None


def _listed(program: str, project: str, variables: Mapping[str, str]) -> list[dict[str, Any]]:
    client = {"name": "constraintrot", "version": "1"}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": client}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}},
    ]
    with subprocess.Popen(
        [program, "app-server"],
        cwd=project,
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        timer = Timer(_SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            for message in asked:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                process.stdin.flush()
                answer = _answer(process.stdout, message["id"]) if "id" in message else {}
        finally:
            timer.cancel()
            process.kill()
    entries = answer.get("result", {}).get("data", [])
    return [hook for entry in entries for hook in entry.get("hooks", [])]


def _answer(lines: Any, number: int) -> dict[str, Any]:
    for line in lines:
        said = json.loads(line)
        if said.get("id") == number and "method" not in said:
            if "error" in said:
                why = said["error"].get("message", said["error"])
                raise OSError(f"Codex does not say which hooks it trusts: {why}")
            return dict(said)
    raise OSError("Codex' server ended before it answered")
