"""Whether a pin is in order on this machine, as far as that can be seen without the agent."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import platformdirs

from constraintrot.coding_agents.pins import targets
from constraintrot.coding_agents.pins.agents import AGENTS, Agent
from constraintrot.coding_agents.pins.compiled import read_compiled, registry_of, source_of
from constraintrot.coding_agents.pins.errors import PinInstallError
from constraintrot.coding_agents.pins.file_edit import digest, read_file
from constraintrot.coding_agents.pins.installing import Record
from constraintrot.coding_agents.pins.receipts import Receipts, read_receipts
from constraintrot.coding_agents.pins.settings_edit import holds_hooks, root_of
from constraintrot.errors import ConstraintRotError

_SECONDS: Final = 30


@dataclass
class Health:
    """What was seen of a pin.

    Attributes:
        agent, title, scope, settings: which pin.
        text: what the hook hands out; empty where it hands out nothing.
        rules: the policies themselves.
        hook_answers: whether the hook handed out every policy, word for word.
        says: for the user, what is in order.
        faults: what is not.
    """

    agent: str
    title: str
    scope: str
    settings: str
    text: str = ""
    rules: str = ""
    hook_answers: bool = False
    says: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        return {name: value for name, value in vars(self).items() if name not in ("text", "rules")}


def health(record: Record) -> Health:
    """Look at a pin's files, and run its hook."""
    pin = record.pin
    state = Health(pin.agent.name, pin.agent.title, pin.scope, str(pin.settings))
    try:
        compiled = read_compiled(pin.folder)
    except ConstraintRotError as error:
        state.faults.append(str(error))
        return state
    _check_settings(state, record, compiled)
    _check_switches(state, pin.agent, pin.settings)
    _run_hook(state, pin.agent, pin.folder)
    _check_rules(state, pin.folder)
    _tell_receipts(state, read_receipts(pin.folder))
    if pin.agent.by_hand:
        state.says.append(f"not seen from here: {pin.agent.by_hand}")
    return state


def program_of(agent: str) -> Path | None:
    """An agent's program: on the path, else where ``constraintrot`` keeps agents."""
    name = AGENTS[agent].program
    if found := shutil.which(name):
        return Path(found)
    cache = platformdirs.user_cache_path("constraintrot") / "agents"
    return next(iter(sorted(cache.glob(f"**/node_modules/.bin/{name}"))), None)


def _check_settings(state: Health, record: Record, compiled: dict[str, Any]) -> None:
    pin = record.pin
    try:
        for target in targets.of(pin.agent, pin.settings, pin.folder, compiled, record.summarizer):
            now = read_file(target.path)
            target.check_dialect(now)
            if target.kind == "hooks":
                held = holds_hooks(now.text, target.value)
            elif target.kind == "plugin":
                held = now.data == target.value.encode()
            else:
                held = target.value in tomllib.loads(now.text).values()
            if not held:
                state.faults.append(
                    f"{target.path} does not hold what was installed; install again"
                )
    except (PinInstallError, tomllib.TOMLDecodeError) as error:
        state.faults.append(f"{pin.settings}: {error}")
    hook = Path(__file__).with_name("hook.py").read_bytes()
    kept = pin.folder / "hook.py"
    if not kept.exists() or digest(kept.read_bytes()) != digest(hook):
        state.faults.append("the hook is missing or of another version; install again")


def _check_switches(state: Health, agent: Agent, settings: Path) -> None:
    """Settings of the user's that switch all hooks off."""
    try:
        if agent.name == "codex":
            config = settings.with_name("config.toml")
            known: Any = tomllib.loads(read_file(config).text) if config.exists() else {}
            off = known.get("features", {}).get("hooks") is False
        elif agent.plugin:
            return
        else:
            known = root_of(read_file(settings).text)
            switch = known.get("hooksConfig", {})
            off = known.get("disableAllHooks") is True or switch.get("enabled") is False
    except (PinInstallError, tomllib.TOMLDecodeError, AttributeError):
        return  # Told already, or nothing that the agent would read.
    if off:
        state.faults.append(f"hooks are switched off in the settings of {agent.title}")


def _run_hook(state: Health, agent: Agent, folder: Path) -> None:
    event = {"hook_event_name": "status", "session_id": "", "source": "status"}
    command = targets.words(agent, str(folder / "hook.py"))
    started = time.monotonic()
    try:
        done = subprocess.run(
            command,
            input=json.dumps(event).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        took = (time.monotonic() - started) * 1000
        answer = json.loads(done.stdout)
        state.text = answer["hookSpecificOutput"]["additionalContext"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        state.faults.append(f"the hook does not run: {error}")
        return
    if "systemMessage" in answer:
        state.faults.append(answer["systemMessage"])
    compiled = read_compiled(folder)
    contents = list(compiled["contents"].values())
    state.rules = "\n\n".join(contents) + "\n"
    state.hook_answers = all(content in state.text for content in contents)
    if not state.hook_answers:
        state.faults.append("the hook does not hand out every policy")
        return
    names = ", ".join(compiled["blocks"])
    state.says.append(
        f"the hook answers in {took:.0f} ms: blocks: {names},"
        f" {len(state.text):,} characters, revision {compiled['revision']}"
    )


def _check_rules(state: Health, folder: Path) -> None:
    try:
        registry_of(source_of(read_compiled(folder)))
    except (ConstraintRotError, OSError) as error:
        state.faults.append(f"the policies cannot be read: {error}")


def _tell_receipts(state: Health, receipts: Receipts) -> None:
    given = [one for one in receipts.kept if one.get("source") != "status"]
    last = f", the last at {given[-1]['at']} ({given[-1]['event']})" if given else ""
    none = "no receipts: the agent has not run the hook yet"
    state.says.append(f"{len(given)} receipts{last}" if given else none)
    if receipts.forged:
        lines = ", ".join(map(str, receipts.forged[:10]))
        state.faults.append(f"receipts.jsonl: not written by the hook: line {lines}")
