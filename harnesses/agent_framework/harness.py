"""Microsoft's agent-framework: an Agent with one of the framework's compaction strategies.

Instructions travel beside the messages, and no strategy changes them. The messages are
compacted anew from the whole history before each call; the history is kept.

If a summarizer fails or writes nothing, the framework warns and continues with the whole
history; here the sample errors.

========================== =====================================================
mode                       treatment of old messages
========================== =====================================================
``truncation``             leaves them out, oldest first
``truncation_first_user``  the same, and keeps the first request
                           (``preserve_first_user_group``): in an episode the
                           neutral request before the policy's
``sliding_window``         keeps the last groups
``summarization``          summarises them in at most five sentences; the summary
                           has the role of the assistant, so the input does not
                           begin with a request
``tool_result``            rewrites the results of tools as assistant messages;
                           requests and replies stay
``token_budget``           ``tool_result``, then ``sliding_window``, until they
                           fit a budget
========================== =====================================================
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from agent_framework import (
    Agent,
    BaseChatClient,
    CharacterEstimatorTokenizer,
    ChatResponse,
    CompactionStrategy,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    annotate_message_groups,
    included_token_count,
    prepend_instructions_to_messages,
)
from inspect_ai.tool import ToolInfo

from constraintrot.harnesses import openai_format
from constraintrot.harnesses.agent_framework.pins import pinned_client
from constraintrot.harnesses.session import Say, Session, playing

# Two turns with a call each, and the request: nine messages, in seven groups.
KEEP_MESSAGES = 9
KEEP_GROUPS = 7


class SessionClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A chat client that returns a session's answers."""

    def __init__(self, session: Session, part: Literal["agent", "summarizer"]) -> None:
        super().__init__()
        self.session = session
        self.part = part

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse]:
        if stream:
            raise NotImplementedError("the harness asks for whole answers; use run without stream")
        return self._answered(messages, options)

    async def _answered(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> ChatResponse:
        # As the framework's own clients prepend the instructions.
        whole = prepend_instructions_to_messages(list(messages), options.get("instructions"))
        sent = openai_format.messages([one for message in whole for one in _as_dicts(message)])
        if self.part == "summarizer":
            return _response(Content.from_text(await self.session.summarize(sent)))
        given: Sequence[FunctionTool] = options.get("tools") or []
        offered = [tool.to_json_schema_spec() for tool in given]
        reply = await self.session.answer(sent, openai_format.tools(offered))
        said = [Content.from_text(reply.text)] if reply.text else []
        calls = [
            Content.from_function_call(call.id, call.function, arguments=call.arguments)
            for call in reply.tool_calls or []
        ]
        return _response(*said, *calls)


def tools(session: Session) -> list[FunctionTool]:
    return [_tool(session, info) for info in session.tools]


def _tool(session: Session, info: ToolInfo) -> FunctionTool:
    def simulated(**arguments: Any) -> str:
        return session.tool(info.name, arguments)

    schema = info.parameters.model_dump(exclude_none=True)
    return FunctionTool(
        name=info.name, description=info.description, input_model=schema, func=simulated
    )


def strategy(session: Session, mode: str) -> CompactionStrategy:
    """Return a mode's strategy, which first compacts at the trigger or shortly before it."""
    return _MODES[mode](session)


def _least(session: Session) -> int:
    """Return the least number of messages at the trigger's call, the trigger included."""
    # A live agent's number of tool calls is unknown.
    turns = [(1,) if session.live else (*e.replies, *e.results) for e in session.script]
    return sum(1 + len(turn) for turn in turns) + 1


def _truncation(session: Session, *, preserve_first: bool = False) -> CompactionStrategy:
    limit = _least(session) - 1
    return TruncationStrategy(
        max_n=limit,
        compact_to=min(KEEP_MESSAGES, limit),
        preserve_first_user_group=preserve_first,
    )


def _summarization(session: Session) -> CompactionStrategy:
    session.summarizes = True
    limit = _least(session) - 1
    keep = min(KEEP_MESSAGES, limit)
    return SummarizationStrategy(
        client=SessionClient(session, "summarizer"), target_count=keep, threshold=limit - keep
    )


def _token_budget(session: Session) -> CompactionStrategy:
    known = [m for m in session.history[1:] if m.role == "user" or not session.live]
    sizes = [_size([Message(message.role, [message.text])]) for message in known]
    # Of a live agent's turns only the requests are known, and the turns are longer. A long tool
    # result has to fit together with its call.
    budget = sum(sizes) if session.live else max(sum(sizes) * 2 // 3, max(sizes) * 5 // 4)
    return TokenBudgetComposedStrategy(
        token_budget=budget,
        tokenizer=CharacterEstimatorTokenizer(),
        strategies=[
            ToolResultCompactionStrategy(),
            SlidingWindowStrategy(keep_last_groups=KEEP_GROUPS),
        ],
    )


def _size(messages: list[Message]) -> int:
    """Return the framework's own estimate of messages in tokens, including its frame."""
    annotate_message_groups(messages, tokenizer=CharacterEstimatorTokenizer())
    return included_token_count(messages)


_MODES: dict[str, Callable[[Session], CompactionStrategy]] = {
    "truncation": _truncation,
    "truncation_first_user": lambda session: _truncation(session, preserve_first=True),
    "sliding_window": lambda _: SlidingWindowStrategy(keep_last_groups=KEEP_GROUPS),
    "summarization": _summarization,
    "tool_result": lambda _: ToolResultCompactionStrategy(),
    "token_budget": _token_budget,
}


def _as_dicts(message: Message) -> list[dict[str, Any]]:
    """Return a message in the chat-completions form; tool results become a message each."""
    results = [content for content in message.contents if content.type == "function_result"]
    if results:
        return [
            {"role": "tool", "tool_call_id": content.call_id, "content": str(content.result)}
            for content in results
        ]
    calls = [
        {"id": content.call_id, "function": {"name": content.name, "arguments": content.arguments}}
        for content in message.contents
        if content.type == "function_call"
    ]
    return [{"role": message.role, "content": message.text, "tool_calls": calls}]


def _response(*contents: Content) -> ChatResponse:
    return ChatResponse(messages=[Message("assistant", contents)])


def _conversation(session: Session, mode: str) -> Say:
    compaction = strategy(session, mode) if session.compacts else None
    client = SessionClient(session, "agent")
    if session.pins is not None:
        client = pinned_client(client, session.pins)
    agent: Any = Agent(
        client=client,
        instructions=session.system,
        tools=tools(session),
        compaction_strategy=compaction,
    )
    thread = agent.create_session()

    async def say(text: str) -> None:
        await agent.run(text, session=thread)

    return say


agent_framework = playing("agent-framework-core", _conversation)
