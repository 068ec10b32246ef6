"""A chat client for agent-framework that records what it was sent, and a conversation to drive."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    CharacterEstimatorTokenizer,
    ChatResponse,
    ChatResponseUpdate,
    CompactionProvider,
    Content,
    ContextWindowCompactionStrategy,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.agent_framework.pins import pinned_client
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.rules import FIRST_USER, LATER_USER, LOSSY, SYSTEM, TOOL


class Recorder(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Says what its script says, then always the same; keeps the text of each input.

    Args:
        reply: said when the script is over.
    """

    def __init__(self, reply: str = "Done.", **given: Any) -> None:
        super().__init__(**given)
        self.reply = reply
        self.script: list[Content] = []
        self.calls: list[list[Message]] = []
        self.texts: list[str] = []

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **_: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        self.calls.append(list(messages))
        self.texts.append("\n".join([options.get("instructions") or "", *map(said, messages)]))
        content = self.script.pop(0) if self.script else Content.from_text(self.reply)
        if stream:
            return self._build_response_stream(_streamed(content))
        return _whole(content)


async def _whole(content: Content) -> ChatResponse[Any]:
    return ChatResponse(messages=[Message("assistant", [content])])


async def _streamed(content: Content) -> AsyncIterable[ChatResponseUpdate]:
    parts = (
        [Content.from_text(f"{word} ") for word in content.text.split()]
        if content.text is not None
        else [content]
    )
    for part in parts:
        yield ChatResponseUpdate(role="assistant", contents=[part])


def said(message: Message) -> str:
    """A message's text and the results in it."""
    return "\n".join(str(one.text or one.result or "") for one in message.contents)


def calling(tool: str, id: str) -> Content:
    """A reply that calls a tool."""
    return Content.from_function_call(id, tool, arguments={})


def read_handbook() -> str:
    """Read the handbook."""
    return TOOL


def look_up() -> str:
    """Look up a ticket."""
    return "The printer is out of paper. " * 5


def made(client: Recorder, **given: Any) -> Agent[Any]:
    """An agent with a system rule and the two tools."""
    return Agent(client=client, instructions=SYSTEM, tools=[read_handbook, look_up], **given)


async def converse(
    agent: Agent[Any], client: Recorder, turns: int = 8, *, stream: bool = False
) -> AgentSession:
    """The rules first, each on its channel but the system's, and then work with a tool."""
    session = agent.create_session()

    async def say(text: str, *calls: Content) -> None:
        client.script[:] = calls
        if stream:
            async for _ in agent.run(text, session=session, stream=True):
                pass
        else:
            await agent.run(text, session=session)

    await say(FIRST_USER, calling("read_handbook", "h"))
    await say(LATER_USER)
    for turn in range(turns):
        await say(f"Look at ticket {turn}.", calling("look_up", f"t{turn}"))
    return session


def stored(session: AgentSession) -> str:
    """All texts of a session's history."""
    return "\n".join(map(said, session.state["in_memory"]["messages"]))


def summarizing(client: Recorder) -> SummarizationStrategy:
    return SummarizationStrategy(client=client, target_count=4, threshold=2)


Given = Callable[[Recorder], dict[str, Any]]


def strategy(make: Callable[[Recorder], Any]) -> Given:
    return lambda writer: {"compaction_strategy": make(writer)}


def provider(place: str, *, skips: bool = False) -> Given:
    """The same strategy at another place, by which of the history's settings."""

    def given(writer: Recorder) -> dict[str, Any]:
        history = InMemoryHistoryProvider(skip_excluded=skips)
        window: dict[str, Any] = {place: SlidingWindowStrategy(keep_last_groups=6)}
        compaction = CompactionProvider(history_source_id=history.source_id, **window)
        return {"context_providers": [history, compaction]}

    return given


def window(**given: Any) -> ContextWindowCompactionStrategy:
    return ContextWindowCompactionStrategy(
        max_context_window_tokens=1200, max_output_tokens=200, **given
    )


def budget(tokens: int) -> TokenBudgetComposedStrategy:
    return TokenBudgetComposedStrategy(
        token_budget=tokens,
        tokenizer=CharacterEstimatorTokenizer(),
        strategies=[ToolResultCompactionStrategy(), SlidingWindowStrategy(keep_last_groups=6)],
    )


FIRST = frozenset({"system", "first user"})
MATRIX = {
    "nothing": Row(lambda _: {}, EVERYTHING),
    "Truncation": Row(strategy(lambda _: TruncationStrategy(max_n=20, compact_to=8)), SYSTEM_ONLY),
    "Truncation, first user": Row(
        strategy(
            lambda _: TruncationStrategy(max_n=20, compact_to=8, preserve_first_user_group=True)
        ),
        FIRST,
    ),
    "ContextWindow": Row(strategy(lambda _: window()), SYSTEM_ONLY),
    "ContextWindow, first user": Row(
        strategy(lambda _: window(preserve_first_user_group=True)), FIRST
    ),
    "SlidingWindow": Row(
        strategy(lambda _: SlidingWindowStrategy(keep_last_groups=6)), SYSTEM_ONLY
    ),
    "TokenBudgetComposed": Row(strategy(lambda _: budget(600)), SYSTEM_ONLY),
    "SelectiveToolCall": Row(
        strategy(lambda _: SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=0)),
        EVERYTHING - {"tool"},
    ),
    # Word for word, but as what the assistant said.
    "ToolResult": Row(
        strategy(lambda _: ToolResultCompactionStrategy(keep_last_tool_call_groups=0)), EVERYTHING
    ),
    "Summarization": Row(
        strategy(summarizing), SYSTEM_ONLY, summaries=1, shown=EVERYTHING - SYSTEM_ONLY
    ),
    "before_strategy": Row(provider("before_strategy"), SYSTEM_ONLY),
    # Surprise: what it excludes is stored as excluded, and the history loads it all the same.
    "after_strategy": Row(provider("after_strategy"), EVERYTHING),
    "after_strategy, skip_excluded": Row(provider("after_strategy", skips=True), SYSTEM_ONLY),
}


def play(given: Given, rules: Registry | None, *, streamed: bool) -> Seen:
    client, writer = Recorder(), Recorder(LOSSY)
    agent = made(pinned_client(client, rules) if rules else client, **given(writer))
    session = asyncio.run(converse(agent, client, stream=streamed))
    return Seen(client.texts, stored(session), "\n".join(writer.texts))


def loop(rules: Registry, tools: list[Callable[[], str]]) -> list[str]:
    client = Recorder()
    client.script[:] = [calling(tool.__name__, tool.__name__) for tool in tools]
    ask(Agent(client=pinned_client(client, rules), instructions=SYSTEM, tools=[*tools]), "Go on.")
    return client.texts


def ask(agent: Agent[Any], text: str) -> None:
    async def asked() -> None:
        await agent.run(text)

    asyncio.run(asked())


ARM = Arm(MATRIX, play, loop, stores_all=True)
