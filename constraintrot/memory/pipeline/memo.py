"""A memory of values computed from messages and tools, which are the same in many requests.

An object is known by its identity and its content, so a changed one is read again. Only a change
deep within a list or a tool's parameters is missed.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolInfo

K = TypeVar("K")
T = TypeVar("T")
MOST: Final = 20_000


class Memo(Generic[K, T]):
    """A function of a message or a tool that is called once for each.

    ``holds`` returns the content that the function depends on; None if it may change unseen, so
    that the object is read every time.
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
    """Return a message's text, or None for parts, calls or an error, which may change in place."""
    content = message.content
    if type(content) is not str or (message.role == "assistant" and message.tool_calls):
        return None
    if message.role == "tool" and message.error is not None:
        return None
    return content


def length_of(message: ChatMessage) -> object | None:
    """Return a message's calls if it has any, else its text: its length depends on these."""
    if message.role == "assistant" and message.tool_calls:
        return message.tool_calls
    return message.content


def parameters_of(tool: ToolInfo) -> object | None:
    return tool.name, tool.description, tool.parameters
