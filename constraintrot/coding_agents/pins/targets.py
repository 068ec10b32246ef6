"""The changes to an agent's files: hooks in JSON, a plugin, or a line of TOML."""

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from constraintrot.coding_agents.pins import settings_edit
from constraintrot.coding_agents.pins.agents import Agent
from constraintrot.coding_agents.pins.file_edit import FileState, PinInstallError
from constraintrot.coding_agents.pins.hook import handed

Kind: TypeAlias = Literal["hooks", "plugin", "prompt"]

LOST: Final = (
    "WARNING from constraintrot, which keeps the standing policies of this session: its hook could"
    " not be run, so no policy could be read, though there are some. Tell the user this before you"
    " do anything else, and do nothing that cannot be undone until they have answered."
)
SHORT: Final = "constraintrot: the hook of the standing policies could not be run"
_BEGIN: Final = "# constraintrot pin: begin\n"
_LONG_KEY: Final = re.compile(r"(?:(?<![\w\"'-])[\w\"'-]+\s*\.\s*)(?:[\w\"'-]+\s*\.\s*){64}")
_END: Final = "# constraintrot pin: end\n"
_PLUGINS: Final = Path(__file__).parent / "plugins"
_SUMMARY: Final = (
    "Write a summary of this conversation with which another model can go on with the work:"
    " what was asked, what was done and decided, what is open, and every rule that the user gave."
    " Then repeat these policies word for word:\n\n"
)
# Codex writes a new key of the user's before the comment that ends ours.
_OURS: Final = re.compile(
    rf"""^(?:# constraintrot pin: (?:begin|end)|compact_prompt = "{_SUMMARY[:37]}.*)\r?\n?""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Target:
    """Our part of one file."""

    kind: Kind
    path: Path
    # A text that only our part of the file holds, also if it is from another machine or folder, or
    # of a pin whose own folder was lost.
    part: str
    value: Any  # the entries by event, or the text
    agent: Agent

    def put_into(self, state: FileState) -> tuple[bytes, list[str]]:
        """Return the file's bytes with our part, and the keys created for it."""
        if self.kind == "hooks":
            settings_edit.check_dialect(state, self.agent)
            created = settings_edit.created_by(state.text, self.value)
            return state.encoded(settings_edit.with_hooks(state.text, self.value)), created
        if self.kind == "plugin":
            if state.data is not None:
                raise PinInstallError("there is a file of this name already")
            return self.value.encode(), []
        return state.encoded(_with_prompt(state.text, self.value)), []


def of(
    agent: Agent, settings: Path, folder: Path, compiled: Mapping[str, Any], summarizer: bool
) -> list[Target]:
    """Return the changes to an agent's files."""
    if summarizer and agent.name not in ("codex", "opencode"):
        raise PinInstallError(
            f"{agent.title} has no setting that tells its summarizer something; leave"
            " --summarizer-prompt out"
        )
    hook = str(folder / "hook.py")
    part = f"constraintrot/pins/{folder.name.rpartition('-')[0]}-"
    if agent.plugin:
        names = agent.summarizer_plugin if summarizer else agent.plugin
        return [Target("plugin", settings, part, _plugin(agent, names, hook), agent)]
    entries = {event: _entry(agent, event, hook) for event in agent.events}
    made = [Target("hooks", settings, part, entries, agent)]
    if summarizer:
        config = settings.with_name("config.toml")
        made.append(Target("prompt", config, _BEGIN, _SUMMARY + compiled["text"], agent))
    return made


def without(kind: Kind, state: FileState, part: str, created: Collection[str]) -> bytes | None:
    """Return the bytes without our part of a file that the user has changed since."""
    if state.data is None:
        return None
    if kind == "plugin":
        # The whole file was ours, and the agent would still run it.
        return None if json.dumps(part)[1:-1] in state.text else state.data
    if kind == "hooks":
        return state.encoded(settings_edit.without_hooks(state.text, part, created))
    return state.encoded(_OURS.sub("", state.text))


def command(agent: Agent, event: str, hook: str) -> str:
    """Return the shell command that starts the hook, or prints a warning if that fails."""
    for path in (sys.executable, hook):
        if "$" in path or not path.isprintable():
            raise PinInstallError(f"the path {path!a} holds a character that agents replace")
    lost = json.dumps({**handed(agent.name, event, LOST), "systemMessage": SHORT})
    return f"{shlex.join(words(agent, hook))} || printf %s {shlex.quote(lost)}"


def words(agent: Agent, hook: str) -> list[str]:
    """Return the command that starts the hook, isolated from the environment and ``site``."""
    return [sys.executable, "-I", "-S", hook, agent.name]


def _entry(agent: Agent, event: str, hook: str) -> dict[str, Any]:
    started: dict[str, Any] = {
        "type": "command",
        "command": command(agent, event, hook),
        "timeout": agent.timeout,
        **agent.further,
    }
    return {"hooks": [started]}


def _plugin(agent: Agent, names: Collection[str], hook: str) -> str:
    text = "".join((_PLUGINS / name).read_text(encoding="utf-8") for name in names)
    values = {"PYTHON": sys.executable, "HOOK": hook, "LOST": LOST, "AGENT": agent.name}
    values |= {event: command(agent, event, hook) for event in ("UserPromptSubmit", "PostToolUse")}
    for name, value in values.items():
        text = text.replace(f'"@{name}@"', json.dumps(value))
    return text


def _with_prompt(text: str, prompt: str) -> str:
    known = toml_of(text)
    for key in ("compact_prompt", "experimental_compact_prompt_file"):
        if key in known:
            raise PinInstallError(f"it has a {key} of yours, which is left alone")
    # Keys of the root come before the first table, so this goes to the first line.
    line = f"compact_prompt = {json.dumps(prompt, ensure_ascii=False)}\n"
    made = _BEGIN + line + _END + text
    if toml_of(made) != {**known, "compact_prompt": prompt}:
        raise PinInstallError("the prompt cannot be written as TOML")
    return made


def toml_of(text: str) -> dict[str, Any]:
    # The time to parse a dotted key grows with the square of its parts.
    if _LONG_KEY.search(text):
        raise PinInstallError("it has a key of more than 64 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise PinInstallError("it is nested too deeply") from None
    except ValueError as error:  # TOML's own errors, and a number with thousands of digits
        raise PinInstallError(f"it is not TOML: {error}") from None
