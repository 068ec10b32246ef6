"""A guardrail's registry, nonce and skip rules, from its configuration."""

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from constraintrot.defenses.operator import load_pins
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.defenses.rampart.seeds.library import seed_files
from constraintrot.errors import ParameterError

_VARIABLE = "os.environ/"
# Least length: 16 random bytes in hexadecimal.
_NONCE = 32


_SIGNED = ("file", "key", "repository", "least_revision")


def registry_of(
    policies: Iterable[str] | None, seeds: str | Path | None, signed: Mapping[str, Any] | None
) -> Registry:
    """Return a registry with all pins of a configuration."""
    if signed is not None:
        if not isinstance(signed, Mapping) or not {"file", "key"} <= set(signed) <= set(_SIGNED):
            raise ParameterError(f"signed has file and key, and may have {', '.join(_SIGNED[2:])}")
        given = dict(signed)
        return load_pins(given.pop("file"), given.pop("key"), **given)
    operator = Principal("proxy")
    registry = Registry(operator, label="litellm proxy")
    if seeds is not None:
        for file in seed_files(Path(seeds)):
            registry.load(str(file), by=operator, pin=lambda seed: True)
    else:
        for text in _texts(policies):
            registry.pin(text, by=operator)
    if not registry.pins():
        raise ParameterError(f"{'policies' if seeds is None else seeds} holds nothing to pin")
    return registry


def nonce_of(given: str | None) -> str | None:
    """Return the configured nonce, or the value of the environment variable that it names."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise ParameterError("nonce is a text")
    value = given
    if given.startswith(_VARIABLE):
        name = given.removeprefix(_VARIABLE)
        value = os.environ.get(name, "")
        if not value:
            raise ParameterError(f"nonce: the environment variable {name} is not set")
    if len(value) < _NONCE:
        raise ParameterError(
            f"nonce is a secret of {_NONCE} characters or more, as of `openssl rand -hex 16`"
        )
    return value


def _texts(policies: Iterable[str] | None) -> list[str]:
    given = policies
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError("policies is a list of texts, not a text")
    texts = list(given)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ParameterError("policies holds what is not a text, or an empty one")
    return texts


RULES = ("models", "metadata", "tags", "no_tools", "last_message")


class SkipRules:
    """The setting ``skip``.

    Args:
        given: any of ``models`` and ``last_message``, patterns; ``tags``; ``metadata``, values
            that the request must all have; ``no_tools``, true.
    """

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        rules = dict(given or {})
        if unknown := sorted(set(rules) - set(RULES)):
            raise ParameterError(f"unknown rule {unknown[0]!r} in skip; known: {', '.join(RULES)}")
        self.models = _patterns(rules, "models")
        self.tags = _patterns(rules, "tags")
        self.last_message = _patterns(rules, "last_message")
        self.no_tools = rules.get("no_tools", False)
        if not isinstance(self.no_tools, bool):
            raise ParameterError("skip.no_tools is true or false")
        self.metadata = rules.get("metadata") or {}
        if not isinstance(self.metadata, Mapping):
            raise ParameterError("skip.metadata is names with their values")

    def rule(self, data: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
        """Return the name of the rule that skips a request; None if no rule does."""
        if self.is_skipped_model(data.get("model")):
            return "models"
        if {*_listed(data.get("tags")), *_listed(metadata.get("tags"))} & set(self.tags):
            return "tags"
        if self.metadata and all(metadata.get(key) == self.metadata[key] for key in self.metadata):
            return "metadata"
        text = _last_words(data)
        if text is not None and any(fnmatchcase(text, one) for one in self.last_message):
            return "last_message"
        return "no_tools" if self.no_tools and not data.get("tools") else None

    def is_skipped_model(self, model: Any) -> bool:
        """Return whether all models of a name, which may be a comma-separated list, are skipped."""
        names = [name.strip() for name in model.split(",")] if isinstance(model, str) else []
        return bool(names) and all(
            any(fnmatchcase(name, pattern) for pattern in self.models) for name in names
        )


def _last_words(data: Mapping[str, Any]) -> str | None:
    """Return the user's text at the end of a request; None if the end is not the user's.

    A tool's result is not the user's, so a document cannot make a request be skipped.
    """
    history: Any = data.get("messages", data.get("input"))
    if isinstance(history, str):
        return history.strip()
    message = _last(history)
    if message.get("role") != "user":
        return None
    content: Any = message.get("content")
    if not isinstance(content, str):
        # Claude Code's last message has tools' results before the user's text.
        part = _last(content)
        content = part.get("text") if part.get("type") in ("text", "input_text") else None
    return content.strip() if isinstance(content, str) else None


def _last(given: Any) -> Mapping[str, Any]:
    listed: list[Any] = given if isinstance(given, list) else []
    last: Any = listed[-1] if listed else None
    return cast("Mapping[str, Any]", last) if isinstance(last, Mapping) else {}


def _patterns(rules: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = rules.get(name)
    listed = [given] if isinstance(given, str) else given or []
    if not isinstance(listed, Sequence) or _listed(listed) != list(listed):
        raise ParameterError(f"skip.{name} is a list of texts")
    return tuple(_listed(listed))


def _listed(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else []
    return [one for one in listed if isinstance(one, str)]
