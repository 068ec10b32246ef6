"""The agents of the other vendors' frameworks, for the soak."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from typing import Any

from results.tools.pin_soak.agents import Played, Turn


class AutoGen(Played):
    """An ``AssistantAgent`` over a buffer; half the time its client pins, else its context."""

    def open(self) -> None:
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
        super().begin()
        self.recorder.calls.clear()
        self.build()

    async def restart(self) -> None:
        stored = await self.context.save_state()
        self.build()
        await self.context.load_state(json.loads(json.dumps(stored)))

    def build(self) -> None:
        from autogen_agentchat.agents import AssistantAgent
        from autogen_core.model_context import (
            BufferedChatCompletionContext,
            ChatCompletionContext,
        )

        from constraintrot.harnesses.autogen.pins import PinnedClient, PinnedContext

        client: Any = self.recorder
        context: ChatCompletionContext = BufferedChatCompletionContext(6)
        for block in self.blocks:
            if self.chance < 0.5:
                client = PinnedClient(client, block)
            else:
                context = PinnedContext(context, block)
        self.context = context

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

    def open(self) -> None:
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

    def build(self) -> None:
        from agents import Agent, FunctionTool, RunConfig
        from agents.memory import SessionSettings

        from constraintrot.harnesses.openai_agents.pins import pin_filter, pinned_model

        model: Any = self.recorder
        pin: Any = None
        for block in self.blocks:
            # A filter pins the run, and the model what the filter has no part in.
            pin = pin_filter(block, pin) if self.chance < 0.5 else None
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
        self.session: SQLiteSession = SQLiteSession(str(self.thread))
        self.recorder.texts.clear()
        self.recorder.inputs.clear()

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

    def open(self) -> None:
        from tests.harnesses.agent_framework_fakes import Recorder, said

        played = self

        class Keeps(Recorder):
            def _inner_get_response(self, *, messages: Any, options: Any, **given: Any) -> Any:
                played.was_sent([options.get("instructions") or "", *map(said, messages)])
                return super()._inner_get_response(messages=messages, options=options, **given)

        self.recorder = Keeps()

    def build(self) -> None:
        from agent_framework import Agent, SlidingWindowStrategy

        from constraintrot.harnesses.agent_framework.pins import pinned_client

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
        self.recorder.calls.clear()
        self.recorder.texts.clear()
        self.session = self.agent.create_session()

    async def restart(self) -> None:
        from agent_framework import AgentSession

        self.build()
        self.session = AgentSession.from_dict(self.session.to_dict())

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
    """ADK's ``Runner``; at times the agent's own callback edits the instruction."""

    def open(self) -> None:
        from google.adk.sessions.in_memory_session_service import InMemorySessionService

        from tests.harnesses.google_adk_fakes import Recorder, _text

        logging.getLogger("google_adk").setLevel(logging.ERROR)
        # Each run would look for it, compile it, and find that what it needs is not there.
        sys.modules.setdefault("google.adk.agents.remote_a2a_agent", None)  # type: ignore[arg-type]
        self.sessions = InMemorySessionService()
        played = self

        class Keeps(Recorder):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                parts = [part for content in llm_request.contents for part in content.parts or []]
                first = llm_request.config.system_instruction or ""
                played.was_sent([first, *map(_text, parts)])
                async for response in super().generate_content_async(llm_request, stream):
                    yield response

        self.recorder = Keeps()

    def begin(self) -> None:
        super().begin()
        self.recorder.texts.clear()
        self.recorder.roles.clear()

    def build(self) -> None:
        from google.adk.plugins.base_plugin import BasePlugin

        from constraintrot.harnesses.google_adk.pins import PinPlugin
        from tests.harnesses.google_adk_fakes import Chat

        system, chance = self.system, self.chance

        def edits(callback_context: Any, llm_request: Any) -> None:
            if chance < 0.3:
                llm_request.config.system_instruction = system
            elif chance < 0.6:
                llm_request.config.system_instruction += " Today is Monday."

        plugins: list[BasePlugin] = [
            PinPlugin(block, name=f"pins {number}") for number, block in enumerate(self.blocks)
        ]
        self.chats = {
            streamed: Chat(
                self.recorder,
                plugins=plugins,
                stream=streamed,
                tools=[self.look],
                before_model_callback=edits,
            )
            for streamed in (False, True)
        }
        for chat in self.chats.values():
            chat.runner.session_service = self.sessions

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
