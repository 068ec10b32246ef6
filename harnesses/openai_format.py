"""Conversion from chat-completions messages, which most frameworks can write, to Inspect's."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from constraintrot.errors import EpisodeError


def messages(given: Iterable[Mapping[str, Any]]) -> list[ChatMessage]:
    """Return messages of the chat-completions form as Inspect's."""
    found: list[ChatMessage] = []
    functions: dict[str, str] = {}
    for message in given:
        role, text = message["role"], _text(message.get("content"))
        if role in ("system", "developer"):
            found.append(ChatMessageSystem(content=text))
        elif role == "user":
            found.append(ChatMessageUser(content=text))
        elif role == "assistant":
            made: Sequence[Any] = message.get("tool_calls") or ()
            calls = [_call(call) for call in made]
            functions |= {call.id: call.function for call in calls}
            found.append(ChatMessageAssistant(content=text, tool_calls=calls or None))
        elif role == "tool":
            answered = message["tool_call_id"]
            found.append(
                ChatMessageTool(
                    content=text, tool_call_id=answered, function=functions.get(answered)
                )
            )
        else:
            raise EpisodeError(f"a message of the role {role!r}, which no chat model takes")
    return found


def tools(given: Sequence[Mapping[str, Any]]) -> list[ToolInfo]:
    return [_tool(one.get("function", one)) for one in given]


def _tool(function: Mapping[str, Any]) -> ToolInfo:
    parameters: Mapping[str, Any] = function.get("parameters") or {}
    return ToolInfo(
        name=function["name"],
        description=function.get("description") or function["name"],
        parameters=ToolParams.model_validate(
            {
                "properties": parameters.get("properties") or {},
                "required": parameters.get("required") or [],
            }
        ),
    )


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    arguments = function["arguments"]
    return ToolCall(
        id=call["id"],
        function=function["name"],
        arguments=json.loads(arguments or "{}") if isinstance(arguments, str) else arguments,
    )


def _text(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = cast("Sequence[Mapping[str, Any]]", content)
    if any(part.get("type") not in ("text", "input_text", "output_text") for part in parts):
        raise EpisodeError("a message's content is no text; these harnesses handle text only")
    return "\n".join(part["text"] for part in parts)
