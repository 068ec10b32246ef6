"""AutoGen: an AssistantAgent with one of autogen-core's model contexts.

None of them uses a summarizer: each is a view that leaves out messages at every call, and
the whole list stays in the agent's state. The agent's ``system_message`` is not part of the
context and is always sent.

AutoGen removes a tool's result at the start of a view if its call is left out, but a view may
still begin with an assistant's message; ``head_and_tail`` puts the user message
"Skipped N messages." between two others; and ``token_limited`` removes single messages, so a
call may lack its result. Strict chat templates refuse all three; ``roles_problem`` reports it.

The modes ``buffered``, ``token_limited`` and ``head_and_tail`` are the contexts of those
names. ``memory`` is the buffered one with the standing turn in a ListMemory instead of the
conversation; AutoGen adds it to the context at each request, as a system message after the
request. With ``channel=system`` there is no such turn, and ``memory`` equals ``buffered``.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.memory import ListMemory, Memory, MemoryContent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import BaseTool, ParametersSchema, Tool, ToolSchema
from inspect_ai.tool import ToolInfo
from pydantic import BaseModel, ConfigDict

from constraintrot.episode.messages import standing_messages
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.harness import MAX_STEPS
from constraintrot.harnesses import openai_format, scripted_history
from constraintrot.harnesses.autogen.pins import PinnedContext
from constraintrot.harnesses.session import Say, Session, playing
from constraintrot.tokens import count

# A window that no episode fills, because the context's own limit is under test.
WINDOW = 1_000_000
_NOTHING = RequestUsage(prompt_tokens=0, completion_tokens=0)


class SessionClient(ChatCompletionClient):
    """A model client that returns a session's answers, and counts texts in o200k tokens."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | str = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Return the session's next answer; its text beside tool calls is AutoGen's ``thought``."""
        schemas = [tool if isinstance(tool, dict) else tool.schema for tool in tools]
        reply = await self._session.answer(
            openai_format.messages(_as_dicts(messages)), openai_format.tools(schemas)
        )
        calls = [
            FunctionCall(id=call.id, name=call.function, arguments=json.dumps(call.arguments))
            for call in reply.tool_calls or []
        ]
        return CreateResult(
            finish_reason="function_calls" if calls else "stop",
            content=calls or reply.text,
            thought=(reply.text or None) if calls else None,
            usage=_NOTHING,
            cached=False,
        )

    async def create_stream(
        self, messages: Sequence[LLMMessage], **kwargs: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        yield await self.create(messages, **kwargs)

    def count_tokens(
        self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()
    ) -> int:
        """O200k tokens of the messages' texts and their calls' arguments."""
        return sum(count(text) for message in messages for text in _texts(message))

    def remaining_tokens(
        self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()
    ) -> int:
        return WINDOW - self.count_tokens(messages)

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False,
            function_calling=True,
            json_output=False,
            family="unknown",
            structured_output=False,
        )

    @property
    def capabilities(self) -> ModelInfo:
        """The abilities under the framework's older name."""
        return self.model_info

    def actual_usage(self) -> RequestUsage:
        """Return zero: Inspect counts the usage."""
        return _NOTHING

    def total_usage(self) -> RequestUsage:
        return _NOTHING

    async def close(self) -> None:
        """Do nothing: no connection is open."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="allow")


class SessionTool(BaseTool[Any, Any]):
    """A simulated tool of a session."""

    def __init__(self, session: Session, info: ToolInfo) -> None:
        super().__init__(_Arguments, str, info.name, info.description)
        self._session = session
        self._parameters = info.parameters.model_dump(exclude_none=True)

    @property
    def schema(self) -> ToolSchema:
        """The tool's own schema; its arguments' class has none."""
        parameters = ParametersSchema(
            type="object",
            properties=self._parameters["properties"],
            required=self._parameters["required"],
        )
        return ToolSchema(name=self.name, description=self.description, parameters=parameters)

    async def run(self, args: BaseModel, cancellation_token: CancellationToken) -> str:
        return self._session.tool(self.name, args.model_dump())


def tools(session: Session) -> list[Any]:
    return [SessionTool(session, info) for info in session.tools]


def _as_dicts(messages: Iterable[LLMMessage]) -> list[dict[str, Any]]:
    return [found for message in messages for found in _as_dict(message)]


def _as_dict(message: LLMMessage) -> list[dict[str, Any]]:
    if isinstance(message, FunctionExecutionResultMessage):
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
            for result in message.content
        ]
    if isinstance(message, SystemMessage):
        return [{"role": "system", "content": message.content}]
    if isinstance(message, UserMessage):
        if not isinstance(message.content, str):
            raise EpisodeError("a message's content is no text; these harnesses handle text only")
        return [{"role": "user", "content": message.content}]
    return [_said(message)]


def _said(message: AssistantMessage) -> dict[str, Any]:
    if isinstance(message.content, str):
        return {"role": "assistant", "content": message.content}
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.content
    ]
    return {"role": "assistant", "content": message.thought, "tool_calls": calls}


def _texts(message: LLMMessage) -> list[str]:
    if isinstance(message.content, str):
        return [message.content]
    parts: list[str] = []
    for part in message.content:
        parts.append(part.arguments if isinstance(part, FunctionCall) else str(part))
    return parts


# The opening request and the answer to it.
HEAD = 2


def _conversation(session: Session, mode: str) -> Say:
    memory = _in_memory(session) if mode == "memory" else None
    client = SessionClient(session)
    agent = AssistantAgent(
        "assistant",
        client,
        tools=tools(session),
        system_message=session.system,
        model_context=_context(session, client, mode),
        memory=memory,
        # The default of one call per request would leave every result unanswered.
        max_tool_iterations=max(MAX_STEPS + 1, *(len(e.replies) for e in session.script)),
    )

    async def say(text: str) -> None:
        await agent.run(task=text)

    return say


def _context(session: Session, client: SessionClient, mode: str) -> ChatCompletionContext:
    inner: ChatCompletionContext
    if not session.compacts:
        inner = UnboundedChatCompletionContext()
    elif mode == "token_limited":
        inner = TokenLimitedChatCompletionContext(client, token_limit=_token_limit(session))
    elif mode == "head_and_tail":
        inner = HeadAndTailChatCompletionContext(head_size=HEAD, tail_size=_last(session))
    else:
        inner = BufferedChatCompletionContext(buffer_size=_last(session, memory=mode == "memory"))
    if session.pins is None:
        return inner
    return PinnedContext(inner, session.pins)


def _last(session: Session, *, memory: bool = False) -> int:
    """Return the number of messages of the last two exchanges and the trigger.

    A live agent's calls are unknown beforehand; one message per exchange is counted, which is
    fewer than it writes even without calls.
    """
    if session.live:
        return max(5, len(session.script)) + (3 if memory else 0)
    sizes = [
        1 + len(e.replies) + sum(bool(r.tool_calls) for r in e.replies) for e in session.script
    ]
    return sum(sizes[-2:]) + 1 + (3 if memory else 0)


def _token_limit(session: Session) -> int:
    """Return half of the tokens at the trigger; for a live conversation, less than its requests.

    If little fits, the context may remove the request that a live agent is working on; the
    session then refuses the sample.
    """
    if not session.live:
        return (session.size() + count(session.trigger)) // 2
    requests = [exchange.user.text for exchange in session.script]
    return sum(map(count, [*requests, session.trigger])) - 1


def _in_memory(session: Session) -> list[Memory]:
    """Move the standing turn from the session's history to a memory, and return the memory."""
    standing = standing_messages(session.episode)
    gone = {message.id for message in standing}
    session.history = [message for message in session.history if message.id not in gone]
    session.script = scripted_history.exchanges(session.history)
    held = [m.text for m in standing if m.role in ("user", "tool")]
    contents = [MemoryContent(content=text, mime_type="text/plain") for text in held]
    return [ListMemory(memory_contents=contents)]


autogen = playing("autogen-agentchat", _conversation)
