"""Prices of models, from a file or LiteLLM's table, and the cost of tokens."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from constraintrot.errors import ParameterError
from constraintrot.runs.plan import Size

Price: TypeAlias = Mapping[str, float]
"""Dollars a million tokens: ``input``, ``output``, and if known ``input_cache_read`` and
``input_cache_write``; the keys of Inspect's ``--model-cost-config``."""
Prices: TypeAlias = Mapping[str, Price]
# Providers whose models cost nothing a token.
FREE = ("scripted/", "local/", "hf/", "vllm/", "ollama/", "llama-cpp-python/", "mockllm/", "none")
_TABLE = "model_prices_and_context_window_backup.json"
_KEYS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "input_cache_read": "cache_read_input_token_cost",
    "input_cache_write": "cache_creation_input_token_cost",
}
_MILLION = 1e6


def read_prices(path: Path | None) -> dict[str, dict[str, float]]:
    """Read prices from a YAML file in the form of Inspect's ``--model-cost-config``."""
    if path is None:
        return {}
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {
            str(model): {"input": float(price["input"]), "output": float(price["output"])}
            | {name: float(price[name]) for name in _KEYS if name in price}
            for model, price in dict(content).items()
        }
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        raise ParameterError(
            f"--prices {path}: {error}; give YAML such as `openai/gpt-5.4-mini: {{input: 0.75,"
            " output: 4.5}`, in dollars a million tokens"
        ) from error


def price_of(model: str, given: Prices) -> Price | None:
    """Return a model's price: the file's, else 0 for ``FREE``, else LiteLLM's; None if unknown.

    The model is as Inspect names it; the keys of ``given`` are models or prefixes of their names.
    """
    name = longest_name(model, given)
    if name is not None:
        return given[name]
    if model.startswith(FREE):
        return {"input": 0.0, "output": 0.0}
    parts = model.split("/")
    for at in range(len(parts)):
        entry = _litellm().get("/".join(parts[at:]), {})
        found = {
            ours: entry[theirs] * _MILLION for ours, theirs in _KEYS.items() if theirs in entry
        }
        if found.keys() >= {"input", "output"}:
            return found
    return None


@cache
def _litellm() -> dict[str, dict[str, Any]]:
    """Return the table in LiteLLM's package, without its import; empty if it is not installed."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    path = Path(spec.origin).with_name(_TABLE)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def unknown() -> str:
    """Return what a plan says of a model without a price."""
    if _litellm():
        return "no price known (--prices)"
    return "no price known (--prices, or install constraintrot[litellm], which has a table)"


def longest_name(model: str, named: Mapping[str, Any]) -> str | None:
    """Return the entry for a model: the longest name that the model's name begins with."""
    return max((name for name in named if model.startswith(name)), key=len, default=None)


def cost(model: str, size: Size, prices: Prices) -> tuple[float, float] | None:
    """Return the least and most dollars of a model's uncached calls; None without a price."""
    price = price_of(model, prices)
    if price is None:
        return None
    low, high = (
        (sent * price["input"] + wrote * price["output"]) / _MILLION
        for sent, wrote in zip(size.input_tokens, size.output_tokens, strict=True)
    )
    return low, high


def usage_cost(price: Price, usage: Mapping[str, int | None]) -> float:
    """Return the dollars of one call, by the model's price.

    Token counts have the names of Inspect's ``ModelUsage``, whose input excludes the tokens read
    from or written to the cache, and whose output includes the reasoning.
    """
    counts = {
        "input": usage.get("input_tokens"),
        "output": usage.get("output_tokens"),
        "input_cache_read": usage.get("input_tokens_cache_read"),
        "input_cache_write": usage.get("input_tokens_cache_write"),
    }
    return sum((n or 0) * price.get(name, price["input"]) for name, n in counts.items()) / _MILLION
