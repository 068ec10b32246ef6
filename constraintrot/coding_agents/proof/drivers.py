"""Each agent's own command line and settings, over a copy of the user's, for a proof."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from constraintrot.coding_agents import configuration as made
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.settings_edit import with_value

PROJECT_LINES: Final = 400
"""Lines of ``notes.txt`` in the project, for an agent that compacts tools' results."""
_WINDOW: Final = 64_000


@dataclass(frozen=True)
class Place:
    """A throw-away home and project, with a copy of the user's settings, and the endpoint."""

    home: Path
    work: Path
    url: str

    def settings(self, agent: str) -> list[Path]:
        """Return the existing copies of an agent's settings, the user's first."""
        known = AGENTS[agent]
        of_user = (known.folder(self.home) / name for name in known.user_settings)
        files = [*of_user, *(self.work / name for name in known.project_settings)]
        return [path for path in files if path.exists()]

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def change(self, agent: str, *values: tuple[tuple[str, ...], object]) -> None:
        """Change only these values in the copies of an agent's JSON settings."""
        for path in self.settings(agent):
            text = path.read_bytes().decode("utf-8")
            for keys, value in values:
                text = with_value(text, keys, value)
            path.write_bytes(text.encode("utf-8"))


@dataclass(frozen=True)
class Started:
    """The variables that an agent is started with, and the arguments of every call."""

    variables: Mapping[str, str]
    arguments: Sequence[str] = ()


@dataclass(frozen=True)
class Driver:
    """The start and the turns of one agent."""

    prepare: Callable[[Place], Started]  # writes the settings that override the user's
    # A turn's arguments, from those of every call, the text, and whether it continues.
    turn: Callable[[Sequence[str], str, bool], list[str]]
    compact: str = ""  # the user's text that compacts; empty if a full context does
    used: int = 0  # tokens that a full context reports
    # A tool that the model calls at the full turn, for an agent that compacts only within a turn.
    call: tuple[str, dict[str, Any]] | None = None


def _claude(place: Place) -> Started:
    # These override variables and a provider in the user's settings.
    env = made.claude_environment(place.url)
    names = ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")
    over = {"env": {**env, **dict.fromkeys(names, "")}, "apiKeyHelper": ""}
    return Started(env, ["--settings", json.dumps(over), "--output-format", "json"])


def _codex(place: Place) -> Started:
    config = made.codex_config(place.url, 100_000, 60_000) | {"sandbox_mode": "read-only"}
    config["notify"] = []
    servers: set[str] = set()
    for path in place.settings("codex"):
        if path.suffix == ".toml":
            known = tomllib.loads(path.read_text(encoding="utf-8"))
            servers |= known.get("mcp_servers", {}).keys()
    config["mcp_servers"] = {name: {"enabled": False} for name in servers}
    lines = made.toml_settings(config)
    given = [word for line in lines for word in ("-c", line.replace(" = ", "=", 1))]
    # The user's trust in the hook is checked before, from the user's own settings.
    return Started({"LOOPBACK_KEY": made.KEY}, [*given, "--dangerously-bypass-hook-trust"])


def _opencode(place: Place) -> Started:
    # Otherwise it fetches packaged plugins and starts the user's servers.
    place.change("opencode", (("plugin",), []), (("mcp",), {}))
    for name, text in made.opencode_types().items():
        for folder in (AGENTS["opencode"].folder(place.home), place.work / ".opencode"):
            place.write(folder / name, text)
    over = json.dumps(made.opencode_config(place.url, _WINDOW))
    return Started({**made.OPENCODE_ENVIRONMENT, "OPENCODE_CONFIG_CONTENT": over})


def _gemini(place: Place) -> Started:
    # No option takes settings, and system settings are accepted only from safe folders.
    _over(place, "gemini", {**made.gemini_settings(0.05), "mcpServers": {}})
    given = ["-m", made.GEMINI_MODEL, "--yolo", "--output-format", "stream-json"]
    return Started(made.gemini_environment(place.url), given)


def _qwen(place: Place) -> Started:
    _over(place, "qwen", made.qwen_settings(_WINDOW, mcpServers={}))
    given = ["--yolo", "--auth-type", "openai", "--output-format", "stream-json"]
    return Started(made.qwen_environment(place.url), given)


def _copilot(place: Place) -> Started:
    # The user's trust in the project is checked before, from the user's own settings.
    trusted = json.dumps({"trustedFolders": [str(place.work)]})
    place.write(AGENTS["copilot"].folder(place.home) / "config.json", trusted)
    given = ["--allow-all", "--no-auto-update", "--disable-builtin-mcps", "--output-format", "json"]
    return Started(made.copilot_environment(place.url, _WINDOW), given)


def _openhands(place: Place) -> Started:
    # A small condenser: it compacts before the third turn's first request.
    settings = json.dumps(made.openhands_settings(place.url, max_size=6, keep_first=1))
    place.write(AGENTS["openhands"].folder(place.home) / "agent_settings.json", settings)
    return Started(made.openhands_environment(place.home), ["--headless", "--json"])


def _over(place: Place, agent: str, table: Mapping[str, Any]) -> None:
    """Put each value of a table into the agent's settings file; make the file if it is missing."""
    settings = AGENTS[agent].folder(place.home) / "settings.json"
    if not settings.exists():
        place.write(settings, "{}")
    place.change(agent, *_leaves(table))


def _leaves(table: Mapping[str, Any], *above: str) -> list[tuple[tuple[str, ...], object]]:
    found: list[tuple[tuple[str, ...], object]] = []
    for name, value in table.items():
        nested = isinstance(value, Mapping) and value
        found += _leaves(value, *above, name) if nested else [((*above, name), value)]
    return found


def _pi(place: Place) -> Started:
    models = json.dumps(made.pi_models(place.url, _WINDOW))
    place.write(AGENTS["pi"].folder(place.home) / "models.json", models)
    over = made.pi_settings(compacts=True, keeps=50)
    place.write(place.work / ".pi/settings.json", json.dumps(over))
    given = ["--provider", made.PROVIDER, "--model", made.MODEL, "--mode", "json"]
    return Started(made.PI_ENVIRONMENT, given)


DRIVERS: Final[Mapping[str, Driver]] = {
    "claude": Driver(
        _claude,
        lambda given, text, on: [*given, "-p", *(["-c"] if on else []), "--", text],
        compact="/compact",
    ),
    "copilot": Driver(
        _copilot,
        lambda given, text, on: [*given, *(["--continue"] if on else []), "-p", text],
        compact="/compact",
    ),
    "codex": Driver(
        _codex,
        lambda given, text, on: [
            *("exec", *given, *(["resume", "--last"] if on else [])),
            *("--skip-git-repo-check", "--json", text),
        ],
        used=80_000,
    ),
    "opencode": Driver(
        _opencode,
        lambda given, text, on: ["run", "--format", "json", *(["-c"] if on else []), text],
        used=62_000,
    ),
    "gemini": Driver(
        _gemini,
        lambda given, text, on: [*given, *(["-r", "latest"] if on else []), "-p", text],
        used=500_000,
        call=("read_file", {"file_path": "notes.txt"}),
    ),
    "qwen": Driver(
        _qwen,
        lambda given, text, on: [*given, *(["-c"] if on else []), "-p", text],
        used=61_000,
        call=("list_directory", {"path": "."}),
    ),
    "openhands": Driver(
        _openhands,
        lambda given, text, on: [*given, *(["--resume", "--last"] if on else []), "-t", text],
        used=1000,
        call=("think", {"thought": "There is nothing to do.", "security_risk": "LOW"}),
    ),
    "pi": Driver(
        _pi,
        lambda given, text, on: [*given, *(["-c"] if on else []), "-p", text],
        used=61_000,
    ),
}
