"""Messages in few words."""

from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall


def system(text: Any = "Be brief.", **more: Any) -> ChatMessage:
    return ChatMessageSystem(content=text, **more)


def user(text: Any = "Go on.", **more: Any) -> ChatMessage:
    return ChatMessageUser(content=text, **more)


def said(text: Any = "Yes.", *calls: str, **more: Any) -> ChatMessage:
    made = [ToolCall(id=f"{text}-{call}", function=call, arguments={"of": call}) for call in calls]
    return ChatMessageAssistant(content=text, **{"tool_calls": made or None, **more})


def result(text: str = "42", id: str = "c", function: str = "look_up") -> ChatMessage:
    return ChatMessageTool(content=text, tool_call_id=id, function=function)
