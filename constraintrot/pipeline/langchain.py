"""A pipeline as a middleware of LangChain's agents (extra ``langchain``).

>>> from langchain.agents import create_agent
>>> from langchain_core.language_models import FakeListChatModel
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> from constraintrot.pipeline import Pipeline
>>> from constraintrot.pipeline.cache import ExactCache
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> middleware = PipelineMiddleware(Pipeline([ExactCache()], pins=rules))
>>> agent = create_agent(FakeListChatModel(responses=["One.", "Two."]), middleware=[middleware])
>>> for _ in range(2):
...     state = agent.invoke({"messages": [("user", "Hello")]})
...     print(state["messages"][-1].text)
One.
One.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar
from uuid import uuid4

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from pydantic import ValidationError

from constraintrot.errors import ParameterError
from constraintrot.pipeline.cache import ATTACHED
from constraintrot.pipeline.history import Handoff
from constraintrot.pipeline.pipeline import Pipeline, Prepared
from constraintrot.pipeline.tools import MetaTools

T = TypeVar("T")


class PipelineMiddleware(AgentMiddleware[Any, Any, Any]):
    """Takes every request of an agent through a pipeline, and its answer back.

    The agent's state stays as it is. Layers that have a model write take a function:
    ``profiles.layers(write=...)``. A conversation is known by its thread.

    Args:
        pipeline: the layers.
        tenant: on whose behalf the agent works.

    Raises:
        ParameterError: the pipeline has meta-tools, whose searches no agent here answers, or
            a hand-off that nobody writes.
    """

    def __init__(self, pipeline: Pipeline, *, tenant: str = "") -> None:
        super().__init__()
        if any(isinstance(layer, MetaTools) for layer in pipeline.layers):
            raise ParameterError(
                "an agent of LangChain's cannot answer search_tools; leave the layer meta_tools"
                " out, and prune with ToolPruning"
            )
        if any(isinstance(layer, Handoff) and layer.write is None for layer in pipeline.layers):
            _check_writer()
        self.pipeline, self.tenant = pipeline, tenant

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Prepare the request, have it answered, and give the answer back."""
        prepared, changed = await self._prepared(request)
        if prepared.answer is not None:
            return _shown(prepared, prepared.answer, None)
        return self._answered(prepared, await handler(changed))

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage:
        """The same, where nobody waits.

        Raises:
            ParameterError: called within a running event loop.
        """
        prepared, changed = _run(self._prepared(request))
        if prepared.answer is not None:
            return _shown(prepared, prepared.answer, None)
        return self._answered(prepared, handler(changed))

    async def _prepared(self, request: ModelRequest[Any]) -> tuple[Prepared, ModelRequest[Any]]:
        first = [request.system_message] if request.system_message else []
        given: list[BaseMessage] = [*first, *request.messages]
        read = [_read(message, at) for at, message in enumerate(given)]
        known = {one.id: (one, message) for one, message in zip(read, given, strict=True)}
        prepared = await self.pipeline.prepare(
            read,
            [_tool(tool) for tool in request.tools],
            session=_thread(given),
            tenant=self.tenant,
        )
        written = [_written(message, known) for message in prepared.messages]
        at = next((n for n, m in enumerate(written) if m.type != "system"), len(written))
        system = "\n\n".join(message.text for message in written[:at])
        names = {tool.name for tool in prepared.tools}
        changed: ModelRequest[Any] = request.override(
            system_message=SystemMessage(system) if system else None,
            messages=written[at:],  # type: ignore[arg-type]
            tools=[tool for tool in request.tools if _tool(tool).name in names],
        )
        return prepared, changed

    def _answered(self, prepared: Prepared, response: ModelResponse[Any]) -> ModelResponse[Any]:
        told: list[BaseMessage] = []
        for message in response.result:
            if isinstance(message, AIMessage):
                output = ModelOutput.from_message(_assistant(message, None))
                told.append(_shown(prepared, output, message))
            else:
                told.append(message)
        return ModelResponse(result=told, structured_response=response.structured_response)


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise ParameterError("an event loop is running: use ainvoke instead of invoke")


def _thread(messages: Sequence[BaseMessage]) -> str:
    """The thread of the running graph; where there is none, the id of its first message.

    Without either, nothing is remembered from one request to the next: conversations that
    have no name of their own are never taken for one.
    """
    try:
        thread = str(get_config().get("configurable", {}).get("thread_id") or "")
    except RuntimeError:
        thread = ""
    ids = (message.id for message in messages if message.type != "system")
    return thread or next(filter(None, ids), "") or uuid4().hex


def _read(message: BaseMessage, at: int) -> ChatMessage:
    known = message.id or f"at-{at}"
    if isinstance(message, AIMessage):
        return _assistant(message, known)
    if isinstance(message, ToolMessage):
        return ChatMessageTool(
            content=message.text, id=known, tool_call_id=message.tool_call_id, function=message.name
        )
    if isinstance(message, SystemMessage):
        return ChatMessageSystem(content=message.text, id=known)
    others = [] if isinstance(message.content, str) else message.content
    parts = [one for one in others if isinstance(one, dict) and one.get("type") != "text"]
    # The caches are to tell two images apart, which no layer reads.
    attached = {ATTACHED: json.dumps(parts, default=str)} if parts else None
    return ChatMessageUser(content=message.text, id=known, metadata=attached)


def _assistant(message: AIMessage, known: str | None) -> ChatMessageAssistant:
    calls = [
        ToolCall(id=str(call["id"]), function=call["name"], arguments=call["args"])
        for call in message.tool_calls
    ]
    return ChatMessageAssistant(content=message.text, id=known, tool_calls=calls or None)


def _written(
    message: ChatMessage, known: dict[str | None, tuple[ChatMessage, BaseMessage]]
) -> BaseMessage:
    """A message as LangChain's; the client's own where no layer changed it."""
    before, original = known.get(message.id, (None, None))
    if original is not None and before == message:
        return original
    if original is not None and before is not None and before.role == message.role:
        return original.model_copy(update=_update(message, original))
    if isinstance(message, ChatMessageAssistant):
        return AIMessage(message.text, tool_calls=_calls(message))
    if isinstance(message, ChatMessageTool):
        return ToolMessage(message.text, tool_call_id=message.tool_call_id or "")
    return SystemMessage(message.text) if message.role == "system" else HumanMessage(message.text)


def _update(message: ChatMessage, original: BaseMessage) -> dict[str, Any]:
    """What a layer changed: the text, and the calls; images and the like stay."""
    content: Any = original.content
    if isinstance(content, str):
        update: dict[str, Any] = {"content": message.text}
    else:
        others = [p for p in content if isinstance(p, dict) and p.get("type") != "text"]
        update = {"content": [{"type": "text", "text": message.text}, *others]}
    if isinstance(message, ChatMessageAssistant):
        update["tool_calls"] = _calls(message)
    return update


def _calls(message: ChatMessageAssistant) -> list[dict[str, Any]]:
    return [
        {"name": call.function, "args": call.arguments, "id": call.id, "type": "tool_call"}
        for call in message.tool_calls or []
    ]


def _shown(prepared: Prepared, output: ModelOutput, original: AIMessage | None) -> AIMessage:
    """The answer as it goes to the agent: unmasked, and kept by the caches."""
    before = output.message
    after = prepared.answered(output).message
    if original is None:
        return AIMessage(after.text, tool_calls=_calls(after))
    if (after.content, after.tool_calls) == (before.content, before.tool_calls):
        return original
    return original.model_copy(update=_update(after, original))


def _tool(tool: Any) -> ToolInfo:
    function = convert_to_openai_tool(tool)["function"]
    schema = function.get("parameters") or {}
    try:
        properties = {
            name: JSONSchema.model_validate(value)
            for name, value in schema.get("properties", {}).items()
        }
        parameters = ToolParams(properties=properties, required=list(schema.get("required", ())))
    except ValidationError:
        # The layers read names and descriptions; the model is given LangChain's own tool.
        parameters = ToolParams()
    return ToolInfo(
        name=function["name"], description=function.get("description", ""), parameters=parameters
    )


def _check_writer() -> None:
    """Refuse now what would stop an agent in the middle of a long conversation."""
    try:
        get_model()
    except ValueError:
        raise ParameterError(
            "the layers handoff and compaction have a model of Inspect's write, and here is none;"
            " give profiles.layers(write=...), a function of yours that writes a summary"
        ) from None
