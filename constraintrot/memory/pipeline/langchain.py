"""A pipeline as a middleware of LangChain's agents (extra ``langchain``).

>>> from langchain.agents import create_agent
>>> from langchain_core.language_models import FakeListChatModel
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> from constraintrot.memory.pipeline import Pipeline
>>> from constraintrot.memory.pipeline.cache import ExactCache
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

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar
from uuid import uuid4

from inspect_ai.model import ChatMessageAssistant, get_model
from inspect_ai.tool import ToolCall, ToolFunction, ToolInfo
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import RunnableBinding
from langgraph.config import get_config
from pydantic import TypeAdapter

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.history import Handoff
from constraintrot.memory.pipeline.langchain_messages import (
    output_of,
    read,
    replayed,
    tool_of,
    updated,
    written,
)
from constraintrot.memory.pipeline.layer import Prepared
from constraintrot.memory.pipeline.pipeline import Pipeline, checked
from constraintrot.memory.pipeline.tools import MetaTools

T = TypeVar("T")


class PipelineMiddleware(AgentMiddleware[Any, Any, Any]):
    """A middleware that takes each request of an agent through a pipeline, and the answer back.

    The agent's state does not change. Layers that write texts take a function:
    ``profiles.layers(write=...)``. A conversation is known by its thread. Put this last in
    ``middleware``: additions of a later one are not masked and not in the caches' keys. Requests
    for a structured response are not answered from a cache, which replays only the message.

    Raises:
        ParameterError: the pipeline has meta-tools, which LangChain's agents cannot answer, or a
            hand-off without a writer.
    """

    def __init__(self, pipeline: Pipeline, *, tenant: str = "") -> None:
        super().__init__()
        checked(pipeline)
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
        prepared, changed = await self._prepared(request)
        if prepared.answer is not None:
            return replayed(prepared.answered(prepared.answer).message)
        return _answered(prepared, await handler(changed))

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage:
        """Do the same for a synchronous call, which is refused within a running event loop."""
        prepared, changed = _run(self._prepared(request))
        if prepared.answer is not None:
            return replayed(prepared.answered(prepared.answer).message)
        return _answered(prepared, handler(changed))

    async def _prepared(self, request: ModelRequest[Any]) -> tuple[Prepared, ModelRequest[Any]]:
        first = [request.system_message] if request.system_message else []
        given: list[BaseMessage] = [*first, *request.messages]
        told = [read(message, at) for at, message in enumerate(given)]
        known = {one.id: (one, message) for one, message in zip(told, given, strict=True)}
        tools = [tool_of(tool) for tool in request.tools]
        prepared = await self.pipeline.prepare(
            told,
            tools,
            session=_thread(given),
            tenant=self.tenant,
            settings=_settings(request),
            tool_choice=_chosen(request.tool_choice, tools),
        )
        sent = [written(message, known) for message in prepared.messages]
        at = next((n for n, m in enumerate(sent) if m.type != "system"), len(sent))
        system = "\n\n".join(message.text for message in sent[:at])
        names = {tool.name for tool in prepared.tools}
        changed: ModelRequest[Any] = request.override(
            system_message=SystemMessage(system) if system else None,
            messages=sent[at:],  # type: ignore[arg-type]
            tools=[
                tool for tool, one in zip(request.tools, tools, strict=True) if one.name in names
            ],
        )
        return prepared, changed


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise ParameterError("an event loop is running: use ainvoke instead of invoke")


def _thread(messages: Sequence[BaseMessage]) -> str:
    """Return the thread of the running graph, or else the id of its first message.

    Without either, a new name is made, so that unnamed conversations never share a memory.
    """
    try:
        thread = str(get_config().get("configurable", {}).get("thread_id") or "")
    except RuntimeError:
        thread = ""
    ids = (message.id for message in messages if message.type != "system")
    return thread or next(filter(None, ids), "") or uuid4().hex


def _chosen(choice: Any, tools: Sequence[ToolInfo]) -> ToolFunction | None:
    """Return the tool that a ``tool_choice`` names, in any provider's form."""
    if isinstance(choice, dict):
        told = choice.get("function", choice)
        choice = told.get("name") or told.get("type")
    return next((ToolFunction(tool.name) for tool in tools if tool.name == choice), None)


def _settings(request: ModelRequest[Any]) -> str | None:
    """Return what else an answer depends on as a text; None if no text tells it apart."""
    if request.response_format is not None:
        return None
    given = [_model(request.model), request.tool_choice, request.model_settings]
    try:
        return json.dumps(given, sort_keys=True)
    except (TypeError, ValueError):
        return None


def _model(model: Any) -> list[Any]:
    """Return a model's class and its sampling settings, or all its fields without such a list."""
    if isinstance(model, RunnableBinding):
        return [_model(model.bound), model.kwargs]
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    told = dict(model.asdict(), _type="") if isinstance(model, BaseChatModel) else {"_type": ""}
    return [kind, repr((told, model.lc_attributes)) if len(told) > 1 else repr(model)]


def _answered(prepared: Prepared, response: ModelResponse[Any]) -> ModelResponse[Any]:
    """Return a model's answer as the agent gets it: unmasked, and stored by the caches."""
    told = [
        _shown(prepared, message)
        if isinstance(message, AIMessage)
        else _revealed(prepared, message, at)
        for at, message in enumerate(response.result)
    ]
    value = response.structured_response
    return ModelResponse(
        result=told, structured_response=None if value is None else _structured(prepared, value)
    )


def _shown(prepared: Prepared, message: AIMessage) -> AIMessage:
    output = output_of(message)
    before, after = output.message, prepared.answered(output).message
    if (after.content, after.tool_calls) == (before.content, before.tool_calls):
        return message
    return updated(after, message)


def _revealed(prepared: Prepared, message: BaseMessage, at: int) -> BaseMessage:
    """Return LangChain's message about a structured response with the masked values shown."""
    before = read(message, at)
    (after,) = prepared.revealed([before])
    return message if after == before else updated(after, message)


def _structured(prepared: Prepared, value: Any) -> Any:
    """Return a structured response with the values in place of their placeholders."""
    form = TypeAdapter(type(value))
    plain = form.dump_python(value, by_alias=True)
    call = ToolCall(id="", function="", arguments={"value": plain})
    (carrier,) = prepared.revealed([ChatMessageAssistant(content="", tool_calls=[call])])
    assert isinstance(carrier, ChatMessageAssistant), "a copy keeps its role"
    assert carrier.tool_calls, "a copy keeps its calls"
    shown = carrier.tool_calls[0].arguments["value"]
    return value if shown == plain else form.validate_python(shown)


def _check_writer() -> None:
    """Refuse a hand-off that no model could write, before a conversation begins."""
    try:
        get_model()
    except ValueError:
        raise ParameterError(
            "the layers handoff and compaction have a model of Inspect's write, and here is none;"
            " give profiles.layers(write=...), a function of yours that writes a summary"
        ) from None
