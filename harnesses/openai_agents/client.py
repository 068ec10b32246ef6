"""A session as the OpenAI Agents SDK sees it: its model, its tools, its summaries."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

from agents import FunctionTool, Model, ModelResponse, Usage
from agents.models.chatcmpl_converter import Converter
from agents.tool_context import ToolContext
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser
from inspect_ai.tool import ToolInfo
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from constraintrot.harnesses import openai_format
from constraintrot.harnesses.session import Session

ASK = "Write a summary of the conversation above:"


class SessionModel(Model):
    """A model whose answers are a session's.

    Args:
        session: the session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answered = 0

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        *given: Any,
        **named: Any,
    ) -> ModelResponse:
        """The session's next answer; handoffs and output schemas are not used."""
        system = [{"role": "system", "content": system_instructions}] if system_instructions else []
        sent = openai_format.messages([*system, *as_dicts(input)])
        reply = await self._session.answer(
            sent, openai_format.tools([_schema(tool) for tool in tools])
        )
        self._answered += 1
        # A compaction session wants to know which response it follows.
        name = f"resp_{self._answered}"
        return ModelResponse(output=_output(reply, name), usage=Usage(), response_id=name)

    def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        """Not supported: the harness does not stream."""
        raise NotImplementedError("Inspect's models answer in one piece; use Runner.run")


def _output(reply: ChatMessageAssistant, name: str) -> list[Any]:
    calls = [
        ResponseFunctionToolCall(
            type="function_call",
            call_id=call.id,
            name=call.function,
            arguments=json.dumps(call.arguments),
        )
        for call in reply.tool_calls or []
    ]
    if calls and not reply.text:
        return calls
    text = ResponseOutputText(type="output_text", text=reply.text, annotations=[])
    said = ResponseOutputMessage(
        id=f"msg_{name}", type="message", role="assistant", status="completed", content=[text]
    )
    return [said, *calls]


def tools(session: Session) -> list[Any]:
    """The session's tools, simulated."""
    return [_tool(session, info) for info in session.tools]


def _tool(session: Session, info: ToolInfo) -> FunctionTool:
    async def simulated(context: ToolContext[Any], arguments: str) -> str:
        return session.tool(info.name, json.loads(arguments or "{}"))

    return FunctionTool(
        name=info.name,
        description=info.description,
        params_json_schema=info.parameters.model_dump(exclude_none=True),
        on_invoke_tool=simulated,
        strict_json_schema=False,
    )


def _schema(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }


def as_dicts(items: str | Sequence[Any]) -> list[dict[str, Any]]:
    """Items of the SDK's as chat-completions messages, by the SDK's own converter."""
    given = items if isinstance(items, str) else list(items)
    return [dict(message) for message in Converter.items_to_messages(given)]


def is_request(item: Any) -> bool:
    """Whether an item is a message of the user's."""
    return isinstance(item, dict) and item.get("role") == "user"


async def summary(session: Session, items: Sequence[Any]) -> str:
    """What the session's summarizer writes about some items."""
    shown: list[ChatMessage] = [
        *openai_format.messages(as_dicts(items)),
        ChatMessageUser(content=ASK),
    ]
    return f"Summary of the conversation so far: {await session.summarize(shown)}"


class CompactStandIn:
    """A local stand-in of the client whose ``responses.compact`` a compaction session calls.

    The vendor documents that the endpoint gives back the user's messages as they
    are, and one opaque item in place of all else. Nobody but the vendor can
    write such an item and chat-completions models refuse it, so the rest is here
    written by the session's summarizer, as an assistant's message.

    Args:
        session: whose summarizer.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        session.summarizes = True
        self.responses = SimpleNamespace(compact=self._compact)

    async def _compact(self, *, model: str, input: Sequence[Any]) -> Any:
        written = {"role": "assistant", "content": await summary(self._session, input)}
        kept = [item for item in input if is_request(item)]
        return SimpleNamespace(output=[*kept, written], usage=None)
