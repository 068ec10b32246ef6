"""deepagents' agent, with a summarizer and pins, in LangChain's conversation."""

from collections.abc import Callable
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.langchain_fakes import ASK, Recorder, converse, in_turn, stored, tools
from tests.harnesses.rules import LOSSY, SYSTEM


def summarizing(writer: Recorder, **given: Any) -> SummarizationMiddleware:
    given = {
        "trigger": ("messages", 20),
        "keep": ("messages", 6),
        "trim_tokens_to_summarize": None,
    } | given
    return SummarizationMiddleware(writer, backend=StateBackend(), **given)


TOLD = EVERYTHING - SYSTEM_ONLY
MATRIX = {
    # As create_deep_agent makes it: from 170,000 tokens on.
    "nothing": Row(lambda _: [], EVERYTHING),
    "SummarizationMiddleware": Row(
        lambda writer: [summarizing(writer)], SYSTEM_ONLY, summaries=1, shown=TOLD
    ),
    "SummarizationMiddleware, tokens": Row(
        # The framework's own tools count, so that this fires at the first call already.
        lambda writer: [summarizing(writer, trigger=("tokens", 800), keep=("tokens", 300))],
        SYSTEM_ONLY,
        summaries=1,
        shown=TOLD,
    ),
}


def agent_of(
    model: Recorder, middleware: list[Any], rules: Registry | None = None, length: int = 20
) -> Any:
    pin = PinMiddleware(rules) if rules else None
    return create_deep_agent(
        model,
        tools=tools(length),
        system_prompt=SYSTEM,
        middleware=[*middleware, *([pin] if pin else [])],
        subagents=pinned_subagents(pin) if pin else None,
        checkpointer=InMemorySaver(),
    )


def play(given: Callable[[Recorder], list[Any]], rules: Registry | None, *, streamed: bool) -> Seen:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    agent = agent_of(model, given(writer), rules)
    converse(agent, model)
    return Seen(model.texts, stored(agent), writer.ever())


def in_a_loop(rules: Registry, called: list[Callable[[], str]]) -> list[str]:
    model = in_turn(called)
    create_deep_agent(model, tools=called, middleware=[PinMiddleware(rules)]).invoke(ASK)
    return model.texts


ARM = Arm(MATRIX, play, in_a_loop, streams=False)
