"""A session as LangChain sees it: its chat models, its tools and its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from inspect_ai.model import GenerateConfig
from inspect_ai.tool import ToolInfo
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from constraintrot.harnesses import _openai
from constraintrot.harnesses.session import Session


class SessionChatModel(BaseChatModel):
    """A chat model whose answers are a session's.

    Attributes:
        session: the session.
        part: whose calls these are, the agent's or the summarizer's.
    """

    session: Any
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
        sent = _openai.messages(_as_dicts(messages))
        if self.part == "summarizer":
            limit = kwargs.get("max_tokens")
            text = await self.session.summarize(sent, GenerateConfig(max_tokens=limit))
            return _result(AIMessage(content=text))
        reply = await self.session.answer(sent, _openai.tools(kwargs.get("tools") or []))
        calls = [
            {"name": call.function, "args": call.arguments, "id": call.id}
            for call in reply.tool_calls or []
        ]
        return _result(AIMessage(content=reply.text, tool_calls=calls))


def agent(session: Session) -> SessionChatModel:
    """The agent's model."""
    return SessionChatModel(session=session, part="agent")


def summarizer(session: Session) -> SessionChatModel:
    """The summarizer's model."""
    return SessionChatModel(session=session, part="summarizer")


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


def _as_dicts(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    found = convert_to_openai_messages(messages)
    return found if isinstance(found, list) else [found]


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])
