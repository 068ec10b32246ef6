"""The state of a pin on this machine, without starting the agent."""

from __future__ import annotations

import hmac
import json
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from constraintrot.coding_agents.install import kept, of_user
from constraintrot.coding_agents.pins import targets
from constraintrot.coding_agents.pins.agents import AGENTS, Agent
from constraintrot.coding_agents.pins.compiled import read_compiled, registry_of, source_of
from constraintrot.coding_agents.pins.file_edit import OlderListError, PinInstallError, read_file
from constraintrot.coding_agents.pins.record import Pin, Record
from constraintrot.coding_agents.pins.settings_edit import check_dialect, holds_hooks, root_of
from constraintrot.defenses.operator.pin_list import of_repository
from constraintrot.errors import ConstraintRotError

_RECEIPTS: Final = "receipts.jsonl"
_SECONDS: Final = 30


@dataclass
class Health:
    """The state of a pin; ``says`` and ``faults`` are sentences for the user."""

    agent: str
    title: str
    scope: str
    project: str | None
    settings: str
    applies: bool  # whether the agent reads these settings in the given folder
    text: str = ""  # what the hook hands out; empty if nothing
    hook_answers: bool = False  # whether it handed out every policy, word for word
    blocks: list[str] = field(default_factory=list[str])
    revision: int = 0  # of the list; 0 if it cannot be read
    # Name, repository, revision and key of the signed list; None for another source.
    signed: dict[str, Any] | None = None
    says: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])

    def facts(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "text"}


def health(record: Record, here: Path) -> Health:
    pin = record.pin
    own = record.project if pin.scope == "project" else None
    state = Health(
        pin.agent.name, pin.agent.title, pin.scope, own, str(pin.settings), record.applies(here)
    )
    if record.elsewhere:
        variable = pin.agent.user_folder[0]
        state.says.append(f"in force where {variable} is as it was when this was installed")
        return state
    try:
        compiled = read_compiled(pin.folder)
    except ConstraintRotError as error:
        state.faults.append(str(error))
        return state
    state.blocks, state.revision = compiled["blocks"], compiled["revision"]
    project = Path(record.project) if pin.scope == "project" else here
    _check_settings(state, record, compiled)
    _check_switches(state, pin.agent, project)
    if pin.agent.asks_trust is not None and pin.scope == "project":
        _check_trust(state, pin.agent, project)
    if pin.agent.one_file and pin.scope == "user":
        _check_hidden(state, Pin(pin.agent, "project", here), pin.settings)
    _run_hook(state, pin.agent, pin.folder)
    _check_rules(state, pin.folder)
    _tell_receipts(state, read_receipts(pin.folder))
    return state


def program_of(agent: str) -> Path | None:
    """Return an agent's program: the user's own, else the one that ``agents install`` keeps."""
    package = AGENTS[agent].package
    installed = of_user(package) or kept(package)
    return installed.program if installed else None


def _check_settings(state: Health, record: Record, compiled: dict[str, Any]) -> None:
    pin = record.pin
    try:
        for target in targets.of(pin.agent, pin.settings, pin.folder, compiled, record.summarizer):
            now = read_file(target.path)
            if target.kind == "hooks":
                check_dialect(now, pin.agent)
                held = holds_hooks(now.text, target.value)
            elif target.kind == "plugin":
                held = now.data == target.value.encode()
            else:
                held = target.value in targets.toml_of(now.text).values()
            if not held:
                state.faults.append(
                    f"{target.path} does not hold what was installed; install again"
                )
    except PinInstallError as error:
        state.faults.append(f"{pin.settings}: {error}")
    hook, kept = Path(__file__).with_name("hook.py"), pin.folder / "hook.py"
    if not kept.exists() or kept.read_bytes() != hook.read_bytes():
        state.faults.append("the hook is missing or of another version; install again")


def _check_switches(state: Health, agent: Agent, project: Path) -> None:
    """Check for settings that switch all hooks off; a project's override the user's."""
    off = False
    files = [agent.folder() / name for name in agent.user_settings]
    for path in [*files, *(project / name for name in agent.project_settings)]:
        try:
            text = read_file(path).text
            known: Any = targets.toml_of(text) if path.suffix == ".toml" else root_of(text)
            if path.suffix == ".toml":
                off = known.get("features", {}).get("hooks", not off) is False
            else:
                switch = known.get("hooksConfig", {}).get("enabled", not off)
                off = known.get("disableAllHooks", switch is False) is True
        except (PinInstallError, AttributeError):
            continue  # Reported already, or not readable for the agent either.
    if off:
        state.faults.append(f"hooks are switched off in the settings of {agent.title}")


def _check_hidden(state: Health, other: Pin, mine: Path) -> None:
    """Check that a project's hooks do not hide the user's; a pin there includes the user's list."""
    try:
        known = read_file(other.settings)
        held = known.data is None or other.part in known.text
    except PinInstallError:
        held = False
    if not held and other.settings != mine:
        state.faults.append(
            f"{state.title} reads {other.settings} in this folder and not {mine}: pin with"
            " --project here, too"
        )


def _check_trust(state: Health, agent: Agent, project: Path) -> None:
    """Check the user's trust in the folder: without it some agents ignore a project's settings."""
    trusted = _trusted(agent)
    if trusted is not None and not any(project.is_relative_to(one) for one in trusted):
        state.faults.append(
            f"{agent.title} does not trust {project}, and runs no hook of its settings: start"
            f" {agent.package.program} there, and trust the folder"
        )


def _trusted(agent: Agent) -> list[Path] | None:
    """Return the folders that the user trusts; None if the agent does not ask, or it is unknown."""
    folder = agent.folder()
    try:
        if agent.name == "copilot":
            kept: Any = root_of(read_file(folder / "config.json").text)
            return [
                Path(one) for one in kept.get("trustedFolders", kept.get("trusted_folders", []))
            ]
        known: Any = root_of(read_file(folder / "settings.json").text)
        trust = known.get("security", {}).get("folderTrust", {})
        if trust.get("enabled", agent.asks_trust) is False:
            return None
        rules: Any = root_of(read_file(folder / "trustedFolders.json").text)
        folders = [(Path(path), rule) for path, rule in rules.items()]
    except (PinInstallError, AttributeError):
        return None
    below = [path for path, rule in folders if rule == "TRUST_FOLDER"]
    return [*below, *(path.parent for path, rule in folders if rule == "TRUST_PARENT")]


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
    compiled = read_compiled(folder)
    told = answer.get("systemMessage")
    if told and told != f"constraintrot: {compiled.get('refused')}":
        state.faults.append(told)
    state.blocks, state.revision = compiled["blocks"], compiled["revision"]
    state.hook_answers = all(content in state.text for content in compiled["contents"].values())
    if not state.hook_answers:
        state.faults.append("the hook does not hand out every policy")
        return
    state.says.append(
        f"the hook answers in {took:.0f} ms: blocks: {', '.join(state.blocks)},"
        f" {len(state.text):,} characters, revision {state.revision}"
    )


def _check_rules(state: Health, folder: Path) -> None:
    compiled = read_compiled(folder)
    if signed := compiled.get("signed"):
        state.signed = signed
        state.says.append(
            f"signed by key {signed['key']} for {of_repository(signed['repository'])}: the list"
            f" {signed['name']!r}, revision {signed['revision']}"
        )
    try:
        registry_of(source_of(compiled), folder.parent)
    except (ConstraintRotError, OSError) as error:
        if isinstance(error, OlderListError) and error.holds(signed):
            state.says.append(f"{error}; the later one holds")
            return
        state.faults.append(f"the policies cannot be read: {error}")


def _tell_receipts(state: Health, receipts: Receipts) -> None:
    given = [one for one in receipts.kept if one.get("source") != "status"]
    last = f", the last at {given[-1]['at']} ({given[-1]['event']})" if given else ""
    none = "no receipts: the agent has not run the hook yet"
    state.says.append(f"{len(given)} receipts{last}" if given else none)
    if receipts.forged:
        state.faults.append(f"not written by the hook: {', '.join(receipts.forged[:10])}")


@dataclass(frozen=True)
class Receipts:
    """The receipts of a pin's hook: one for each text that it handed out."""

    kept: tuple[dict[str, Any], ...]  # the receipts with a seal by the pin's key, oldest first
    forged: tuple[str, ...]  # the lines without a valid seal, by file and number from 1


def read_receipts(folder: Path) -> Receipts:
    """Read the receipts in a pin's folder; the hook starts a new file when one is full.

    A line counts only with a seal by the folder's key, so only those who can read the key can
    write receipts.
    """
    kept, forged = [], []
    try:
        key = (folder / "key").read_bytes()
    except FileNotFoundError:
        return Receipts((), ())
    for file in (folder / f"{_RECEIPTS}.1", folder / _RECEIPTS):
        lines = file.read_bytes().splitlines() if file.exists() else []
        for number, line in enumerate(lines, start=1):
            receipt = _opened(line, key)
            if receipt is None:
                forged.append(f"{file.name} line {number}")
            else:
                kept.append(receipt)
    return Receipts(tuple(kept), tuple(forged))


def _opened(line: bytes, key: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
        receipt, seal = read["receipt"], read["seal"]
        body = json.dumps(receipt, sort_keys=True, separators=(",", ":")).encode("ascii")
        if hmac.compare_digest(hmac.new(key, body, "sha256").hexdigest(), seal):
            return dict(receipt)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
