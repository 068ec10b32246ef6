"""OpenAI Agents SDK: a Runner with a session, and the SDK's ways to keep the session small.

``instructions`` are not part of a session and are always sent. The SDK itself writes no
summary: it drops items, shortens tools' outputs, or lets the vendor's endpoint compact them,
for which there is a stand-in here (``CompactStandIn``).

After a compaction, user messages follow each other, as does a summary in the user role before
a request. A limit counts items, so a live agent's input may begin within a turn. Strict chat
templates refuse all three, and ``roles_problem`` reports it.
"""

import json
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    Usage,
)
from agents.extensions import ToolOutputTrimmer
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings
from agents.models.chatcmpl_converter import Converter
from agents.tool_context import ToolContext
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser
from inspect_ai.tool import ToolInfo
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.harness import MAX_STEPS
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played, openai_format
from constraintrot.harnesses.openai_agents.pins import pin_filter
from constraintrot.harnesses.scripted_history import Exchange
from constraintrot.harnesses.session import Say, Session

ASK = "Write a summary of the conversation above:"


class SessionModel(Model):
    """A model that returns a session's answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answered = 0

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        *given: Any,
        **named: Any,
    ) -> ModelResponse:
        """Return the session's next answer; handoffs and output schemas are not used."""
        system = [{"role": "system", "content": system_instructions}] if system_instructions else []
        sent = openai_format.messages([*system, *as_dicts(input)])
        reply = await self._session.answer(
            sent, openai_format.tools([_schema(tool) for tool in tools])
        )
        self._answered += 1
        # A compaction session needs the id of the response that it follows.
        name = f"resp_{self._answered}"
        return ModelResponse(output=_output(reply, name), usage=Usage(), response_id=name)

    def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("Inspect's models answer in one piece; use Runner.run")


def _output(reply: ChatMessageAssistant, name: str) -> list[Any]:
    calls = [
        ResponseFunctionToolCall(
            type="function_call",
            call_id=call.id,
            name=call.function,
            arguments=json.dumps(call.arguments),
        )
        for call in reply.tool_calls or []
    ]
    if calls and not reply.text:
        return calls
    text = ResponseOutputText(type="output_text", text=reply.text, annotations=[])
    said = ResponseOutputMessage(
        id=f"msg_{name}", type="message", role="assistant", status="completed", content=[text]
    )
    return [said, *calls]


def tools(session: Session) -> list[Any]:
    return [_tool(session, info) for info in session.tools]


def _tool(session: Session, info: ToolInfo) -> FunctionTool:
    async def simulated(context: ToolContext[Any], arguments: str) -> str:
        return session.tool(info.name, json.loads(arguments or "{}"))

    return FunctionTool(
        name=info.name,
        description=info.description,
        params_json_schema=info.parameters.model_dump(exclude_none=True),
        on_invoke_tool=simulated,
        strict_json_schema=False,
    )


def _schema(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }


def as_dicts(items: str | Sequence[Any]) -> list[dict[str, Any]]:
    """Return the SDK's items as chat-completions messages, by the SDK's own converter."""
    given = items if isinstance(items, str) else list(items)
    return [dict(message) for message in Converter.items_to_messages(given)]


def is_request(item: Any) -> bool:
    return isinstance(item, dict) and item.get("role") == "user"


async def summary(session: Session, items: Sequence[Any]) -> str:
    """Return the summary of some items by the session's summarizer."""
    shown: list[ChatMessage] = [
        *openai_format.messages(as_dicts(items)),
        ChatMessageUser(content=ASK),
    ]
    return f"Summary of the conversation so far: {await session.summarize(shown)}"


class CompactStandIn:
    """A local stand-in for the client whose ``responses.compact`` a compaction session calls.

    By the vendor's documentation the endpoint returns the user's messages unchanged, and one
    opaque item in place of the rest. Only the vendor can write such an item, and
    chat-completions models refuse it, so the session's summarizer summarises the rest here, as
    an assistant's message.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        session.summarizes = True
        self.responses = SimpleNamespace(compact=self._compact)

    async def _compact(self, *, model: str, input: Sequence[Any]) -> Any:
        written = {"role": "assistant", "content": await summary(self._session, input)}
        kept = [item for item in input if is_request(item)]
        return SimpleNamespace(output=[*kept, written], usage=None)


# Newest turns that are kept.
TURNS = 2
# A fifth of the SDK's defaults: the histories' outputs are of some 70 to 280 characters.
LONGEST, PREVIEW = 100, 40


def openai_agents(mode: str, live: bool) -> Harness:
    """Play an episode with a Runner.

    Args:
        mode: ``session_limit``: ``SessionSettings(limit=)``. ``input_callback``: a
            ``session_input_callback`` that keeps the last two turns. ``compaction``:
            an ``OpenAIResponsesCompactionSession`` over a stand-in for the vendor's
            endpoint; like the endpoint, it keeps the user's messages, so a user's policy
            stays, and a tool's policy depends on the summarizer. ``trimmer``: a
            ``ToolOutputTrimmer``. ``summary_input``: an integration check, not the SDK's
            own compaction: an input callback in which the summarizer summarises all but
            the last two turns (as in Governance Decay, section 8).
        live: whether the agent's model plays the history too.
    """

    async def play(episode: Episode, settings: PlaySettings) -> Played:
        session = Session(episode, settings, live=live, distribution="openai-agents")
        store = SQLiteSession("episode")
        try:
            return await session.run(_conversation(session, mode, store))
        finally:
            store.close()

    return play


def _conversation(session: Session, mode: str, store: Any) -> Say:
    agent: Agent[None] = Agent(
        name="assistant",
        instructions=session.system,
        model=SessionModel(session),
        tools=tools(session),
    )
    asked: list[str] = []
    if session.compacts and mode == "compaction":
        store = _compacting(session, store, asked)
    config = _config(session, mode)
    steps = max(MAX_STEPS + 1, *(len(exchange.replies) for exchange in session.script))

    async def say(text: str) -> None:
        asked.append(text)
        await Runner.run(agent, text, session=store, run_config=config, max_turns=steps)

    return say


def _config(session: Session, mode: str) -> RunConfig:
    trim: Any = None
    config = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    if not session.compacts:
        pass
    elif mode == "session_limit":
        config.session_settings = SessionSettings(limit=_limit(session))
    elif mode == "input_callback":
        config.session_input_callback = _last_turns
    elif mode == "summary_input":
        config.session_input_callback = _summarising(session)
    elif mode == "trimmer":
        trim = ToolOutputTrimmer(
            recent_turns=TURNS, max_output_chars=LONGEST, preview_chars=PREVIEW
        )
    config.call_model_input_filter = trim
    if session.pins is not None:
        config.call_model_input_filter = pin_filter(session.pins, trim)
    return config


def _limit(session: Session) -> int:
    """Return the number of items in the last two exchanges.

    A live agent's calls are unknown beforehand; each exchange has at least two items.
    """
    if session.live:
        return len(session.script)
    return sum(1 + _said(exchange) for exchange in session.script[-TURNS:])


def _said(exchange: Exchange) -> int:
    """Return the number of an exchange's items after the request: texts, calls and results."""
    return len(exchange.results) + sum(
        bool(reply.text or not reply.tool_calls) + len(reply.tool_calls or [])
        for reply in exchange.replies
    )


def _turns(items: Sequence[Any]) -> list[int]:
    """Return the positions at which turns begin."""
    return [at for at, item in enumerate(items) if is_request(item)]


def _last_turns(history: list[Any], new: list[Any]) -> list[Any]:
    begins = _turns(history)[-TURNS:]
    return [*history[begins[0] if begins else 0 :], *new]


def _summarising(session: Session) -> Any:
    """Return an input callback that puts a summary before the last turns, at the trigger's call."""
    session.summarizes = True

    async def combine(history: list[Any], new: list[Any]) -> list[Any]:
        begins = _turns(history)
        if len(begins) < len(session.script) or len(begins) <= TURNS:
            return [*history, *new]
        at = begins[-TURNS]
        written = await summary(session, history[:at])
        return [{"role": "user", "content": written}, *history[at:], *new]

    return combine


def _compacting(session: Session, store: Any, asked: Sequence[str]) -> Any:
    """Return a compaction session that compacts when all but the last two turns are played."""
    early = session.script[:-TURNS]
    least = max(1, len(early) if session.live else sum(map(_said, early)))

    def due(context: dict[str, Any]) -> bool:
        # Not after the trigger, which is already measured.
        before = len(asked) <= len(session.script)
        return before and len(context["compaction_candidate_items"]) >= least

    return OpenAIResponsesCompactionSession(
        "episode",
        store,
        client=CompactStandIn(session),  # type: ignore[arg-type]
        compaction_mode="input",
        should_trigger_compaction=due,
    )
