"""No summary speaks as the system: what a model wrote of a conversation has no operator's authority."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from inspect_ai.model import ChatMessage, ChatMessageUser

from constraintrot.compactors.turns import SUMMARY
from constraintrot.pipeline.context import Context
from constraintrot.pipeline.layer import Layer, Ran

# How this package's compactors, Inspect's and common gateways begin a summary.
_SUMMARY: Final = re.compile(
    r"\s*(?:\[(?:Summary of the conversation so far|CONTEXT COMPACTION SUMMARY)\]"
    r"|<(?:conversation_)?summary\b[^>]*>"
    r"|(?:OBJECTIVE|Summary of the conversation so far):)",
    re.IGNORECASE,
)
# An operator's own prompt may begin with its objective; a briefing has the last heading too.
_OBJECTIVE: Final = re.compile(r"\s*OBJECTIVE:", re.IGNORECASE)
_BRIEFING: Final = re.compile(r"^[#*\s]*NEXT[_ ]STEPS\b", re.IGNORECASE | re.MULTILINE)


def laundered(message: ChatMessage, *, first: bool = False) -> bool:
    """Whether a message is a summary in the role of the system.

    Args:
        message: the message.
        first: whether it is a conversation's first, which is commonly the operator's prompt.
    """
    if message.role != "system":
        return False
    if SUMMARY in (message.metadata or {}):
        return True
    if first and _OBJECTIVE.match(message.text) and not _BRIEFING.search(message.text):
        return False
    return _SUMMARY.match(message.text) is not None


class SummaryRoles(Layer):
    """Gives a summary that stands in the system role back to the user's."""

    name = "roles"

    async def run(self, context: Context) -> Ran:
        """Move the summaries, each in its place."""
        told = context.messages
        caught = {at for at, m in enumerate(told) if laundered(m, first=at == 0)}
        if not caught:
            return context, {}
        kept = tuple(_demoted(m) if at in caught else m for at, m in enumerate(told))
        return replace(context, messages=kept), {"caught": len(caught)}


def _demoted(message: ChatMessage) -> ChatMessage:
    metadata = {**(message.metadata or {}), SUMMARY: True}
    return ChatMessageUser(content=message.content, id=message.id, metadata=metadata)
