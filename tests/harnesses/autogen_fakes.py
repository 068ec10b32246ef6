"""A model client for AutoGen that records what it was sent, and a conversation to drive."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelInfo,
    RequestUsage,
)

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.autogen.pins import PinnedContext
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.rules import FIRST_USER, LATER_USER, SYSTEM, TOOL

WINDOW = 100_000


class Recorder(ChatCompletionClient):
    """Says what its script says, then always the same; counts a token for four characters.

    Args:
        script: replies in order.
        window: how many tokens it takes.
    """

    def __init__(self, *script: str | list[FunctionCall], window: int = WINDOW) -> None:
        self.script = list(script)
        self.window = window
        self.calls: list[list[LLMMessage]] = []

    async def create(self, messages: Sequence[LLMMessage], **given: Any) -> CreateResult:
        self.calls.append(list(messages))
        content = self.script.pop(0) if self.script else "Done."
        return CreateResult(
            finish_reason="stop" if isinstance(content, str) else "function_calls",
            content=content,
            usage=RequestUsage(prompt_tokens=0, completion_tokens=0),
            cached=False,
        )

    async def create_stream(
        self, messages: Sequence[LLMMessage], **given: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        result = await self.create(messages)
        if isinstance(result.content, str):
            for word in result.content.split():
                yield word
        yield result

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Any] = ()) -> int:
        return sum(len(str(message.content)) for message in messages) // 4

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Any] = ()) -> int:
        return self.window - self.count_tokens(messages)

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=True,
            function_calling=True,
            json_output=False,
            family="unknown",
            structured_output=False,
        )

    @property
    def capabilities(self) -> ModelInfo:
        return self.model_info

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    def total_usage(self) -> RequestUsage:
        return self.actual_usage()

    async def close(self) -> None:
        """There is nothing to close."""

    @property
    def texts(self) -> list[str]:
        """All texts of each input."""
        return ["\n".join(str(message.content) for message in sent) for sent in self.calls]


def calling(tool: str, id: str) -> list[FunctionCall]:
    """A reply that calls a tool."""
    return [FunctionCall(id=id, name=tool, arguments="{}")]


async def read_handbook() -> str:
    """Read the handbook."""
    return TOOL


def made(client: Recorder, context: ChatCompletionContext | None, **given: Any) -> AssistantAgent:
    """An agent with a system rule and the handbook."""
    return AssistantAgent(
        "assistant",
        client,
        tools=[read_handbook],
        system_message=SYSTEM,
        model_context=context,
        max_tool_iterations=5,
        **given,
    )


async def converse(agent: AssistantAgent, client: Recorder, turns: int = 20) -> None:
    """The rules first, each on its channel but the system's, and then plain work."""
    client.script[:] = [calling("read_handbook", "h"), "Noted."]
    await agent.run(task=FIRST_USER)
    await agent.run(task=LATER_USER)
    for turn in range(turns):
        await agent.run(task=f"Look at ticket {turn}. " + "The printer is out of paper. " * 8)


MATRIX = {
    "nothing": Row(lambda _: UnboundedChatCompletionContext(), EVERYTHING),
    "Buffered(10)": Row(lambda _: BufferedChatCompletionContext(10), SYSTEM_ONLY),
    # It begins with an assistant's message at every other call.
    "Buffered(2)": Row(lambda _: BufferedChatCompletionContext(2), SYSTEM_ONLY),
    "HeadAndTail(1, 6)": Row(
        lambda _: HeadAndTailChatCompletionContext(1, 6), frozenset({"system", "first user"})
    ),
    "HeadAndTail(3, 6)": Row(
        lambda _: HeadAndTailChatCompletionContext(3, 6), EVERYTHING - {"later user"}
    ),
    "TokenLimited(400)": Row(
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=400), EVERYTHING
    ),
    # Of the last two messages it takes out the second: the request itself.
    "TokenLimited(60)": Row(
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=60),
        frozenset({"system", "first user"}),
        asked=False,
    ),
}


def play(
    given: Callable[[Recorder], ChatCompletionContext], rules: Registry | None, *, streamed: bool
) -> Seen:
    client = Recorder()
    context = given(client)
    context = PinnedContext(context, rules) if rules else context
    agent = made(client, context, model_client_stream=streamed)
    asyncio.run(converse(agent, client))
    return Seen(client.texts, str(asyncio.run(agent.save_state())))


def loop(rules: Registry, tools: list[Callable[[], str]]) -> list[str]:
    client = Recorder(*(calling(tool.__name__, tool.__name__) for tool in tools))
    context = PinnedContext(UnboundedChatCompletionContext(), rules)
    agent = AssistantAgent(
        "a", client, tools=[*tools], model_context=context, max_tool_iterations=5
    )
    asyncio.run(agent.run(task="Go on."))
    return client.texts


ARM = Arm(MATRIX, play, loop, stores_all=True)
