"""Staged messages known again in what a framework sends, whatever it did to their white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage

from constraintrot.compactors.turns import SUMMARY
from constraintrot.episode.messages import ORIGIN, message_texts

_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """A text with its white space made even."""
    return _SPACE.sub(" ", text).strip()


def lost(known: Sequence[ChatMessage], sent: Sequence[ChatMessage]) -> int:
    """How many messages are not whole, in their own role, in an input.

    A framework that folds a tool's result into what the agent said has changed it.
    """
    whole: dict[str, str] = {}
    for role, text in _by_role(sent):
        whole[role] = f"{whole.get(role, '')}\n{text}"
    return sum(
        1
        for role, text in dict.fromkeys(_by_role(known))
        if text and text not in whole.get(role, "")
    )


def _by_role(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    texts = map(plain, message_texts(messages))
    return [(message.role, text) for message, text in zip(messages, texts, strict=True)]


def tagged(
    messages: Sequence[ChatMessage], staged: Sequence[ChatMessage], summaries: Sequence[str]
) -> list[ChatMessage]:
    """The messages with the origins and marks of those that the episode staged.

    A framework drops them; the survival check and the report want them back.

    Args:
        messages: what a framework sends.
        staged: the history, marked.
        summaries: what the summarizer wrote so far.
    """
    by_text: dict[tuple[str, str], ChatMessage] = {}
    for known in staged:
        by_text.setdefault((known.role, plain(known.text)), known)
    result: list[ChatMessage] = []
    for message in messages:
        match = by_text.get((message.role, plain(message.text)))
        if match is not None and message.text.strip():
            update: dict[str, Any] = {"metadata": match.metadata, "source": match.source}
        elif any(plain(summary) in plain(message.text) for summary in summaries):
            update = {"metadata": {ORIGIN: "summary", SUMMARY: True}}
        else:
            update = {"metadata": {ORIGIN: "framework"}}
        result.append(message.model_copy(update=update))
    return result
