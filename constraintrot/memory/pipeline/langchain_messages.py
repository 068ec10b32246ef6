"""Conversion of LangChain's messages, tools and answers to Inspect's, and back."""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    StopReason,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from constraintrot.memory.pipeline.cache import ATTACHED

# Keys for the end of an answer: OpenAI, Google and Mistral; Anthropic and Bedrock's older
# interface; Bedrock's Converse; Ollama; OpenAI's Responses.
_REASON_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
# In lower case. An unlisted reason is unknown, and no cache keeps such an answer.
_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "complete": "stop",
    "completed": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "model_length": "model_length",
    "model_context_window_exceeded": "model_length",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
}
# Parts of a content that repeat ``tool_calls``.
_CALL_PARTS: Final = frozenset(["tool_use", "tool_call", "function_call"])
_RAW_CALLS: Final = ("tool_calls", "function_call")
_THOUGHT_PARTS: Final = frozenset(["reasoning", "thinking", "redacted_thinking"])
M = TypeVar("M", bound=BaseMessage)


def stop_reason(message: AIMessage) -> StopReason:
    """Return the reason for which an answer ended, as its provider wrote it.

    Returns ``stop`` or ``tool_calls`` if the provider gives no reason, and ``unknown`` if a cache
    could not replay the answer as it is.
    """
    if not _repeatable(message):
        return "unknown"
    whole: StopReason = "tool_calls" if message.tool_calls else "stop"
    for told in (message.response_metadata, message.additional_kwargs):
        details = told.get("incomplete_details") or {}
        given = [told.get(key) for key in _REASON_KEYS]
        for reason in filter(None, [details.get("reason"), *given]):
            found = _REASONS.get(str(reason).lower(), "unknown")
            if found not in ("stop", "tool_calls"):
                return found
    return whole


def _repeatable(message: AIMessage) -> bool:
    """Return whether an answer consists of its text and its calls only."""
    parts = {str(part.get("type")) for part in _parts(message)} - _CALL_PARTS
    if not message.tool_calls:
        # Providers want the reasoning of calls back, but not that of a text.
        parts -= _THOUGHT_PARTS
    said = bool(message.text or message.tool_calls)
    return said and not parts and not message.invalid_tool_calls


def output_of(message: AIMessage) -> ModelOutput:
    return ModelOutput.from_message(_assistant(message, None), stop_reason(message))


def read(message: BaseMessage, at: int) -> ChatMessage:
    """Return a message as Inspect's; its position ``at`` names it if it has no id."""
    known = message.id or f"at-{at}"
    if isinstance(message, AIMessage):
        return _assistant(message, known)
    told: dict[str, Any] = {"content": message.text, "id": known, "metadata": _attached(message)}
    if isinstance(message, ToolMessage):
        return ChatMessageTool(tool_call_id=message.tool_call_id, function=message.name, **told)
    if isinstance(message, SystemMessage):
        return ChatMessageSystem(**told)
    return ChatMessageUser(**told)


def _parts(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the parts of the content other than text, such as images."""
    if isinstance(message.content, str):
        return []
    return [p for p in message.content if isinstance(p, dict) and p.get("type") != "text"]


def _attached(message: BaseMessage) -> dict[str, str] | None:
    """Return the images and the speaker's name, which only the caches compare."""
    others = [part for part in _parts(message) if part.get("type") not in _CALL_PARTS]
    if not others and not message.name:
        return None
    return {ATTACHED: json.dumps([message.name, others], default=str)}


def _assistant(message: AIMessage, known: str | None) -> ChatMessageAssistant:
    calls = [
        ToolCall(id=str(call["id"]), function=call["name"], arguments=call["args"])
        for call in message.tool_calls
    ]
    return ChatMessageAssistant(
        content=message.text, id=known, tool_calls=calls or None, metadata=_attached(message)
    )


def written(
    message: ChatMessage, known: Mapping[str | None, tuple[ChatMessage, BaseMessage]]
) -> BaseMessage:
    """Return a message as LangChain's: the ``known`` one of the client if no layer changed it."""
    before, original = known.get(message.id, (None, None))
    if original is not None and before == message:
        return original
    if original is not None and before is not None and before.role == message.role:
        return updated(message, original)
    if isinstance(message, ChatMessageAssistant):
        return AIMessage(message.text, tool_calls=_calls(message))
    if isinstance(message, ChatMessageTool):
        return ToolMessage(message.text, tool_call_id=message.tool_call_id or "")
    return SystemMessage(message.text) if message.role == "system" else HumanMessage(message.text)


def updated(message: ChatMessage, original: M) -> M:
    """Return the client's message with the text and the calls as a layer changed them."""
    content: Any = message.text
    if not isinstance(original.content, str):
        # The content repeats the unchanged call, which providers rebuild from ``tool_calls``.
        others = [part for part in _parts(original) if part.get("type") not in _CALL_PARTS]
        content = [{"type": "text", "text": message.text}, *others]
    update: dict[str, Any] = {"content": content}
    if isinstance(message, ChatMessageAssistant):
        update["tool_calls"] = _calls(message)
        raw = original.additional_kwargs
        update["additional_kwargs"] = {k: v for k, v in raw.items() if k not in _RAW_CALLS}
    return original.model_copy(update=update)


def replayed(message: ChatMessageAssistant) -> AIMessage:
    return AIMessage(message.text, tool_calls=_calls(message))


def _calls(message: ChatMessageAssistant) -> list[dict[str, Any]]:
    return [
        {"name": call.function, "args": call.arguments, "id": call.id, "type": "tool_call"}
        for call in message.tool_calls or []
    ]


def _runs_elsewhere(tool: dict[str, Any]) -> bool:
    """Return whether a tool is run by its provider, and is not a function of the client's."""
    if "function" in tool:
        return False
    known = {"name", "title", "toolSpec"} & tool.keys()
    # A JSON schema has type object; a function of Responses has its name beside its type.
    return not known or tool.get("type", "object") != "object"


def tool_of(tool: Any) -> ToolInfo:
    """Return a tool as Inspect's; a provider's tool is described by its whole definition."""
    if isinstance(tool, dict) and _runs_elsewhere(tool):
        name = tool.get("name") or tool.get("type") or next(iter(tool), "")
        return ToolInfo(name=str(name), description=json.dumps(tool, sort_keys=True, default=str))
    function = convert_to_openai_tool(tool)["function"]
    schema = function.get("parameters") or {}
    try:
        properties = {
            name: JSONSchema.model_validate(value)
            for name, value in schema.get("properties", {}).items()
        }
        parameters = ToolParams(properties=properties, required=list(schema.get("required", ())))
    except ValidationError:
        # The layers read names and descriptions only; the model gets LangChain's own tool.
        parameters = ToolParams()
    return ToolInfo(
        name=function["name"], description=function.get("description", ""), parameters=parameters
    )
