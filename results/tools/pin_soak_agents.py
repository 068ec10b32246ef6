"""An agent of each framework with a scripted model, for ``pin_soak``."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from constraintrot.defenses.pinning.pinned_block import PinnedBlock


@dataclass(frozen=True)
class Turn:
    """A request of the user's and all that comes of it.

    Attributes:
        user: the request.
        outputs: what a tool returns, call by call.
        reply: what the model says at last.
        streamed: whether the answer is asked for word by word.
        delegated: whether a sub-agent is asked too, where the agent has one.
    """

    user: str
    outputs: tuple[str, ...]
    reply: str
    streamed: bool
    delegated: bool


@dataclass(frozen=True)
class Sent:
    """A request as the model got it.

    Attributes:
        said: the system's text, then each message's.
        blocks: the pins at that moment.
    """

    said: list[str]
    blocks: tuple[str, ...]


class Played:
    """An agent that plays a script; what a framework needs is in its subclass.

    Attributes:
        sent: what the model was sent in this conversation.
        between: called while a tool runs.
        delegates: whether the agent has a sub-agent.
        streams: whether it is asked for streams, too.
    """

    delegates = False
    streams = True

    def __init__(self, system: str, blocks: Sequence[PinnedBlock], chance: float) -> None:
        self.system, self.blocks, self.chance = system, blocks, chance
        self.sent: list[Sent] = []
        self.outputs: list[str] = []
        self.between: Callable[[], None] = lambda: None
        self.thread = 0
        self.build()

    def build(self) -> None:
        """Make the agent."""
        raise NotImplementedError

    def begin(self) -> None:
        """Begin another conversation."""
        self.thread += 1
        self.sent = []

    async def say(self, turn: Turn) -> None:
        """Have a turn played."""
        raise NotImplementedError

    def look(self) -> str:
        """Look at a ticket."""
        self.between()
        return self.outputs.pop(0)

    def was_sent(self, said: Sequence[str]) -> None:
        """Keep what the model was sent."""
        texts = tuple(block.text for block in self.blocks if block.text)
        self.sent.append(Sent(list(said), texts))


class LangChain(Played):
    """``create_agent`` with a summarization, and half the time a prompt made behind the pins."""

    def model(self) -> Any:
        from tests.harnesses.langchain_fakes import Recorder

        played = self

        class Keeps(Recorder):
            def _next(self, messages: list[Any]) -> Any:
                first = messages[0].text if messages and messages[0].type == "system" else ""
                said = messages[messages[0].type == "system" :] if messages else []
                played.was_sent([first, *(message.text for message in said)])
                return super()._next(messages)

        self.recorder = Keeps()
        return self.recorder

    def build(self) -> None:
        from langchain.agents import create_agent
        from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
        from langchain_core.messages import SystemMessage
        from langchain_core.tools import StructuredTool
        from langgraph.checkpoint.memory import InMemorySaver

        from constraintrot.defenses.frameworks.langchain import PinMiddleware
        from tests.harnesses.langchain_fakes import Recorder

        system = self.system

        class Prompt(AgentMiddleware[Any, Any, Any]):
            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                return handler(request.override(system_message=SystemMessage(system)))

            async def awrap_model_call(self, request: Any, handler: Any) -> Any:
                return await handler(request.override(system_message=SystemMessage(system)))

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        shorter = SummarizationMiddleware(
            Recorder(reply="Some work."), trigger=("messages", 8), keep=("messages", 4)
        )
        self.agent: Any = create_agent(
            self.model(),
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=system,
            middleware=[*pins, shorter, *([Prompt()] if self.chance < 0.5 else [])],
            checkpointer=InMemorySaver(),
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        self.outputs = list(turn.outputs)
        look = [AIMessage("", tool_calls=[call(number)]) for number in range(len(turn.outputs))]
        self.recorder.script[:] = [*look, AIMessage(turn.reply)]
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        asked = {"messages": [HumanMessage(turn.user)]}
        if turn.streamed:
            async for _ in self.agent.astream(asked, config, stream_mode="messages"):
                pass
        else:
            self.agent.invoke(asked, config)


def call(number: int) -> Any:
    """A call of the tool, as LangChain has it."""
    return {"name": "look", "args": {}, "id": f"call {number}"}


class LangGraph(LangChain):
    """A graph built by hand; half the time with a model that pins by itself."""

    def build(self) -> None:
        from langchain_core.messages import SystemMessage, ToolMessage
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import START, MessagesState, StateGraph

        from constraintrot.defenses.frameworks.langchain_model import pinned_model
        from constraintrot.defenses.frameworks.langgraph import pinned

        model, system, look = self.model(), self.system, self.look
        own = self.blocks if self.chance < 0.5 else []
        for block in self.blocks if self.chance >= 0.5 else []:
            model = pinned_model(model, block)

        def call_model(state: Any) -> dict[str, Any]:
            sent: list[Any] = [SystemMessage(system), *state["messages"]]
            for block in own:
                sent = pinned(sent, block)
            return {"messages": [model.invoke(sent)]}

        def tools(state: Any) -> dict[str, Any]:
            calls = state["messages"][-1].tool_calls
            return {"messages": [ToolMessage(look(), tool_call_id=one["id"]) for one in calls]}

        def after(state: Any) -> str:
            return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "__end__"

        graph = StateGraph(MessagesState)
        graph.add_node("call_model", call_model)
        graph.add_node("tools", tools)
        graph.add_edge(START, "call_model")
        graph.add_conditional_edges("call_model", after)
        graph.add_edge("tools", "call_model")
        self.agent = graph.compile(checkpointer=InMemorySaver())


class DeepAgents(LangChain):
    """``create_deep_agent``, which may delegate."""

    delegates = True

    def build(self) -> None:
        from deepagents import create_deep_agent
        from langchain_core.tools import StructuredTool
        from langgraph.checkpoint.memory import InMemorySaver

        from constraintrot.defenses.frameworks.deepagents import PinMiddleware, pinned_subagents

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        subagents: Any = None
        for pin in pins:
            subagents = pinned_subagents(pin, subagents or [])
        self.agent = create_deep_agent(
            self.model(),
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=self.system,
            middleware=pins,
            subagents=subagents,
            checkpointer=InMemorySaver(),
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage

        await super().say(turn) if not turn.delegated else await self._delegated(turn, AIMessage)

    async def _delegated(self, turn: Turn, message: Any) -> None:
        from langchain_core.messages import HumanMessage

        task = {"description": turn.user, "subagent_type": "general-purpose"}
        calls = [{"name": "task", "args": task, "id": "task"}]
        self.recorder.script[:] = [message("", tool_calls=calls), message("Done."), message("Ok.")]
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        self.agent.invoke({"messages": [HumanMessage(turn.user)]}, config)


class AutoGen(Played):
    """An ``AssistantAgent`` over a buffer; half the time its client pins, else its context."""

    def build(self) -> None:
        from tests.harnesses.autogen_fakes import Recorder

        played = self

        class Keeps(Recorder):
            async def create(self, messages: Sequence[Any], **given: Any) -> Any:
                first = messages[0].content
                played.was_sent([first, *(said(message) for message in messages[1:])])
                return await super().create(messages, **given)

        def said(message: Any) -> str:
            content = message.content
            return content if isinstance(content, str) else str(content)

        self.recorder = Keeps()

    def begin(self) -> None:
        from autogen_agentchat.agents import AssistantAgent
        from autogen_core.model_context import (
            BufferedChatCompletionContext,
            ChatCompletionContext,
        )

        from constraintrot.defenses.frameworks.autogen import PinnedClient, PinnedContext

        super().begin()
        client: Any = self.recorder
        context: ChatCompletionContext = BufferedChatCompletionContext(6)
        for block in self.blocks:
            if self.chance < 0.5:
                client = PinnedClient(client, block)
            else:
                context = PinnedContext(context, block)

        async def look() -> str:
            """Look at a ticket."""
            return self.look()

        self.agents = {
            streamed: AssistantAgent(
                "a",
                client,
                tools=[look],
                system_message=self.system,
                model_context=context,
                max_tool_iterations=5,
                model_client_stream=streamed,
            )
            for streamed in (False, True)
        }

    async def say(self, turn: Turn) -> None:
        from tests.harnesses.autogen_fakes import calling

        self.outputs = list(turn.outputs)
        calls = [calling("look", str(number)) for number in range(len(turn.outputs))]
        self.recorder.script[:] = [*calls, turn.reply]
        await self.agents[turn.streamed].run(task=turn.user)


class OpenAIAgents(Played):
    """The OpenAI Agents SDK's ``Runner`` over a session with a limit; it may delegate."""

    delegates = True

    def build(self) -> None:
        from agents import Agent, FunctionTool, RunConfig
        from agents.memory import SessionSettings

        from constraintrot.defenses.frameworks.openai_agents import block_filter, pinned_model
        from tests.harnesses.openai_agents_fakes import Recorder

        played = self

        class Keeps(Recorder):
            def _next(self, instructions: str | None, input: Any) -> Any:
                output: Any = super()._next(instructions, input)
                played.was_sent([instructions or "", *map(str, self.inputs[-1])])
                if output[0].type == "message":
                    output[0].content[0].text = played.reply
                return output

        self.reply = ""
        self.recorder = Keeps()
        model: Any = self.recorder
        pin: Any = None
        for block in self.blocks:
            # A filter pins the run, and the model what the filter has no part in.
            pin = block_filter(block, pin) if self.chance < 0.5 else None
            model = pinned_model(model, block) if self.chance >= 0.5 else model

        async def look(context: Any, arguments: str) -> str:
            return self.look()

        schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
        clerk: Agent[None] = Agent(name="clerk", model=model, instructions=self.system)
        self.agent: Agent[None] = Agent(
            name="a",
            model=model,
            instructions=self.system,
            tools=[
                FunctionTool("look", "Looks.", schema, look, strict_json_schema=False),
                clerk.as_tool(tool_name="clerk", tool_description="Counts."),
            ],
        )
        self.config = RunConfig(
            tracing_disabled=True,
            call_model_input_filter=pin,
            session_settings=SessionSettings(limit=8),
        )

    def begin(self) -> None:
        from agents import SQLiteSession

        super().begin()
        if self.thread > 1:
            self.session.close()
        self.session = SQLiteSession(str(self.thread))
        self.recorder.texts.clear()

    async def say(self, turn: Turn) -> None:
        from agents import Runner

        self.outputs = list(turn.outputs)
        calls: list[str | None] = ["look"] * len(turn.outputs)
        self.recorder.script[:] = (
            ["clerk", None, *calls, None] if turn.delegated else [*calls, None]
        )
        self.reply = turn.reply
        given: Any = {"session": self.session, "run_config": self.config}
        if turn.streamed:
            result = Runner.run_streamed(self.agent, turn.user, **given)
            async for _ in result.stream_events():
                pass
        else:
            await Runner.run(self.agent, turn.user, **given)


class AgentFramework(Played):
    """Microsoft's ``Agent`` over a sliding window; it may delegate."""

    delegates = True

    def build(self) -> None:
        from agent_framework import Agent, SlidingWindowStrategy

        from constraintrot.defenses.frameworks.agent_framework import pinned_client
        from tests.harnesses.agent_framework_fakes import Recorder, said

        played = self

        class Keeps(Recorder):
            def _inner_get_response(self, *, messages: Any, options: Any, **given: Any) -> Any:
                played.was_sent([options.get("instructions") or "", *map(said, messages)])
                return super()._inner_get_response(messages=messages, options=options, **given)

        self.recorder = Keeps()
        client: Any = self.recorder
        for block in self.blocks:
            client = pinned_client(client, block)

        def look() -> str:
            """Look at a ticket."""
            return self.look()

        clerk: Agent[Any] = Agent(client=client, name="clerk", instructions=self.system)
        self.agent: Agent[Any] = Agent(
            client=client,
            instructions=self.system,
            tools=[look, clerk.as_tool()],
            compaction_strategy=SlidingWindowStrategy(keep_last_groups=4),
        )

    def begin(self) -> None:
        super().begin()
        self.session = self.agent.create_session()

    async def say(self, turn: Turn) -> None:
        from agent_framework import Content

        from tests.harnesses.agent_framework_fakes import calling

        self.outputs = list(turn.outputs)
        script = [calling("look", str(number)) for number in range(len(turn.outputs))]
        if turn.delegated:
            task = Content.from_function_call("t", "clerk", arguments={"task": turn.user})
            script = [task, Content.from_text("Counted."), *script]
        self.recorder.script[:] = [*script, Content.from_text(turn.reply)]
        if turn.streamed:
            async for _ in self.agent.run(turn.user, session=self.session, stream=True):
                pass
        else:
            await self.agent.run(turn.user, session=self.session)


class GoogleADK(Played):
    """ADK's ``Runner``; half the time the agent's own callback writes the instruction anew."""

    def build(self) -> None:
        from google.adk.plugins.base_plugin import BasePlugin

        from constraintrot.defenses.frameworks.google_adk import PinPlugin
        from tests.harnesses.google_adk_fakes import Chat, Recorder, _text

        logging.getLogger("google_adk").setLevel(logging.ERROR)
        played, system = self, self.system

        class Keeps(Recorder):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                parts = [part for content in llm_request.contents for part in content.parts or []]
                first = llm_request.config.system_instruction or ""
                played.was_sent([first, *map(_text, parts)])
                async for response in super().generate_content_async(llm_request, stream):
                    yield response

        def replaces(callback_context: Any, llm_request: Any) -> None:
            llm_request.config.system_instruction = system

        self.recorder = Keeps()
        plugins: list[BasePlugin] = [
            PinPlugin(block, name=f"pins {number}") for number, block in enumerate(self.blocks)
        ]
        self.chats = {
            streamed: Chat(
                self.recorder,
                plugins=plugins,
                stream=streamed,
                tools=[self.look],
                before_model_callback=replaces,
            )
            for streamed in (False, True)
        }

    async def say(self, turn: Turn) -> None:
        from google.genai import types

        from tests.harnesses.google_adk_fakes import calling

        self.outputs = list(turn.outputs)
        chat = self.chats[turn.streamed]
        chat.model.script[:] = [
            *(calling("look") for _ in turn.outputs),
            types.Part(text=turn.reply),
        ]
        message = types.Content(role="user", parts=[types.Part(text=turn.user)])
        async for _ in chat.runner.run_async(
            user_id="user",
            session_id=str(self.thread),
            new_message=message,
            run_config=chat.run_config,
        ):
            pass


class InspectAI(Played):
    """Inspect's model, pinned, in an agent's loop; after some turns the history is shortened."""

    streams = False

    def build(self) -> None:
        from inspect_ai.model import ChatMessageSystem, ModelOutput, get_model

        from constraintrot.defenses.pinning import PinnedModel

        def answer(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
            self.was_sent([message.text for message in messages])
            return ModelOutput.from_content("mockllm/model", self.reply)

        self.reply = ""
        self.model: Any = get_model("mockllm/model", custom_outputs=answer, memoize=False)
        for block in self.blocks:
            pin: Any = PinnedModel(block.registry, self.model, report=block.report)
            pin.pins.heading = block.heading
            self.model = pin
        self.opening = ChatMessageSystem(content=self.system)
        self.history: list[Any] = []

    def begin(self) -> None:
        super().begin()
        self.history = [self.opening]

    async def say(self, turn: Turn) -> None:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser

        self.outputs, self.reply = list(turn.outputs), turn.reply
        self.history.append(ChatMessageUser(content=turn.user))
        for _ in turn.outputs:
            self.history.append(ChatMessageAssistant(content="I look."))
            self.history.append(ChatMessageTool(content=self.look(), function="look"))
            await self.model.generate(self.history)
        await self.model.generate(self.history)
        self.history.append(ChatMessageAssistant(content=turn.reply))
        if len(self.history) > 8:
            summary = ChatMessageUser(content=turn.user, metadata={"summary": True})
            self.history = [self.opening, summary]


class LiteLLM(Played):
    """A proxy's hook before a call, guardrail by guardrail."""

    streams = False

    def build(self) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        from constraintrot.defenses.frameworks.litellm import PinGuardrail

        self.guards = [
            PinGuardrail(
                block.registry, heading=block.heading, report=block.report, guardrail_name=f"p{n}"
            )
            for n, block in enumerate(self.blocks)
        ]
        self.history: list[dict[str, Any]] = []

    def begin(self) -> None:
        super().begin()
        self.history = [{"role": "system", "content": self.system}]

    async def say(self, turn: Turn) -> None:
        self.outputs = list(turn.outputs)
        self.history.append({"role": "user", "content": turn.user})
        for _ in turn.outputs:
            await self._ask()
            self.history.append({"role": "tool", "content": self.look(), "tool_call_id": "1"})
        await self._ask()
        self.history.append({"role": "assistant", "content": turn.reply})

    async def _ask(self) -> None:
        data: dict[str, Any] = {"model": "mine", "messages": [dict(one) for one in self.history]}
        for guard in self.guards:
            hook: Any = guard.async_pre_call_hook
            data = await hook(None, None, data, "acompletion")
        self.was_sent([message["content"] for message in data["messages"]])


Made: TypeAlias = Callable[[str, Sequence[PinnedBlock], float], Played]
AGENTS: dict[str, Made] = {
    "langgraph": LangGraph,
    "langchain": LangChain,
    "deepagents": DeepAgents,
    "autogen": AutoGen,
    "openai_agents": OpenAIAgents,
    "agent_framework": AgentFramework,
    "google_adk": GoogleADK,
    "litellm": LiteLLM,
    "inspect_ai": InspectAI,
}
