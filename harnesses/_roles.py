"""Whether a strict chat template would take a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant


def problem(messages: Sequence[ChatMessage]) -> str | None:
    """What a strict chat template refuses about a conversation's roles; None if nothing.

    The rules are those that templates of instruction-tuned models enforce: at most
    one system message, at the start; then user and assistant in turn, the user
    first; a tool's result only after its call, or another result of the same.
    """
    rest = list(messages)
    if rest and rest[0].role == "system":
        rest = rest[1:]
    if not rest:
        return "nothing but a system message"
    if rest[0].role != "user":
        return f"begins with a message of the {rest[0].role}'s"
    before: ChatMessage | None = None
    for at, message in enumerate(rest):
        if message.role == "system":
            return f"a system message at {at + len(messages) - len(rest)}, not at the start"
        if message.role == "tool":
            called = isinstance(before, ChatMessageAssistant) and before.tool_calls
            if not called and not (before and before.role == "tool"):
                return f"a tool's result at {at + len(messages) - len(rest)} without its call"
        elif before is not None and before.role == message.role:
            return f"two messages of the {message.role}'s in a row"
        elif message.role == "user" and before is not None and before.role == "tool":
            return "a request right after a tool's result"
        before = message
    return None
