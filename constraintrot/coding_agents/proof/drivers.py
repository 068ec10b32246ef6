"""How each agent is started in a throw-away home, without an account, and made to compact."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROJECT_LINES: Final = 400
"""Lines of ``notes.txt`` in the project, for an agent that compacts what a tool returned."""
_OPENCODE: Final = "1.18.33"
_CODEX: Final = """\
model = "check-model"
model_provider = "check"
model_context_window = 100000
model_auto_compact_token_limit = 60000
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.check]
name = "check"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "CHECK_KEY"
[features]
plugins = false
apps = false
remote_plugin = false
[analytics]
enabled = false
"""


@dataclass(frozen=True)
class Driver:
    """One agent.

    Attributes:
        files: of its home, by path below it, given the endpoint's address.
        variables: of its environment, given the endpoint's address.
        first: the arguments of the first turn.
        later: the arguments of a turn of the same session.
        compact: the arguments that compact; None where a full context does.
        used: tokens of a full context.
        call: a tool that the model calls at the full turn, for an agent that compacts within
            a turn only.
    """

    files: Callable[[str], Mapping[str, str]]
    variables: Callable[[str], Mapping[str, str]]
    first: Callable[[str], list[str]]
    later: Callable[[str], list[str]]
    compact: list[str] | None = None
    used: int = 0
    call: tuple[str, dict[str, Any]] | None = None


def _claude_variables(url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "check",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        # It refuses some things as root otherwise.
        "IS_SANDBOX": "1",
    }


def _opencode_files(url: str) -> Mapping[str, str]:
    limits = {"context": 64000, "output": 4000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "check",
        "options": {"baseURL": f"{url}/v1", "apiKey": "check"},
        "models": {"check-model": {"name": "check-model", "tool_call": True, "limit": limits}},
    }
    settings = {
        "model": "check/check-model",
        "small_model": "check/check-model",
        "share": "disabled",
        "autoupdate": False,
        "enabled_providers": ["check"],
        "provider": {"check": provider},
    }
    files = {"opencode.json": json.dumps(settings), **opencode_types()}
    return {f".config/opencode/{name}": text for name, text in files.items()}


def opencode_types() -> Mapping[str, str]:
    """What looks as if the types of plugins were installed, by path in a folder of settings.

    opencode fetches them for a folder that has plugins, and waits minutes for a registry
    that it cannot reach.
    """
    types = {"@opencode-ai/plugin": _OPENCODE}
    package = {"version": _OPENCODE}
    packages = {"": {"dependencies": types}, "node_modules/@opencode-ai/plugin": package}
    return {
        "package.json": json.dumps({"dependencies": types}),
        "package-lock.json": json.dumps({"lockfileVersion": 3, "packages": packages}),
        "node_modules/@opencode-ai/plugin/package.json": json.dumps(package),
    }


def _gemini_files(url: str) -> Mapping[str, str]:
    settings = {
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},
        },
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "model": {"name": "gemini-2.5-pro", "compressionThreshold": 0.05},
        "experimental": {"useModelRouter": False},
    }
    return {".gemini/settings.json": json.dumps(settings, indent=2)}


def _pi_files(url: str) -> Mapping[str, str]:
    costs = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {
        "id": "check-model",
        "name": "check-model",
        "reasoning": False,
        "input": ["text"],
        "contextWindow": 64000,
        "maxTokens": 4000,
        "cost": costs,
    }
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "check",
        "models": [model],
    }
    settings = {
        "compaction": {"enabled": True, "reserveTokens": 16000, "keepRecentTokens": 50},
        "quietStartup": True,
        "enableInstallTelemetry": False,
    }
    return {
        ".pi/agent/models.json": json.dumps({"providers": {"check": provider}}),
        ".pi/agent/settings.json": json.dumps(settings),
    }


_PI: Final = ["--provider", "check", "--model", "check-model", "--mode", "json"]
_GEMINI: Final = ["-m", "gemini-2.5-pro", "--yolo", "--output-format", "stream-json"]
# What trusts a hook is kept in the user's own settings, which this home is not.
_CODEX_FLAGS: Final = ["--dangerously-bypass-hook-trust"]

DRIVERS: Final[Mapping[str, Driver]] = {
    "claude": Driver(
        files=lambda url: {},
        variables=_claude_variables,
        first=lambda text: ["-p", "--output-format", "json", "--", text],
        later=lambda text: ["-p", "--output-format", "json", "-c", "--", text],
        compact=["-p", "--output-format", "json", "-c", "--", "/compact"],
    ),
    "codex": Driver(
        files=lambda url: {".codex/config.toml": _CODEX.format(url=url)},
        variables=lambda url: {"CHECK_KEY": "check"},
        first=lambda text: ["exec", *_CODEX_FLAGS, "--skip-git-repo-check", "--json", text],
        later=lambda text: [
            *("exec", *_CODEX_FLAGS, "resume", "--last"),
            *("--skip-git-repo-check", "--json", text),
        ],
        used=80_000,
    ),
    "opencode": Driver(
        files=_opencode_files,
        variables=lambda url: {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        first=lambda text: ["run", "--format", "json", text],
        later=lambda text: ["run", "--format", "json", "-c", text],
        used=62_000,
    ),
    "gemini": Driver(
        files=_gemini_files,
        variables=lambda url: {
            "GEMINI_API_KEY": "check",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        first=lambda text: [*_GEMINI, "-p", text],
        later=lambda text: [*_GEMINI, "-r", "latest", "-p", text],
        used=500_000,
        call=("read_file", {"file_path": "notes.txt"}),
    ),
    "pi": Driver(
        files=_pi_files,
        variables=lambda url: {
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
        },
        first=lambda text: [*_PI, "-p", text],
        later=lambda text: [*_PI, "-c", "-p", text],
        used=60_000,
    ),
}


def make_home(driver: Driver, home: Path, work: Path, url: str) -> None:
    """The files of a throw-away home and project."""
    for name, text in driver.files(url).items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lines = (f"{number} of a long list that says nothing\n" for number in range(PROJECT_LINES))
    (work / "notes.txt").write_text("".join(lines), encoding="utf-8")
