"""A chat client for agent-framework that records what it was sent, and a conversation to drive."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

from tests.harnesses.rules import FIRST_USER, LATER_USER, SYSTEM, TOOL


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

    @property
    def ever(self) -> str:
        """All texts of all inputs."""
        return "\n".join(self.texts)


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
