"""Rules by which the guardrail leaves a request alone, as a summarizer's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

from constraintrot.errors import ParameterError

RULES = ("models", "metadata", "tags", "no_tools", "last_message")


class SkipRules:
    """The setting ``skip``.

    Args:
        given: any of ``models`` and ``last_message``, patterns; ``tags``; ``metadata``, all of
            whose values a request has; ``no_tools``, true.

    Raises:
        ParameterError: a rule is unknown or of the wrong kind.
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
        """The name of the rule that leaves a request alone; None where none does.

        Args:
            data: the request.
            metadata: its metadata, as the proxy keeps it.
        """
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
        """Whether each model of a name is skipped; LiteLLM calls all of a list with commas."""
        names = [name.strip() for name in model.split(",")] if isinstance(model, str) else []
        return bool(names) and all(
            any(fnmatchcase(name, pattern) for pattern in self.models) for name in names
        )


def _last_words(data: Mapping[str, Any]) -> str | None:
    """The last words of the user's own in a request, where nothing follows them.

    What a tool returned is not the user's, so a document cannot have a request left alone.
    """
    history: Any = data.get("messages", data.get("input"))
    if isinstance(history, str):
        return history.strip()
    message = _last(history)
    if message.get("role") != "user":
        return None
    content: Any = message.get("content")
    if not isinstance(content, str):
        # Claude Code's last message holds the results of tools, and then the user's words.
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
