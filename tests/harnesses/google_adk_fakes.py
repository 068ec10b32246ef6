"""A model for ADK that records what it was sent, and a conversation to drive."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents._streaming_mode import StreamingMode
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events import Event
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types
from pydantic import Field

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.google_adk.pins import PinPlugin
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.rules import FIRST_USER, LATER_USER, LOSSY, SYSTEM, TOOL


class Recorder(BaseLlm):
    """Says what its script says, then always the same; keeps the text and roles of each input.

    Attributes:
        reply: said when the script is over.
        script: replies in order.
        texts: what it was sent, call by call.
        roles: of the messages that it was sent, call by call.
    """

    model: str = "recorder"
    reply: str = "Done."
    script: list[types.Part] = Field(default_factory=list[types.Part])
    texts: list[str] = Field(default_factory=list[str])
    roles: list[list[str | None]] = Field(default_factory=list[list[str | None]])

    @property
    def capabilities(self) -> LlmCapabilities:
        """None beyond text and tools."""
        return LlmCapabilities()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer, word by word where that is asked for."""
        system = llm_request.config.system_instruction
        said = [part for content in llm_request.contents for part in content.parts or []]
        self.texts.append("\n".join([str(system or ""), *map(_text, said)]))
        self.roles.append([content.role for content in llm_request.contents])
        part = self.script.pop(0) if self.script else types.Part(text=self.reply)
        if stream and part.text:
            for word in part.text.split():
                yield _response(types.Part(text=word), partial=True)
        yield _response(part)


def _text(part: types.Part) -> str:
    return part.text or str(part.function_response.response if part.function_response else "")


def _response(part: types.Part, partial: bool | None = None) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[part]), partial=partial)


def calling(tool: str, **arguments: Any) -> types.Part:
    """A reply that calls a tool."""
    return types.Part(function_call=types.FunctionCall(name=tool, args=arguments))


def read_handbook() -> str:
    """Read the handbook."""
    return TOOL


def read_long_handbook() -> str:
    """Read the long handbook."""
    return "A chapter. " * 200 + TOOL


def look_up() -> str:
    """Look up a ticket."""
    return "The printer is out of paper. " * 5


def compaction(writer: BaseLlm, **given: int) -> EventsCompactionConfig:
    """A compaction, without the warning that it is experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EventsCompactionConfig(summarizer=LlmEventSummarizer(llm=writer), **given)


class Chat:
    """An app with a system rule and tools, in one session.

    Args:
        model: the agent's.
        config: its compaction.
        plugins: the app's.
        stream: have the model stream.
        tools: what the agent has; None for a handbook and tickets.
    """

    def __init__(
        self,
        model: Recorder,
        config: EventsCompactionConfig | None = None,
        plugins: Sequence[BasePlugin] = (),
        *,
        stream: bool = False,
        tools: Sequence[Callable[..., Any]] | None = None,
        **given: Any,
    ) -> None:
        self.model = model
        own = [read_handbook, read_long_handbook, look_up] if tools is None else tools
        agent = LlmAgent(
            name="assistant", model=model, instruction=SYSTEM, tools=list(own), **given
        )
        self.sessions = InMemorySessionService()
        app = App(
            name="chat",
            root_agent=agent,
            plugins=list(plugins),
            events_compaction_config=config,
        )
        self.runner = Runner(app=app, session_service=self.sessions, auto_create_session=True)
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        self.run_config = RunConfig(streaming_mode=mode)

    async def say(self, text: str, *replies: types.Part) -> list[Event]:
        """Ask for something."""
        self.model.script[:] = replies
        message = types.Content(role="user", parts=[types.Part(text=text)])
        answers = self.runner.run_async(
            user_id="user", session_id="1", new_message=message, run_config=self.run_config
        )
        return [event async for event in answers]

    async def converse(self, turns: int = 8, *, handbook: str = "read_handbook") -> None:
        """The rules first, each on its channel but the system's, and then work with a tool."""
        await self.say(FIRST_USER, calling(handbook))
        await self.say(LATER_USER)
        for turn in range(turns):
            await self.say(f"Look at ticket {turn}.", calling("look_up"))

    async def stored(self) -> list[Event]:
        """The session's events."""
        session = await self.sessions.get_session(app_name="chat", user_id="user", session_id="1")
        assert session is not None
        return session.events


SLIDING = {"compaction_interval": 3, "overlap_size": 1}
THRESHOLD = {"token_threshold": 150, "event_retention_size": 6}
SHORT, LONG = "read_handbook", "read_long_handbook"
TOLD = EVERYTHING - SYSTEM_ONLY
MATRIX = {
    "nothing": Row(({}, SHORT), EVERYTHING),
    # They stack.
    "sliding window": Row((SLIDING, SHORT), SYSTEM_ONLY, summaries=3, shown=TOLD),
    # They roll.
    "token threshold": Row((THRESHOLD, SHORT), SYSTEM_ONLY, summaries=1, shown=TOLD),
    # Of a result the summarizer is shown the first 2000 characters, and the rule stands behind.
    "sliding window, long": Row((SLIDING, LONG), SYSTEM_ONLY, summaries=3, shown=TOLD - {"tool"}),
    "token threshold, long": Row(
        (THRESHOLD, LONG), SYSTEM_ONLY, summaries=1, shown=TOLD - {"tool"}
    ),
}


def play(given: tuple[dict[str, int], str], rules: Registry | None, *, streamed: bool) -> Seen:
    settings, handbook = given
    model, writer = Recorder(), Recorder(reply=LOSSY)
    config = compaction(writer, **settings) if settings else None
    chat = Chat(model, config, [PinPlugin(rules)] if rules else [], stream=streamed)
    asyncio.run(chat.converse(handbook=handbook))
    events = [event.model_dump_json() for event in asyncio.run(chat.stored())]
    return Seen(model.texts, "\n".join(events), "\n".join(writer.texts))


def loop(rules: Registry, tools: list[Callable[[], str]]) -> list[str]:
    model = Recorder()
    chat = Chat(model, plugins=[PinPlugin(rules)], tools=tools)
    asyncio.run(chat.say("Go on.", *(calling(tool.__name__) for tool in tools)))
    return model.texts


ARM = Arm(MATRIX, play, loop, stores_all=True)
