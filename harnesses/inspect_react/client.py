"""A session in Inspect's types for react(): its model, tools and turns."""

from collections.abc import Callable, Sequence
from copy import copy
from types import MethodType
from typing import Any

import anyio
from inspect_ai.agent import Agent, AgentState, run
from inspect_ai.model import ChatMessage, ChatMessageUser, Model, ModelAPI, ModelOutput, get_model
from inspect_ai.tool import Tool, ToolDef, ToolInfo, ToolSource

from constraintrot.compaction.strategy_wrapper import summarised
from constraintrot.compactors.turns import SUMMARY
from constraintrot.episode.messages import ORIGIN
from constraintrot.harnesses.session import Session
from constraintrot.tokens import count


class ReactSession(Session):
    """A session that recognises a summary by Inspect's own mark.

    The text alone is not enough: Inspect cuts a summarizer's reasoning from its summary.
    """

    def tagged(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        mark = {"metadata": {ORIGIN: "summary", SUMMARY: True}}
        return [
            known.model_copy(update=mark) if summarised(message) else known
            for message, known in zip(messages, super().tagged(messages), strict=True)
        ]


class SessionModel(Model):
    """A model that returns a session's answers; native compaction is the provider's.

    It counts offline in the o200k vocabulary, so that the place of a compaction does not
    depend on the model. A call without tools is a summarizer's: react() offers its tools in
    every call of the agent.
    """

    def __init__(self, session: Session) -> None:
        agent = get_model(role="agent")
        super().__init__(_counting_offline(agent.api), agent.config)
        self.session = session

    async def generate(
        self,
        input: str | list[ChatMessage],
        tools: Sequence[Tool | ToolDef | ToolInfo | ToolSource] | ToolSource = (),
        *args: Any,
        **settings: Any,
    ) -> ModelOutput:
        sent: list[ChatMessage] = (
            [ChatMessageUser(content=input)] if isinstance(input, str) else input
        )
        infos = [as_info(tool) for tool in tools] if isinstance(tools, Sequence) else []
        if not infos:
            return ModelOutput.from_content(self.name, await self.session.summarize(sent))
        return ModelOutput.from_message(await self.session.answer(sent, infos))


def _counting_offline(api: ModelAPI) -> ModelAPI:
    async def count_text(text: str) -> int:
        return count(text)

    counting: Any = copy(api)
    counting.count_text_tokens = count_text
    # A provider's own method may ask its server.
    counting.count_tokens = MethodType(ModelAPI.count_tokens, counting)
    return counting  # type: ignore[no-any-return]


def tools(session: Session) -> list[ToolDef]:
    return [_tool(session, info) for info in infos(session)]


def infos(session: Session) -> list[ToolInfo]:
    """Return the session's tools with a description of each parameter, which Inspect requires.

    The model gets the session's own descriptions.
    """
    found: list[ToolInfo] = []
    for info in session.tools:
        properties = {
            name: schema
            if schema.description
            else schema.model_copy(update={"description": name.replace("_", " ")})
            for name, schema in info.parameters.properties.items()
        }
        parameters = info.parameters.model_copy(update={"properties": properties})
        found.append(info.model_copy(update={"parameters": parameters}))
    return found


class Turns:
    """One run of react(), which gets the requests of a conversation one after the other."""

    def __init__(self, make: Callable[[Any], Agent]) -> None:
        self._agent = make(self._next)
        self._say, self._said = anyio.create_memory_object_stream[str](1)
        self._tell, self._told = anyio.create_memory_object_stream["Exception | None"](1)

    async def say(self, text: str) -> None:
        """Give the agent a request, and wait until it has finished."""
        await self._say.send(text)
        if (fault := await self._told.receive()) is not None:
            raise fault

    async def run(self) -> None:
        """Run the agent until there are no more requests."""
        try:
            # As the sample's input, which Inspect's strategies never compact.
            await run(self._agent, await self._said.receive())
        except Exception as error:
            await self._tell.send(error)

    def close(self) -> None:
        self._say.close()

    async def _next(self, state: AgentState) -> bool | str:
        if state.output.message.tool_calls:
            return True
        await self._tell.send(None)
        try:
            return await self._said.receive()
        except anyio.EndOfStream:
            return False


def as_info(tool: Tool | ToolDef | ToolInfo | ToolSource) -> ToolInfo:
    """Return the ToolInfo of a tool in any of Inspect's forms."""
    if isinstance(tool, ToolInfo):
        return tool
    made = tool if isinstance(tool, ToolDef) else ToolDef(tool)  # type: ignore[arg-type]
    return ToolInfo(name=made.name, description=made.description, parameters=made.parameters)


def _tool(session: Session, info: ToolInfo) -> ToolDef:
    async def simulated(**kwargs: Any) -> str:
        return session.tool(info.name, kwargs)

    return ToolDef(
        simulated, name=info.name, description=info.description, parameters=info.parameters
    )
