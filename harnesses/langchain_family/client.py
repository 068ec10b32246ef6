"""A session as LangChain sees it: its chat models, its tools and its state."""

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
from langsmith.run_helpers import (
    tracing_context,
)

from constraintrot.harnesses import openai_format
from constraintrot.harnesses.scripted_history import Exchange
from constraintrot.harnesses.session import Session


class SessionChatModel(BaseChatModel):
    """A chat model whose answers are a session's."""

    session: Session
    part: Literal["agent", "summarizer"]

    @property
    def _llm_type(self) -> str:
        return f"constraintrot-{self.part}"

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, in the chat-completions form."""
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
    """The agent's model."""
    return SessionChatModel(session=session, part="agent")


def summarizer(session: Session) -> SessionChatModel:
    """The summarizer's model."""
    session.summarizes = True
    return SessionChatModel(session=session, part="summarizer")


def said_to(agent: Any, *opening: BaseMessage) -> Callable[[str], Awaitable[None]]:
    """A compiled agent with a checkpointer, as what a session says requests to: one thread.

    Its state begins with the messages of the opening, each with an id.
    """
    config = {"configurable": {"thread_id": "episode"}}

    async def say(text: str) -> None:
        # An environment that traces to a server would send episodes there.
        with tracing_context(enabled=False):
            await agent.ainvoke({"messages": [*opening, HumanMessage(text)]}, config)

    return say


def due(session: Session) -> int:
    """Return the number of messages in a conversation once the trigger is put.

    Of a live one, how many it has at least: a request and a reply an exchange.
    """
    if session.live:
        return 2 * len(session.script) + 1
    return sum(1 + len(e.replies) + len(e.results) for e in session.script) + 1


def script(session: Session) -> list[list[BaseMessage]]:
    """The script as the state of a graph comes to hold it, exchange by exchange."""
    return [_played(exchange) for exchange in session.script]


def approximately(text: str) -> int:
    """Tokens of a text as LangChain estimates them, its few for each message left out."""
    return len(text) // 4


def tools(session: Session) -> list[BaseTool]:
    """The session's tools, simulated."""
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
