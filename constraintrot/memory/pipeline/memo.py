"""A memory of values read from messages and tools, which come again with every request.

An object is known by its identity, and by what it holds, so one that somebody changed is
read again; only what changed deep within a list or a tool's parameters is not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolInfo

K = TypeVar("K")
T = TypeVar("T")
MOST: Final = 20_000


class Memo(Generic[K, T]):
    """A function of a message or a tool that is asked once for each.

    Args:
        read: the function.
        holds: what of the object it depends on; None of one that may change unseen, which is
            read every time.
        most: objects that are kept.
    """

    def __init__(
        self, read: Callable[[K], T], holds: Callable[[K], object | None], most: int = MOST
    ) -> None:
        self._read, self._holds, self._most = read, holds, most
        self._known: dict[int, tuple[K, object, T]] = {}

    def __call__(self, one: K) -> T:
        held = self._holds(one)
        known = self._known.get(id(one))
        if known is not None and known[0] is one and known[1] == held:
            return known[2]
        found = self._read(one)
        if held is not None:
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[id(one)] = (one, held, found)
        return found


def content_of(message: ChatMessage) -> object | None:
    """A message's text; None where it has parts, calls or an error, which may be changed in place."""
    content = message.content
    if type(content) is not str or (message.role == "assistant" and message.tool_calls):
        return None
    if message.role == "tool" and message.error is not None:
        return None
    return content


def length_of(message: ChatMessage) -> object | None:
    """Return what a message's length depends on: its calls if it has any, else its text."""
    if message.role == "assistant" and message.tool_calls:
        return message.tool_calls
    return message.content


def parameters_of(tool: ToolInfo) -> object | None:
    """All of a tool's definition."""
    return tool.name, tool.description, tool.parameters
