"""The hook of each coding agent: the settings that start it, and the place of its text.

Checked by running the versions named in ``docs/pin-coding-agents.md``.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from constraintrot.coding_agents.catalogue import Package, package
from constraintrot.coding_agents.pins.file_edit import PinInstallError
from constraintrot.coding_agents.pins.json_spans import Beyond

Scope: TypeAlias = Literal["user", "project"]


@dataclass(frozen=True)
class Agent:
    """An agent's hook, as ``pin install`` needs it."""

    package: Package  # the agent, in the version that this was tried with
    # Variable that moves the user's folder; the default folder, below the home; and the folder
    # below the variable's value.
    user_folder: tuple[str, str, str]
    user_file: str  # file of the hook or plugin, below the user's folder
    project_file: str  # the same, below a project's folder
    lands: str  # where in the request the text is, and when it is repeated
    # Patterns of the files below the user's folder that decide whether the hook runs.
    user_settings: tuple[str, ...] = ()
    project_settings: tuple[str, ...] = ()  # the same, below a project's folder
    events: tuple[str, ...] = ()  # the events that the hook is registered for; empty for a plugin
    timeout: int = 20  # of the hook, 20 seconds in the agent's unit
    plugin: tuple[str, ...] = ()  # names of the files that make up the plugin; empty for a hook
    # The same, for the plugin that tells the summarizer too.
    summarizer_plugin: tuple[str, ...] = ()
    by_hand: str = ""  # what the user has to do, or to know, after the installation
    # Settings of the hook that only this agent has.
    further: Mapping[str, int] = field(default_factory=dict)
    # The longest text, in bytes, that arrived whole when tried; longer rules are refused.
    longest: int = 100_000
    # Extensions of strict JSON that the agent accepts in its settings; it ignores a file with any
    # other.
    allows: frozenset[Beyond] = frozenset()
    # Whether it asks for the user's trust in a folder before it reads settings there, if the user's
    # settings do not decide that; None if it never asks.
    asks_trust: bool | None = None
    # Whether it reads a single file of hooks: that of its working folder, or else the user's.
    one_file: bool = False
    # Where it reads a project's settings: in its working ``folder``, also in the ``root`` of that
    # folder's repository, or in all ``parents`` up to this root; ``all parents`` are those up to
    # the disk's root if there is no repository.
    reads: Literal["folder", "root", "parents", "all parents"] = "folder"

    @property
    def name(self) -> str:
        return self.package.agent

    @property
    def title(self) -> str:
        return self.package.title

    def folder(self, home: Path | None = None) -> Path:
        """Return the user's folder of settings, or the default folder of another ``home``."""
        variable, below_home, below_variable = self.user_folder
        moved = os.environ.get(variable, "") if home is None else ""
        root = Path(moved) / below_variable if moved else (home or Path.home()) / below_home
        return root.absolute()

    def settings(self, scope: Scope, project: Path, home: Path | None = None) -> Path:
        """Return the file that the hook is written into, links not followed."""
        return (
            project / self.project_file
            if scope == "project"
            else self.folder(home) / self.user_file
        )


AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent
    for agent in (
        Agent(
            package=package("claude"),
            user_settings=("settings.json",),
            project_settings=(".claude/settings.json", ".claude/settings.local.json"),
            user_folder=("CLAUDE_CONFIG_DIR", ".claude", ""),
            user_file="settings.json",
            # Not the committed file: the command names this machine's paths.
            project_file=".claude/settings.local.json",
            events=("SessionStart", "UserPromptSubmit", "PostToolUse"),
            lands="system or user role, by model; at the start and after each compaction",
            # The model sees only the beginning of a text of more than 10,000 characters, and a
            # file's name; the difference is for the hook's warnings.
            longest=9_200,
            reads="root",
            allows=frozenset({"byte order mark"}),
        ),
        Agent(
            package=package("codex"),
            user_settings=("hooks.json", "config.toml"),
            project_settings=(".codex/hooks.json", ".codex/config.toml"),
            user_folder=("CODEX_HOME", ".codex", ""),
            user_file="hooks.json",
            project_file=".codex/hooks.json",
            events=("SessionStart", "UserPromptSubmit", "PostToolUse"),
            lands="developer message; at the start and after each compaction",
            # In tokens; by default Codex cuts a hook's text at 2,500.
            further={"additionalContextLimit": 30_000},
            reads="parents",
            by_hand="Codex runs a hook once you have trusted it: start codex, type /hooks, trust it",
        ),
        Agent(
            package=package("copilot"),
            user_settings=("settings.json", "hooks/*.json"),
            project_settings=(".github/copilot/settings.json", ".github/hooks/*.json"),
            user_folder=("COPILOT_HOME", ".copilot", ""),
            user_file="hooks/constraintrot-pin.json",
            project_file=".github/hooks/constraintrot-pin.json",
            plugin=("copilot.json",),
            lands="user role; with each turn of the user's",
            by_hand="Copilot CLI takes the text of one hook of an event only, the last one's: a"
            " hook of yours that says something with a turn can be in the way",
            asks_trust=True,
            reads="root",
        ),
        Agent(
            package=package("opencode"),
            user_settings=("opencode.json", "opencode.jsonc"),
            project_settings=("opencode.json", "opencode.jsonc"),
            user_folder=("XDG_CONFIG_HOME", ".config/opencode", "opencode"),
            user_file="plugins/constraintrot-pin.js",
            project_file=".opencode/plugins/constraintrot-pin.js",
            plugin=("run_hook.js", "opencode.js"),
            summarizer_plugin=("run_hook.js", "opencode_summarizer.js"),
            reads="all parents",
            lands="system; in every request",
            by_hand="opencode fetches the types of plugins from npm once for this folder; where npm"
            " cannot be reached it waits for them at each start, 80 seconds as tried",
        ),
        Agent(
            package=package("openhands"),
            # agent_settings.json holds the user's key.
            user_settings=("hooks.json",),
            project_settings=(".openhands/hooks.json",),
            user_folder=("", ".openhands", ""),
            user_file="hooks.json",
            project_file=".openhands/hooks.json",
            events=("UserPromptSubmit",),
            lands="user role; with each turn of the user's",
            by_hand="OpenHands reads .openhands/hooks.json of the folder that it is started in, or"
            " else yours: in a project that has that file, pin with --project too",
            one_file=True,
        ),
        Agent(
            package=package("gemini"),
            user_settings=("settings.json",),
            project_settings=(".gemini/settings.json",),
            user_folder=("GEMINI_CLI_HOME", ".gemini", ".gemini"),
            user_file="settings.json",
            project_file=".gemini/settings.json",
            events=("BeforeAgent", "AfterTool"),
            timeout=20_000,
            lands="user role; with each turn of the user's",
            allows=frozenset({"comment"}),
            asks_trust=True,
        ),
        Agent(
            package=package("qwen"),
            user_settings=("settings.json",),
            project_settings=(".qwen/settings.json",),
            user_folder=("QWEN_HOME", ".qwen", ""),
            user_file="settings.json",
            project_file=".qwen/settings.json",
            events=("SessionStart", "UserPromptSubmit", "PostToolUse"),
            timeout=20_000,
            lands="system; in every request",
            allows=frozenset({"comment", "byte order mark"}),
            asks_trust=False,
        ),
        Agent(
            package=package("pi"),
            user_settings=("settings.json",),
            user_folder=("PI_CODING_AGENT_DIR", ".pi/agent", ""),
            user_file="extensions/constraintrot-pin.ts",
            project_file=".pi/extensions/constraintrot-pin.ts",
            plugin=("run_hook.js", "pi.ts"),
            lands="system; in every request",
        ),
    )
}

PROXY: Final = (
    "put the pins into its requests with the LiteLLM proxy instead:"
    " https://github.com/constraintrot/constraintrot/blob/main/docs/frameworks/litellm.md"
)
UNPINNABLE: Final[Mapping[str, str]] = {
    "vibe": "Mistral Vibe runs no hook at a turn of the user's or after a compaction",
    "continue": "whether a hook of Continue's CLI holds a pin was not tried",
}


def agent_named(name: str) -> Agent:
    """Return the agent of a name."""
    if name in UNPINNABLE:
        raise PinInstallError(f"{UNPINNABLE[name]}; {PROXY}")
    if name not in AGENTS:
        known = ", ".join(sorted(AGENTS))
        raise PinInstallError(f"unknown agent {name!r}; known: {known}. For any other, {PROXY}")
    return AGENTS[name]
