"""Benchmarks of the drop-in pins: what a pin adds to a model call, at 20 pins; no assertion on time.

Each framework's own agent answers a request with a scripted model, with the pin
and without in turn. What verifies the pins where the model is called is part of it.
"""

import asyncio
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.defenses.rampart import Principal, Registry

PINS = 20
CALLS = 300
OPERATOR = Principal("operator")


def pinned_block() -> PinnedBlock:
    """Twenty policies of a sentence each; receipts are made, and go nowhere."""
    registry = Registry(OPERATOR)
    for number in range(PINS):
        registry.pin(f"Send no more than {number + 1} emails to addresses outside.", by=OPERATOR)
    return PinnedBlock(registry, report=lambda receipt: None)


def compared(plain: Callable[[], object], pinned: Callable[[], object]) -> tuple[float, float]:
    """Median microseconds of CPU that a call takes without the pin and with it."""
    spent: dict[Callable[[], object], list[float]] = {plain: [], pinned: []}
    for _ in range(10):
        plain()
        pinned()
    gc.disable()
    for _ in range(CALLS):
        for call, seconds in spent.items():
            # Of the CPU's: what else a machine does then is no property of the pin.
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    gc.enable()
    without, with_it = (statistics.median(seconds) * 1e6 for seconds in spent.values())
    return without, with_it


def langgraph() -> tuple[float, float]:
    """A graph built by hand, whose node pins what it sends and whose model verifies it."""
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import SystemMessage
    from langgraph.graph import START, MessagesState, StateGraph

    from constraintrot.harnesses.langchain_family.message_pins import pinned
    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model

    def agent(pins: PinnedBlock | None) -> Callable[[], object]:
        model = FakeListChatModel(responses=["Done."])
        if pins:
            model = pinned_model(model, pins)

        def call_model(state: Any) -> dict[str, Any]:
            sent = [SystemMessage("Be brief."), *state["messages"]]
            return {"messages": [model.invoke(pinned(sent, pins) if pins else sent)]}

        graph = StateGraph(MessagesState)
        graph.add_node("call_model", call_model)
        graph.add_edge(START, "call_model")
        made: Any = graph.compile()
        return lambda: made.invoke({"messages": [("user", "Hello")]})

    return compared(agent(None), agent(pinned_block()))


def langmem() -> tuple[float, float]:
    """A graph with LangMem's SummarizationNode; with the pin a node more, and a model that verifies."""
    from langchain_core.language_models import FakeListChatModel
    from langgraph.graph import START, MessagesState, StateGraph

    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
    from constraintrot.harnesses.langgraph.pins import pin_node
    from constraintrot.harnesses.langmem.short_term import SummarizationNode

    class State(MessagesState):
        context: dict[str, Any]
        summarized_messages: list[Any]

    def agent(pins: PinnedBlock | None) -> Callable[[], object]:
        model = writer = FakeListChatModel(responses=["Done."])
        if pins:
            model = pinned_model(model, pins)

        def call_model(state: State) -> dict[str, Any]:
            return {"messages": [model.invoke(state["summarized_messages"])]}

        graph = StateGraph(State)
        graph.add_node("summarize", SummarizationNode(model=writer, max_tokens=10_000))
        graph.add_node("call_model", call_model)
        graph.add_edge(START, "summarize")
        if pins is None:
            graph.add_edge("summarize", "call_model")
        else:
            graph.add_node("pin", pin_node(pins, key="summarized_messages"))
            graph.add_edge("summarize", "pin")
            graph.add_edge("pin", "call_model")
        made: Any = graph.compile()
        return lambda: made.invoke({"messages": [("system", "Be brief."), ("user", "Hello")]})

    return compared(agent(None), agent(pinned_block()))


def langchain() -> tuple[float, float]:
    """LangChain's create_agent."""
    from langchain.agents import create_agent
    from langchain_core.language_models import FakeListChatModel

    from constraintrot.harnesses.langchain.pins import PinMiddleware

    def agent(*middleware: Any) -> Callable[[], object]:
        model = FakeListChatModel(responses=["Done."])
        made: Any = create_agent(model, system_prompt="Be brief.", middleware=middleware)
        return lambda: made.invoke({"messages": [("user", "Hello")]})

    return compared(agent(), agent(PinMiddleware(pinned_block())))


def deepagents() -> tuple[float, float]:
    """Deepagents' create_deep_agent."""
    from deepagents import create_deep_agent
    from langchain_core.language_models import FakeListChatModel

    from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents

    class Fake(FakeListChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    def agent(pin: PinMiddleware | None) -> Callable[[], object]:
        made: Any = create_deep_agent(
            Fake(responses=["Done."]),
            system_prompt="Be brief.",
            middleware=[pin] if pin else [],
            subagents=pinned_subagents(pin) if pin else None,
        )
        return lambda: made.invoke({"messages": [("user", "Hello")]})

    return compared(agent(None), agent(PinMiddleware(pinned_block())))


def autogen() -> tuple[float, float]:
    """AutoGen's AssistantAgent over a buffered context, pinned, with a client that verifies."""
    import asyncio

    from autogen_agentchat.agents import AssistantAgent
    from autogen_core.model_context import BufferedChatCompletionContext, ChatCompletionContext

    from constraintrot.harnesses.autogen.pins import PinnedClient, PinnedContext
    from tests.harnesses.autogen_fakes import Recorder

    with asyncio.Runner() as runner:

        def agent(context: ChatCompletionContext, client: Any) -> Callable[[], object]:
            made = AssistantAgent("a", client, system_message="Be brief.", model_context=context)
            return lambda: runner.run(made.run(task="Hello"))

        pins = pinned_block()
        return compared(
            agent(BufferedChatCompletionContext(10), Recorder()),
            agent(
                PinnedContext(BufferedChatCompletionContext(10), pins),
                PinnedClient(Recorder(), pins),
            ),
        )


def openai_agents() -> tuple[float, float]:
    """The OpenAI Agents SDK's Runner, not traced, with a filter and a model that verifies."""
    import asyncio

    from agents import Agent, RunConfig, Runner

    from constraintrot.harnesses.openai_agents.pins import pin_filter, pinned_model
    from tests.harnesses.openai_agents_fakes import Recorder

    with asyncio.Runner() as runner:

        def agent(pin: Any, model: Any) -> Callable[[], object]:
            made: Agent[None] = Agent(name="a", instructions="Be brief.", model=model)
            config = RunConfig(tracing_disabled=True, call_model_input_filter=pin)
            return lambda: runner.run(Runner.run(made, "Hello", run_config=config))

        pins = pinned_block()
        return compared(
            agent(None, Recorder()), agent(pin_filter(pins), pinned_model(Recorder(), pins))
        )


def agent_framework() -> tuple[float, float]:
    """Microsoft's Agent over forty messages and a token budget."""
    import asyncio

    from agent_framework import (
        Agent,
        CharacterEstimatorTokenizer,
        Message,
        SlidingWindowStrategy,
        TokenBudgetComposedStrategy,
    )

    from constraintrot.harnesses.agent_framework.pins import pinned_client
    from tests.harnesses.agent_framework_fakes import Recorder

    strategy = TokenBudgetComposedStrategy(
        token_budget=2000,
        tokenizer=CharacterEstimatorTokenizer(),
        strategies=[SlidingWindowStrategy(keep_last_groups=10)],
    )
    with asyncio.Runner() as runner:

        def agent(client: Recorder) -> Callable[[], object]:
            made: Agent[Any] = Agent(client=client, compaction_strategy=strategy)

            async def ask() -> None:
                roles = ["user", "assistant"] * 20
                await made.run([Message(role, ["Hello " * 20]) for role in roles])

            return lambda: runner.run(ask())

        return compared(agent(Recorder()), agent(pinned_client(Recorder(), pinned_block())))


def google_adk() -> tuple[float, float]:
    """ADK's Runner, a request a session."""
    import asyncio
    import logging
    from itertools import count

    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types

    from constraintrot.harnesses.google_adk.pins import PinPlugin
    from tests.harnesses.google_adk_fakes import Chat, Recorder

    # It warns at each call that the model reports no usage.
    logging.getLogger("google_adk").setLevel(logging.ERROR)
    numbers = count()
    with asyncio.Runner() as runner:

        def agent(*plugins: BasePlugin) -> Callable[[], object]:
            chat = Chat(Recorder(), plugins=plugins)

            async def ask() -> None:
                message = types.Content(role="user", parts=[types.Part(text="Hello")])
                async for _ in chat.runner.run_async(
                    user_id="user", session_id=str(next(numbers)), new_message=message
                ):
                    pass

            return lambda: runner.run(ask())

        return compared(agent(), agent(PinPlugin(pinned_block())))


def litellm() -> tuple[float, float]:
    """A proxy's hooks before a call and before a deployment's, with the guardrail and without."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from litellm.integrations.custom_guardrail import CustomGuardrail

    from constraintrot.harnesses.litellm.routes import Passage, passing
    from constraintrot.litellm import PinGuardrail

    pins = pinned_block()

    async def calls(guard: Any, data: dict[str, Any]) -> object:
        with passing(Passage()):
            sent = await guard.async_pre_call_hook(None, None, data, "acompletion")
            return await guard.async_pre_call_deployment_hook(sent or data, "acompletion")

    def agent(guard: CustomGuardrail, runner: asyncio.Runner) -> Callable[[], object]:
        def ask() -> object:
            said = [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello"},
            ]
            data = {"model": "openai/mine", "messages": said}
            return runner.run(calls(guard, data))

        return ask

    with asyncio.Runner() as runner:
        guard = PinGuardrail(pins.registry, report=pins.report, guardrail_name="pins")
        return compared(agent(CustomGuardrail(), runner), agent(guard, runner))


def inspect_ai() -> tuple[float, float]:
    """A model of Inspect's that answers at once, and the same pinned."""
    from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, get_model

    from constraintrot.defenses.pinning import PinnedModel

    pins = pinned_block()
    model = get_model("scripted/refuser")
    pinned = PinnedModel(pins.registry, model, report=pins.report)
    sent: list[ChatMessage] = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="Hello"),
    ]
    with asyncio.Runner() as runner:
        return compared(
            lambda: runner.run(model.generate(sent)), lambda: runner.run(pinned.generate(sent))
        )


FRAMEWORKS: tuple[Callable[[], tuple[float, float]], ...] = (
    langgraph,
    langmem,
    langchain,
    deepagents,
    autogen,
    openai_agents,
    agent_framework,
    google_adk,
    litellm,
    inspect_ai,
)


def main() -> None:
    """Print the table; of the frameworks that are named, or of all."""
    print(f"{'framework':20} {'µs without':>12} {'µs with':>12} {'added µs':>12}")
    for measure in FRAMEWORKS:
        if not sys.argv[1:] or measure.__name__ in sys.argv[1:]:
            without, with_it = measure()
            print(
                f"{measure.__name__:20} {without:12.0f} {with_it:12.0f} {with_it - without:12.0f}"
            )


if __name__ == "__main__":
    main()
