"""A throw-away home with a copy of a user's settings and pins, in which a proof is played.

The settings are copied to the byte, except that the path of the pin's hook becomes the copy's:
the installed hook runs there, on a copy of the rules. Codex runs only the hooks that it is told
to trust.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from threading import Timer
from typing import Any, Final

from constraintrot.coding_agents.pins.compiled import (
    Source,
    compile_rules,
    read_compiled,
    source_of,
    write_compiled,
)
from constraintrot.coding_agents.pins.file_edit import PinInstallError, read_file
from constraintrot.coding_agents.pins.record import Pin, Record

AMENDMENT: Final = "Rule added by this check: keep the file CHECK-AMENDED."
_PLAN: Final = "plan.json"


@dataclass(frozen=True)
class Plan:
    """The texts to look for, and their places."""

    agent: str
    texts: list[str]  # the text that each pin's hook hands out
    rules: str  # the copy of the rules that is amended
    kind: str
    # For Codex, a copy of the user's folder and the project, with which Codex is asked whether it
    # trusts the hooks; otherwise empty.
    trust: tuple[str, str] | tuple[()] = ()
    hooks: tuple[str, ...] = ()  # for each pin, a text that its hook's command holds

    @classmethod
    def read(cls, folder: Path) -> Plan:
        return cls(**json.loads((folder / _PLAN).read_text(encoding="utf-8")))

    def amend(self) -> None:
        """Add ``AMENDMENT`` to the copy of the rules."""
        if self.kind == "seeds":
            (Path(self.rules) / "check-amended.md").write_text(f"{AMENDMENT}\n", encoding="utf-8")
        else:
            with Path(self.rules).open("a", encoding="utf-8") as file:
                file.write(f"\n{AMENDMENT}\n")


def stage(records: Sequence[Record], folder: Path) -> None:
    """Copy the files of pins that are in force together, and the agent's settings.

    The empty ``folder`` gets ``home``, ``work`` and the plan. The user's pin comes first.
    """
    agent = records[-1].pin.agent
    home, work = folder / "home", folder / "work"
    for made in (home, work, home / "tmp"):
        made.mkdir(parents=True)
    projects = [Path(one.project) for one in records if one.scope == "project"]
    moved: dict[str, str] = {}
    texts: list[str] = []
    for record in records:
        copy = Pin(agent, record.scope, work, home)
        source = _copied(read_compiled(record.pin.folder), folder / record.scope)
        texts.append(_pin(record.pin, copy, source))
        moved[str(record.pin.folder / "hook.py")] = str(copy.folder / "hook.py")
    _all_settings(
        agent.folder(), agent.folder(home), (*agent.user_settings, agent.user_file), moved
    )
    for project in projects:
        _all_settings(project, work, (*agent.project_settings, agent.project_file), moved)
    plan = Plan(
        agent.name,
        texts,
        str(source.path),
        source.kind,
        _trusting(records[-1], folder) if agent.name == "codex" else (),
        tuple(record.pin.part for record in records),
    )
    (folder / _PLAN).write_text(json.dumps(asdict(plan)), encoding="utf-8")


def _copied(compiled: dict[str, Any], place: Path) -> Source:
    place.mkdir()
    source = source_of(compiled)
    if compiled.get("signed"):
        # Only the owner could sign the amendment, so the copy is a plain file.
        copy = place / "rules.txt"
        copy.write_text("\n\n".join(compiled["contents"].values()), encoding="utf-8")
        return Source("rules", copy)
    files = source.files()
    for file in files:
        shutil.copyfile(file, place / file.name)
    return Source(source.kind, place if source.kind == "seeds" else place / files[0].name)


def _pin(pin: Pin, copy: Pin, source: Source) -> str:
    """Copy a pin's folder, and return the text that its hook hands out."""
    compiled = read_compiled(pin.folder)
    (copy.folder / "sessions").mkdir(parents=True)
    shutil.copyfile(pin.folder / "hook.py", copy.folder / "hook.py")
    shutil.copyfile(pin.folder / "compiled.json", copy.folder / "compiled.json")
    key = secrets.token_bytes(32)
    (copy.folder / "key").write_bytes(key)
    given = (compiled["longest"], compiled["heading"], copy.named)
    made = compile_rules(copy.folder, source, key, *given)
    write_compiled(copy.folder, made)
    return str(made["text"])


def _all_settings(root: Path, copy: Path, names: Sequence[str], moved: Mapping[str, str]) -> None:
    for path in {found for name in names for found in root.glob(name)}:
        _settings(path, copy / path.relative_to(root), moved)


def _settings(path: Path, copy: Path, moved: Mapping[str, str]) -> None:
    try:
        data = read_file(path).data
    except PinInstallError:
        return  # The agent cannot read it either.
    if data is None:
        return
    for old, new in moved.items():
        # The path is in a string of JSON, TOML or a program, and may be quoted for a shell.
        pairs = ((shlex.quote(old), shlex.quote(new)), (old, new))
        for pair, ascii_only in product(pairs, (False, True)):
            words = (json.dumps(one, ensure_ascii=ascii_only)[1:-1] for one in pair)
            before, after = (one.encode() for one in words)
            data = data.replace(before, after)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(data)


def _trusting(record: Record, folder: Path) -> tuple[str, str]:
    """Copy the settings that state which hooks the user trusts, by the path of the hooks' file.

    The hooks' file is copied unchanged, because the trust is in its text.
    """
    agent, trust = record.pin.agent, folder / "trust"
    trust.mkdir()
    root = agent.folder()
    moved = {str(root): str(trust), os.path.realpath(root): str(trust)}
    _settings(root / "hooks.json", trust / "hooks.json", {})
    _settings(root / "config.toml", trust / "config.toml", moved)
    return str(trust), record.project


_SECONDS: Final = 60
_TRUSTED: Final = ("trusted", "managed")


def untrusted(
    program: str, project: str, variables: Mapping[str, str], parts: Sequence[str], events: int
) -> str | None:
    """Return why Codex does not run the hooks; None if all of them are trusted.

    ``parts`` has, for each pin, a text that its hooks' commands hold; a pin has ``events`` hooks.
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
