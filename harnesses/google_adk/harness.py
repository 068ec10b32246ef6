"""Google's Agent Development Kit: an App with one of its two ways to compact a session's events.

A compaction is an event of the session that replaces others, which stay in the session
and are left out of requests. The agent's instruction is not an event. The summarizer sees
only the first 2,000 characters of a tool's arguments and of its result, so the rest is
lost. A summary has the role of the model.

If a summarizer fails, ADK warns and continues with the whole history; here the sample
errors.

==================== ==========================================================
mode                 when it compacts
==================== ==========================================================
``sliding_window``   after each ``compaction_interval`` requests, all events;
                     the next summary does not replace it but follows it,
                     so requests begin with two messages of the model
``token_threshold``  when requests reach a size, all but the last events; the
                     next summary includes this one, so there is one
==================== ==========================================================
"""

import json
import warnings
from collections.abc import AsyncGenerator
from typing import Any, Literal

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolInfo

from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError
from constraintrot.harnesses import openai_format
from constraintrot.harnesses.google_adk.pins import PinPlugin
from constraintrot.harnesses.session import Say, Session, playing
from constraintrot.tokens import count

# Two turns of a request, a call, its result and a reply.
KEEP_EVENTS = 8
_ROLES = {"user": "user", "model": "assistant"}


class SessionLlm(BaseLlm):
    """A model that returns a session's answers."""

    model: str = "constraintrot"
    session: Session
    part: Literal["agent", "summarizer"]

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        sent = openai_format.messages(_as_dicts(llm_request))
        if self.part == "summarizer":
            yield _response([types.Part(text=await self.session.summarize(sent))])
            return
        reply: ChatMessageAssistant = await self.session.answer(
            sent, openai_format.tools(_offered(llm_request))
        )
        parts = [types.Part(text=reply.text)] if reply.text else []
        parts += [
            types.Part(
                function_call=types.FunctionCall(
                    id=call.id, name=call.function, args=call.arguments
                )
            )
            for call in reply.tool_calls or []
        ]
        # Otherwise ADK estimates, and the estimate doubles after a turn.
        yield _response(parts, prompt_tokens=sum(map(count, message_texts(sent))))


class SessionTool(BaseTool):
    """A simulated tool of a session."""

    def __init__(self, session: Session, info: ToolInfo) -> None:
        super().__init__(name=info.name, description=info.description)
        self._session = session
        self._schema = info.parameters.model_dump(exclude_none=True)

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> str:
        return self._session.tool(self.name, args)


def compaction(session: Session, mode: str) -> EventsCompactionConfig | None:
    """Return a mode's compaction; None if the session does not compact."""
    if not session.compacts:
        return None
    session.summarizes = True
    summarizer = LlmEventSummarizer(llm=SessionLlm(session=session, part="summarizer"))
    with warnings.catch_warnings():
        # Each use warns that the class is experimental.
        warnings.simplefilter("ignore")
        if mode == "sliding_window":
            return EventsCompactionConfig(
                summarizer=summarizer,
                compaction_interval=_interval(len(session.script)),
                overlap_size=1,
            )
        return EventsCompactionConfig(
            summarizer=summarizer,
            token_threshold=_least_size(session),
            event_retention_size=KEEP_EVENTS,
        )


def _interval(requests: int) -> int:
    """Requests between two compactions: two before the trigger, none right after it."""
    fitting = (requests // 2, requests - 1, requests)
    return next((i for i in fitting if i > 0 and (requests + 1) % i), 1)


def _least_size(session: Session) -> int:
    """Return the least size of the last prompt before the trigger's, in o200k tokens."""
    # Counts the pins, so that they do not change the place of the compaction.
    around = count(session.system) + (session.pins.tokens if session.pins is not None else 0)
    if session.live:
        # Only the requests of a live conversation are known beforehand.
        return around + sum(count(exchange.user.text) for exchange in session.script)
    return around + session.size() - count(session.script[-1].replies[-1].text)


def _as_dicts(request: LlmRequest) -> list[dict[str, Any]]:
    """Return a request in the chat-completions form."""
    system = request.config.system_instruction
    # A summarizer has no system instruction.
    if not isinstance(system, str | None):
        raise EpisodeError(f"ADK's system instruction is a {type(system).__name__}, not a text")
    found: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    return found + [one for content in request.contents for one in _content(content)]


def _content(content: types.Content) -> list[dict[str, Any]]:
    parts = content.parts or []
    results = [part.function_response for part in parts if part.function_response]
    if results:
        return [
            {"role": "tool", "tool_call_id": one.id, "content": _said(one.response or {})}
            for one in results
        ]
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.args or {}}}
        for part in parts
        if (call := part.function_call)
    ]
    text = "\n".join(part.text for part in parts if part.text and not part.thought)
    return [{"role": _ROLES[content.role or "user"], "content": text, "tool_calls": calls}]


def _said(response: dict[str, Any]) -> str:
    """Return a tool's original result; ADK wraps a text in a mapping."""
    result = response.get("result")
    return result if isinstance(result, str) and len(response) == 1 else json.dumps(response)


def _offered(request: LlmRequest) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "description": one.description,
            "parameters": one.parameters_json_schema,
        }
        for tool in request.config.tools or []
        if isinstance(tool, types.Tool)
        for one in tool.function_declarations or []
    ]


def _response(parts: list[types.Part], prompt_tokens: int | None = None) -> LlmResponse:
    return LlmResponse(
        content=types.Content(role="model", parts=parts),
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=prompt_tokens),
    )


def _conversation(session: Session, mode: str) -> Say:
    plugins: list[BasePlugin] = []
    if session.pins is not None:
        plugins.append(PinPlugin(session.pins))
    agent = LlmAgent(
        name="assistant",
        model=SessionLlm(session=session, part="agent"),
        # A function, because ADK would substitute braces in a text.
        instruction=lambda _: session.system,
        tools=[SessionTool(session, info) for info in session.tools],
    )
    app = App(
        name="constraintrot",
        root_agent=agent,
        plugins=plugins,
        events_compaction_config=compaction(session, mode),
    )
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

    async def say(text: str) -> None:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="user", session_id="episode", new_message=message):
            pass

    return say


google_adk = playing("google-adk", _conversation)
