"""The settings that point each agent at our endpoint and switch off its other network use.

The harness writes them into a throw-away HOME; the proof of a pin lays them over a copy of the
user's own. Nothing here needs Inspect.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from constraintrot.coding_agents.catalogue import package

MODEL: Final = "constraintrot"
"""The model's name in the agents' requests."""
KEY: Final = "none"
# Not OpenAI's own name: Codex asks that provider for an opaque compaction.
PROVIDER: Final = "loopback"
GEMINI_MODEL: Final = "gemini-2.5-pro"
"""A real model's name: Gemini CLI knows only the windows of its own models."""
OUTPUT: Final = 4_000
"""Tokens that an agent keeps free in its window for an answer."""
_OFF: Final = {"enabled": False}
_CODEX_OFF: Final = (
    "plugins", "apps", "remote_plugin", "image_generation", "browser_use",
    "browser_use_external", "computer_use", "in_app_browser", "tool_suggest", "goals",
    "enable_request_compression", "skill_search",
)  # fmt: skip
# Features that use the network, or that take time and no episode needs: file index, skills.
_OPENCODE_OFF: Final = (
    "AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "FFF", "CLAUDE_CODE",
    "EXTERNAL_SKILLS", "EMBEDDED_WEB_UI",
)  # fmt: skip

OPENCODE_ENVIRONMENT: Final[Mapping[str, str]] = {
    f"OPENCODE_DISABLE_{name}": "1" for name in _OPENCODE_OFF
}
PI_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PI_OFFLINE": "1",
    "PI_SKIP_VERSION_CHECK": "1",
    "PI_TELEMETRY": "0",
}


def claude_environment(url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        # As root, it skips its permission prompts only in a sandbox.
        "IS_SANDBOX": "1",
    }


def codex_config(url: str, window: int, compacts_at: int) -> dict[str, Any]:
    provider = {
        "name": PROVIDER,
        "base_url": f"{url}/v1",
        "wire_api": "responses",
        "env_key": "LOOPBACK_KEY",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    return {
        "model": MODEL,
        "model_provider": PROVIDER,
        "model_context_window": window,
        "model_auto_compact_token_limit": compacts_at,
        "approval_policy": "never",
        "check_for_update_on_startup": False,
        "web_search": "disabled",
        "model_providers": {PROVIDER: provider},
        "features": dict.fromkeys(_CODEX_OFF, False),
        "analytics": _OFF,
        "feedback": _OFF,
        "otel": {"exporter": "none"},
    }


def toml_settings(table: Mapping[str, Any], *above: str) -> Iterator[str]:
    """Yield nested tables as lines ``a.b = VALUE``; plain values are the same in TOML and JSON."""
    for name, value in table.items():
        path = (*above, name if name.isidentifier() else json.dumps(name))
        if isinstance(value, Mapping):
            yield from toml_settings(value, *path)
        else:
            yield f"{'.'.join(path)} = {json.dumps(value, ensure_ascii=False)}"


def opencode_config(url: str, window: int) -> dict[str, Any]:
    limit = {"context": window, "output": OUTPUT}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": PROVIDER,
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": MODEL, "tool_call": True, "limit": limit}},
    }
    return {
        "model": f"{PROVIDER}/{MODEL}",
        "small_model": f"{PROVIDER}/{MODEL}",
        "share": "disabled",
        "autoupdate": False,
        "enabled_providers": [PROVIDER],
        "provider": {PROVIDER: provider},
    }


def opencode_types() -> Mapping[str, str]:
    """Return stub files, by path in a folder of settings, that pass for installed plugin types.

    Without them opencode fetches the types for a folder that has plugins, and waits minutes for
    a registry that it cannot reach.
    """
    version = package("opencode").version
    types = {"@opencode-ai/plugin": version}
    packages = {
        "": {"dependencies": types},
        "node_modules/@opencode-ai/plugin": {"version": version},
    }
    return {
        "package.json": json.dumps({"dependencies": types}),
        "package-lock.json": json.dumps({"lockfileVersion": 3, "packages": packages}),
        "node_modules/@opencode-ai/plugin/package.json": json.dumps({"version": version}),
    }


def gemini_settings(threshold: float) -> dict[str, Any]:
    """``threshold`` is the share of the window, 0 to 1, at which it compacts."""
    return {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": _OFF},
        "telemetry": _OFF,
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "model": {"name": GEMINI_MODEL, "compressionThreshold": threshold},
        "experimental": {"useModelRouter": False},
    }


def gemini_environment(url: str) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        # Otherwise it starts itself a second time, with a larger heap.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }


def qwen_settings(window: int, **more: Any) -> dict[str, Any]:
    """It compacts at half of ``window``, in tokens."""
    return {
        # Without a version it rewrites the file.
        "$version": 4,
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": _OFF},
        "telemetry": _OFF,
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "model": {"name": MODEL, "generationConfig": {"contextWindowSize": window}},
        "context": {"autoCompactThreshold": 0.5},
        # Extra requests: suggestions for the user, and notes for its memory.
        "ui": {"enableFollowupSuggestions": False},
        "memory": {
            "enableManagedAutoMemory": False,
            "enableManagedAutoDream": False,
            "enableAutoSkill": False,
        },
        **more,
    }


def qwen_environment(url: str) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": MODEL,
        "QWEN_CODE_NO_RELAUNCH": "true",
    }


def copilot_environment(url: str, window: int) -> dict[str, str]:
    """Copilot CLI's variables; ``window`` is the most tokens of a request."""
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": MODEL,
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(window),
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": str(OUTPUT),
        # No account, no telemetry, no update.
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


def openhands_environment(home: Path) -> dict[str, str]:
    return {
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "DO_NOT_TRACK": "1",
        # Otherwise LiteLLM, which it uses, downloads lists of models and headers.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
        # Otherwise all sessions of a user share one tmux server, and end with it.
        "TMUX_TMPDIR": str(home / "tmp"),
    }


def openhands_settings(url: str, **condenser: int) -> dict[str, Any]:
    """The condenser compacts above ``max_size`` events and keeps the ``keep_first`` oldest."""
    llm = {
        "model": f"openai/{MODEL}",
        "base_url": f"{url}/v1",
        "api_key": KEY,
        "num_retries": 0,
        "timeout": 900,
    }
    summarizer = {"kind": "LLMSummarizingCondenser", "llm": {**llm, "usage_id": "condenser"}}
    return {
        "kind": "Agent",
        "llm": {**llm, "usage_id": "agent"},
        "condenser": {**summarizer, **condenser},
    }


def pi_models(url: str, window: int) -> dict[str, Any]:
    model = {
        "id": MODEL,
        "name": MODEL,
        "reasoning": False,
        "input": ["text"],
        "contextWindow": window,
        "maxTokens": OUTPUT,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [model],
    }
    return {"providers": {PROVIDER: provider}}


def pi_settings(*, compacts: bool, keeps: int | None) -> dict[str, Any]:
    """``keeps``: tokens of the newest messages that it keeps; None for its default."""
    compaction: dict[str, Any] = {"enabled": compacts, "reserveTokens": OUTPUT}
    return {
        "compaction": compaction | ({} if keeps is None else {"keepRecentTokens": keeps}),
        "quietStartup": True,
        "enableInstallTelemetry": False,
        "defaultProvider": PROVIDER,
        "defaultModel": MODEL,
        "retry": {"enabled": False},
    }
