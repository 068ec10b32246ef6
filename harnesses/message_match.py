"""Matching of staged messages to a framework's messages, regardless of white space."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from inspect_ai.model import ChatMessage

from constraintrot.compactors.turns import SUMMARY
from constraintrot.episode.messages import ORIGIN, message_texts

_SPACE = re.compile(r"\s+")
# A message's role, and its text with normalised white space.
Spoken: TypeAlias = tuple[str, str]


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def spoken(messages: Sequence[ChatMessage]) -> list[Spoken]:
    """Return the role and the plain text of each message that has a text, each pair once."""
    texts = map(plain, message_texts(messages))
    pairs = ((message.role, text) for message, text in zip(messages, texts, strict=True) if text)
    return list(dict.fromkeys(pairs))


def missing(known: Iterable[Spoken], sent: Sequence[ChatMessage]) -> list[Spoken]:
    """Return the known texts that an input does not hold whole and in their own role.

    A tool's result that a framework moved into the agent's message counts as missing.
    """
    whole: dict[str, str] = {}
    for role, text in spoken(sent):
        whole[role] = f"{whole.get(role, '')}\n{text}"
    return [(role, text) for role, text in known if text not in whole.get(role, "")]


def tagged(
    messages: Sequence[ChatMessage], staged: Sequence[ChatMessage], summaries: Sequence[str]
) -> list[ChatMessage]:
    """Return messages with the metadata of the staged messages that they match.

    A framework drops the metadata; the survival check and the report need it.
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
