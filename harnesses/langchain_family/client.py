"""A session in LangChain's types: chat models, tools and state."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from inspect_ai.model import ChatMessageAssistant, GenerateConfig
from inspect_ai.tool import ToolInfo
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langsmith.run_helpers import tracing_context

from constraintrot.harnesses import openai_format
from constraintrot.harnesses.scripted_history import Exchange
from constraintrot.harnesses.session import Session


class SessionChatModel(BaseChatModel):
    """A chat model that returns a session's answers."""

    session: Session
    part: Literal["agent", "summarizer"]

    @property
    def _llm_type(self) -> str:
        return f"constraintrot-{self.part}"

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("Inspect's models are asynchronous; use ainvoke")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        sent = openai_format.messages(_as_dicts(messages))
        if self.part == "summarizer":
            limit = kwargs.get("max_tokens")
            text = await self.session.summarize(sent, GenerateConfig(max_tokens=limit))
            return _result(AIMessage(content=text))
        reply = await self.session.answer(sent, openai_format.tools(kwargs.get("tools") or []))
        return _result(_reply(reply))


def agent(session: Session) -> SessionChatModel:
    return SessionChatModel(session=session, part="agent")


def summarizer(session: Session) -> SessionChatModel:
    session.summarizes = True
    return SessionChatModel(session=session, part="summarizer")


def said_to(agent: Any, *opening: BaseMessage) -> Callable[[str], Awaitable[None]]:
    """Return the function by which a session sends requests to a compiled agent, in one thread.

    The agent has a checkpointer. Each message of ``opening`` has an id, so that it is added to
    the state only once.
    """
    config = {"configurable": {"thread_id": "episode"}}

    async def say(text: str) -> None:
        # Otherwise an environment with tracing would send episodes to a server.
        with tracing_context(enabled=False):
            await agent.ainvoke({"messages": [*opening, HumanMessage(text)]}, config)

    return say


def due(session: Session) -> int:
    """Return the number of messages in a conversation up to and including the trigger.

    For a live one, the smallest possible number: a request and a reply per exchange.
    """
    if session.live:
        return 2 * len(session.script) + 1
    return sum(1 + len(e.replies) + len(e.results) for e in session.script) + 1


def script(session: Session) -> list[list[BaseMessage]]:
    """Return the script's messages in LangChain's types, exchange by exchange."""
    return [_played(exchange) for exchange in session.script]


def approximately(text: str) -> int:
    """Return LangChain's estimate of a text's tokens, without its overhead per message."""
    return len(text) // 4


def tools(session: Session) -> list[BaseTool]:
    return [_tool(session, info) for info in session.tools]


def _tool(session: Session, info: ToolInfo) -> BaseTool:
    async def simulated(**arguments: Any) -> str:
        return session.tool(info.name, arguments)

    schema = info.parameters.model_dump(exclude_none=True)
    return StructuredTool(
        name=info.name, description=info.description, args_schema=schema, coroutine=simulated
    )


def _reply(reply: ChatMessageAssistant) -> AIMessage:
    calls = [
        {"name": call.function, "args": call.arguments, "id": call.id}
        for call in reply.tool_calls or []
    ]
    return AIMessage(content=reply.text, tool_calls=calls)


def _played(exchange: Exchange) -> list[BaseMessage]:
    results = {result.tool_call_id: result for result in exchange.results}
    messages: list[BaseMessage] = [HumanMessage(exchange.user.text)]
    for reply in exchange.replies:
        messages.append(_reply(reply))
        for call in reply.tool_calls or []:
            text = results[call.id].text
            messages.append(ToolMessage(text, tool_call_id=call.id, name=call.function))
    return messages


def _as_dicts(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    found: Any = convert_to_openai_messages(messages)
    return list(found)


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])
