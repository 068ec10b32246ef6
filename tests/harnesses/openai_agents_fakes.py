"""A model for the OpenAI Agents SDK that records what it was sent, and a conversation to drive."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    Usage,
    function_tool,
)
from agents.extensions import ToolOutputTrimmer
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.openai_agents.pins import pin_filter
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.rules import FIRST_USER, LATER_USER, LOSSY, SYSTEM, TOOL


class Recorder(Model):
    """Calls the tools that its script names, then always says the same.

    Args:
        script: names of tools, and None where it says something.
    """

    def __init__(self, *script: str | None) -> None:
        self.script = list(script)
        self.texts: list[str] = []
        self.inputs: list[list[Any]] = []

    def _next(self, instructions: str | None, input: str | list[Any]) -> list[ResponseOutputItem]:
        items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        self.inputs.append(items)
        self.texts.append("\n".join([instructions or "", *map(str, items)]))
        tool = self.script.pop(0) if self.script else None
        if tool is not None:
            call = f"call_{len(self.texts)}"
            return [
                ResponseFunctionToolCall(
                    type="function_call", call_id=call, name=tool, arguments='{"input": "Go."}'
                )
            ]
        text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
        return [
            ResponseOutputMessage(
                id=f"msg_{len(self.texts)}",
                type="message",
                role="assistant",
                status="completed",
                content=[text],
            )
        ]

    async def get_response(
        self, system_instructions: str | None, input: str | list[Any], *given: Any, **named: Any
    ) -> ModelResponse:
        output = self._next(system_instructions, input)
        return ModelResponse(output, Usage(), response_id=f"resp_{len(self.texts)}")

    async def stream_response(
        self, system_instructions: str | None, input: str | list[Any], *given: Any, **named: Any
    ) -> AsyncIterator[Any]:
        response = Response(
            id=f"resp_{len(self.texts)}",
            created_at=0,
            model="recorder",
            object="response",
            output=self._next(system_instructions, input),
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(
            type="response.completed", response=response, sequence_number=0
        )


@function_tool
def read_handbook() -> str:
    """Read the handbook."""
    return TOOL


@function_tool
def read_long_handbook() -> str:
    """Read the whole handbook."""
    return "A chapter on tickets. " * 30 + TOOL + " The end. " * 30


class Compact:
    """A client whose compaction keeps the user's messages, and tells of nothing else."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.responses = SimpleNamespace(compact=self._compact)

    async def _compact(self, *, model: str, input: Sequence[Any]) -> Any:
        self.shown.append(str(input))
        kept = [item for item in input if item.get("role") == "user"]
        return SimpleNamespace(output=[*kept, {"role": "assistant", "content": LOSSY}], usage=None)


def made(model: Model, **given: Any) -> Agent[None]:
    """An agent with a system rule and the handbooks."""
    return Agent(
        name="assistant",
        instructions=SYSTEM,
        model=model,
        tools=[read_handbook, read_long_handbook],
        **given,
    )


def quiet(**given: Any) -> RunConfig:
    """A run that is not traced."""
    return RunConfig(tracing_disabled=True, **given)


async def converse(
    agent: Agent[None],
    model: Recorder,
    session: Any,
    config: RunConfig,
    *,
    handbook: str = "read_handbook",
    turns: int = 12,
    streamed: bool = False,
) -> None:
    """The rules first, each on its channel but the system's, and then plain work."""
    model.script[:] = [handbook, None]
    work = [f"Look at ticket {turn}." for turn in range(turns)]
    for text in [FIRST_USER, LATER_USER, *work]:
        if streamed:
            result = Runner.run_streamed(agent, text, session=session, run_config=config)
            async for _ in result.stream_events():
                pass
        else:
            await Runner.run(agent, text, session=session, run_config=config)


def last_six(history: list[Any], new: list[Any]) -> list[Any]:
    return [*history[-6:], *new]


def compacting(store: Any) -> Any:
    client: Any = Compact()
    return OpenAIResponsesCompactionSession("s", store, client=client, compaction_mode="input")


def as_it_is(store: Any) -> Any:
    return store


SHORT, LONG = "read_handbook", "read_long_handbook"
USERS = EVERYTHING - {"tool"}
# How the session is made, the run's settings, which handbook.
MATRIX = {
    "nothing": Row((as_it_is, {}, SHORT), EVERYTHING),
    "SessionSettings(limit=10)": Row(
        (as_it_is, {"session_settings": SessionSettings(limit=10)}, SHORT), SYSTEM_ONLY
    ),
    "session_input_callback": Row(
        (as_it_is, {"session_input_callback": last_six}, SHORT), SYSTEM_ONLY
    ),
    "OpenAIResponsesCompactionSession": Row(
        (compacting, {}, SHORT), USERS, summaries=1, shown=EVERYTHING - SYSTEM_ONLY
    ),
    "ToolOutputTrimmer, short output": Row(
        (as_it_is, {"call_model_input_filter": ToolOutputTrimmer()}, SHORT), EVERYTHING
    ),
    "ToolOutputTrimmer, long output": Row(
        (as_it_is, {"call_model_input_filter": ToolOutputTrimmer()}, LONG), USERS
    ),
}


def play(given: Any, rules: Registry | None, *, streamed: bool) -> Seen:
    around, settings, handbook = given
    if rules:
        inner = settings.get("call_model_input_filter")
        settings = {**settings, "call_model_input_filter": pin_filter(rules, inner)}
    model, store = Recorder(), SQLiteSession("s")
    session = around(store)
    talk = converse(
        made(model), model, session, quiet(**settings), handbook=handbook, streamed=streamed
    )
    asyncio.run(talk)
    stored = str(asyncio.run(store.get_items()))
    store.close()
    return Seen(model.texts, stored, "" if session is store else str(session.client.shown))


def loop(rules: Registry, tools: list[Callable[[], str]]) -> list[str]:
    model = Recorder(*(tool.__name__ for tool in tools))
    agent: Agent[None] = Agent(name="a", model=model, tools=[function_tool(one) for one in tools])
    config = RunConfig(call_model_input_filter=pin_filter(rules))
    asyncio.run(Runner.run(agent, "Go on.", run_config=config))
    return model.texts


ARM = Arm(MATRIX, play, loop)
