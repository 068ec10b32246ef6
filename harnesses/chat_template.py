"""The check whether a strict chat template would accept a conversation."""

from collections.abc import Sequence
from itertools import pairwise

from inspect_ai.model import ChatMessage, ChatMessageAssistant


def roles_problem(messages: Sequence[ChatMessage]) -> str | None:
    """Return what a strict chat template refuses about a conversation's roles; None if nothing.

    The rules are those that templates of instruction-tuned models enforce: at most
    one system message, at the start; then user and assistant in turn, the user
    first; a tool's result only after its call, or another result of the same.
    """
    rest = list(messages)
    if rest and rest[0].role == "system":
        rest = rest[1:]
    skipped = len(messages) - len(rest)
    stray = next((at for at, message in enumerate(rest) if message.role == "system"), None)
    if stray is not None:
        return f"a system message at {stray + skipped}, not at the start"
    if not rest:
        return "no message but the system's"
    if rest[0].role != "user":
        return f"begins with a message of the {rest[0].role}'s"
    for at, (before, message) in enumerate(pairwise(rest), start=1 + skipped):
        if message.role == "tool":
            called = isinstance(before, ChatMessageAssistant) and before.tool_calls
            if not called and before.role != "tool":
                return f"a tool's result at {at} without its call"
        elif before.role == message.role:
            return f"two messages of the {message.role}'s in a row"
        elif message.role == "user" and before.role == "tool":
            return "a request right after a tool's result"
    return None
