"""Messages in few words."""

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall


def system(text: str = "Be brief.") -> ChatMessage:
    return ChatMessageSystem(content=text)


def user(text: str = "Go on.") -> ChatMessage:
    return ChatMessageUser(content=text)


def said(text: str = "Yes.", *calls: str) -> ChatMessage:
    made = [ToolCall(id=f"{text}-{call}", function=call, arguments={"of": call}) for call in calls]
    return ChatMessageAssistant(content=text, tool_calls=made or None)


def result(text: str = "42", id: str = "c", function: str = "look_up") -> ChatMessage:
    return ChatMessageTool(content=text, tool_call_id=id, function=function)
