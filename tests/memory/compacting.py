"""Conversations whose older turns a compactor of the wing replaces."""

import anyio
from inspect_ai.model import ChatMessage, CompactionStrategy, Model, get_model

from tests.harnesses.messages import said, system, user

SYSTEM = system("You work.")


def turns(*texts: str) -> list[ChatMessage]:
    return [message for text in texts for message in (user(text), said("Noted."))]


def compacted(
    strategy: CompactionStrategy, messages: list[ChatMessage], model: Model | None = None
) -> list[ChatMessage]:
    """Return the compacted conversation; the script keeps every line."""
    model = model or get_model("scripted/summarizer-hoard")
    kept, _ = anyio.run(strategy.compact, model, messages, [])
    return kept
