"""Models for LangChain's agents that record what they were sent, and a conversation to drive."""

from collections.abc import Callable, Iterator
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.langchain.pins import PinMiddleware
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.rules import FIRST_USER, LATER_USER, LOSSY, SYSTEM, TOOL
from tests.harnesses.rules import rules as rules

POLICY = FIRST_USER
ASK: Any = {"messages": [HumanMessage("Write to a@example.org.")]}


class Recorder(BaseChatModel):
    """Says what its script says, then always the same; keeps each input.

    Attributes:
        reply: said when the script is over.
        script: replies in order.
        calls: what it was sent, call by call.
    """

    reply: str = "Done."
    script: list[AIMessage] = Field(default_factory=list)
    calls: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "recorder"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Offer tools; it needs none to call them."""
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.calls.append(list(messages))
        return self.script.pop(0) if self.script else AIMessage(self.reply)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages)
        for word in message.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))

    @property
    def texts(self) -> list[str]:
        """All texts of each input."""
        return ["\n".join(message.text for message in sent) for sent in self.calls]

    def said(self, call: int = -1) -> str:
        """All texts of one input."""
        return self.texts[call]

    def ever(self) -> str:
        """All texts of all inputs."""
        return "\n".join(self.texts)


def calling(tool: str, id: str, **arguments: Any) -> AIMessage:
    """A reply that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": id}])


def tools(length: int = 20) -> list[BaseTool]:
    """A handbook that states a rule, and a tool whose results are long.

    Args:
        length: of a result, some seven tokens each.
    """

    def read_handbook() -> str:
        """Read the handbook."""
        return TOOL

    def look_up(number: int) -> str:
        """Look up a ticket."""
        return f"Ticket {number}: " + "the printer is out of paper; " * length

    return [StructuredTool.from_function(read_handbook), StructuredTool.from_function(look_up)]


def say(agent: Any, model: Recorder, text: str, *replies: AIMessage) -> None:
    """A request on the one thread, and what the model is to reply."""
    model.script[:] = replies
    agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "1"}})


def converse(agent: Any, model: Recorder, turns: int = 8) -> None:
    """The rules first, each on its channel but the system's, and then work with a tool."""
    say(agent, model, FIRST_USER, calling("read_handbook", "h"), AIMessage("Noted."))
    say(agent, model, LATER_USER)
    for turn in range(turns):
        say(
            agent,
            model,
            f"Look at ticket {turn}.",
            calling("look_up", f"t{turn}", number=turn),
            AIMessage(f"Ticket {turn} is about paper."),
        )


def turns(agent: Any, model: Recorder) -> None:
    """A longer conversation."""
    converse(agent, model, 15)


def loop(agent: Any, model: Recorder, calls: int = 15) -> None:
    """One request, and nothing but calls of a tool after it."""
    look_ups = [calling("look_up", f"t{number}", number=number) for number in range(calls)]
    say(agent, model, FIRST_USER, calling("read_handbook", "h"), *look_ups)


def summarizing(writer: Recorder, **given: Any) -> SummarizationMiddleware:
    settings: dict[str, Any] = {"trigger": ("messages", 20), "keep": ("messages", 6)} | given
    return SummarizationMiddleware(writer, **settings)


def clearing(**given: Any) -> ContextEditingMiddleware:
    return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=200, **given)])


MATRIX = {
    "nothing": Row(lambda _: [], EVERYTHING),
    "SummarizationMiddleware": Row(
        lambda writer: [summarizing(writer)],
        SYSTEM_ONLY,
        summaries=1,
        shown=EVERYTHING - SYSTEM_ONLY,
    ),
    "SummarizationMiddleware, tokens": Row(
        lambda writer: [summarizing(writer, trigger=("tokens", 800), keep=("tokens", 300))],
        SYSTEM_ONLY,
        summaries=1,
        shown=EVERYTHING - SYSTEM_ONLY,
    ),
    # Without a trigger it never fires, whatever the length.
    "SummarizationMiddleware, no trigger": Row(
        lambda writer: [summarizing(writer, trigger=None)], EVERYTHING
    ),
    "ClearToolUsesEdit": Row(lambda _: [clearing()], EVERYTHING - {"tool"}),
    "ClearToolUsesEdit, handbook excluded": Row(
        lambda _: [clearing(exclude_tools=["read_handbook"])], EVERYTHING
    ),
}


def stored(agent: Any) -> str:
    """All texts of the one thread."""
    messages = agent.get_state({"configurable": {"thread_id": "1"}}).values["messages"]
    return "\n".join(message.text for message in messages)


def play(given: Callable[[Recorder], list[Any]], rules: Registry | None, *, streamed: bool) -> Seen:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    agent: Any = create_agent(
        model,
        tools=tools(),
        system_prompt=SYSTEM,
        middleware=[*given(writer), *([PinMiddleware(rules)] if rules else [])],
        checkpointer=InMemorySaver(),
    )
    converse(agent, model)
    return Seen(model.texts, stored(agent), writer.ever())


def in_turn(tools: list[Callable[[], str]]) -> Recorder:
    """A model that calls tools, one after the other."""
    return Recorder(script=[calling(tool.__name__, tool.__name__) for tool in tools])


def in_a_loop(rules: Registry, tools: list[Callable[[], str]]) -> list[str]:
    model = in_turn(tools)
    agent: Any = create_agent(model, tools=tools, middleware=[PinMiddleware(rules)])
    agent.invoke(ASK)
    return model.texts


ARM = Arm(MATRIX, play, in_a_loop, streams=False)
