"""Google's ADK: its compactions, and the plugin that pins."""

import asyncio
import logging
from typing import Any

import pytest
from google.adk.agents import LlmAgent, ManagedAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.events import Event
from google.adk.flows.llm_flows.core._finalizer import handle_before_model_callback
from google.adk.models.interactions_utils import extract_system_instruction
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from constraintrot.defenses.pinning.pinned_block import PinnedBlock, Receipt
from constraintrot.errors import ParameterError
from constraintrot.harnesses.google_adk.harness import _interval
from constraintrot.harnesses.google_adk.pins import PinPlugin
from tests.harnesses.google_adk_fakes import Chat, Recorder, calling
from tests.harnesses.rules import OPERATOR, PINNED, registry


@pytest.mark.parametrize("requests", range(2, 40))
def test_nothing_is_compacted_right_after_the_trigger(requests: int) -> None:
    interval = _interval(requests)
    assert 1 <= interval <= requests
    assert (requests + 1) % interval or requests < 3


def test_an_empty_registry_changes_nothing() -> None:
    receipts: list[Receipt] = []
    plugin = PinPlugin(registry(), report=receipts.append)
    for given in (None, "Be brief.\n", ["Be brief.", "Be kind."]):
        request = LlmRequest()
        request.config.system_instruction = given  # type: ignore[assignment]
        plugin.pin(request)
        assert request.config.system_instruction == given
    assert {receipt.state for receipt in receipts} == {"absent"}


@pytest.mark.parametrize(
    "given",
    [
        ["Be brief.", types.Part(text="Be kind.")],
        types.Content(parts=[types.Part(text="Be brief."), types.Part(text="Be kind.")]),
        types.Part(text="Be brief."),
        {"text": "Be brief."},
    ],
    ids=["list", "content", "part", "mapping"],
)
def test_an_instruction_of_parts_keeps_them(given: types.ContentUnion) -> None:
    rules = registry(PINNED)
    request = LlmRequest()
    request.config.system_instruction = given
    PinPlugin(rules).pin(request)
    found = request.config.system_instruction
    assert isinstance(found, types.Content)
    parts = found.parts or []
    assert (parts[0].text, parts[-1].text) == ("Be brief.", PinnedBlock(rules).text)
    # What ADK sends Claude, LiteLLM's models and the interactions API: of a list, nothing.
    assert (extract_system_instruction(request.config) or "").count(PINNED) == 1
    PinPlugin(rules).pin(request)
    assert request.config.system_instruction is found


def test_an_earlier_revision_is_replaced() -> None:
    rules = registry(PINNED)
    (block,) = rules.pins()
    plugin, request = PinPlugin(rules), LlmRequest()
    plugin.pin(request)
    rules.amend(block.id, "Never restart a server.", by=OPERATOR)
    plugin.pin(request)
    assert request.config.system_instruction == PinnedBlock(rules).text.rstrip("\n")


# ADK's own tool for agents gives its runner plugins in a way that ADK deprecates.
@pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated:DeprecationWarning")
def test_subagents_are_pinned_too() -> None:
    async def go() -> None:
        model, clerk_model, guard_model = Recorder(), Recorder(), Recorder()
        clerk = LlmAgent(name="clerk", model=clerk_model, instruction="You count.")
        guard = LlmAgent(name="guard", model=guard_model, description="Guards.")
        chat = Chat(
            model,
            plugins=[PinPlugin(registry(PINNED))],
            tools=[AgentTool(clerk)],  # type: ignore[list-item]
            sub_agents=[guard],
        )
        await chat.say("Have it counted.", calling("clerk", request="Count."))
        await chat.say("Have it guarded.", calling("transfer_to_agent", agent_name="guard"))
        for recorder in (model, clerk_model, guard_model):
            assert recorder.texts
            assert all(text.count(PINNED) == 1 for text in recorder.texts)

    asyncio.run(go())


def test_a_live_session_has_no_receipt_of_pins_that_it_was_not_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """ADK shows plugins what a user says when the session with the model is long open."""
    receipts: list[Receipt] = []

    async def go() -> None:
        chat = Chat(Recorder(), plugins=[PinPlugin(registry(PINNED), report=receipts.append)])
        session = await chat.sessions.create_session(app_name="chat", user_id="user")
        context = InvocationContext(
            invocation_id="1",
            agent=chat.runner.agent,
            session=session,
            session_service=chat.sessions,
            plugin_manager=chat.runner.plugin_manager,
            live_request_queue=LiveRequestQueue(),
        )
        request = LlmRequest()
        await handle_before_model_callback(context, request, Event(author="assistant"))
        assert request.config.system_instruction is None

    with caplog.at_level(logging.WARNING, "constraintrot.pins"):
        asyncio.run(go())
    assert [(receipt.state, receipt.at) for receipt in receipts] == [("absent", None)]
    assert "run_live" in caplog.text


def test_an_agent_that_calls_its_model_past_all_plugins_is_refused() -> None:
    plugin, block = PinPlugin(registry(PINNED)), PinnedBlock(registry(PINNED))
    given: dict[str, Any] = {"name": "remote", "agent_id": "agents/1"}

    async def go(agent: ManagedAgent) -> None:
        await plugin.before_agent_callback(agent=agent, callback_context=None)  # type: ignore[arg-type]

    with pytest.raises(ParameterError, match="remote calls its model past all plugins"):
        asyncio.run(go(ManagedAgent(**given, instruction="Be brief.")))
    # A function of the operator's, which is asked at each call, has the pins to put in.
    asyncio.run(go(ManagedAgent(**given, instruction=lambda _: block.into("Be brief."))))


def replaces(callback_context: object, llm_request: LlmRequest) -> None:
    """As an agent's own callback may."""
    llm_request.config = types.GenerateContentConfig(system_instruction="Something else.")


class Replacing(BasePlugin):
    """Another plugin, which ADK runs behind ours."""

    async def before_model_callback(self, *, llm_request: LlmRequest, **_: object) -> None:
        replaces(None, llm_request)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("by", ["callback", "callbacks", "plugin"])
def test_what_runs_behind_the_plugin_does_not_lose_the_pins(by: str, stream: bool) -> None:
    """The receipt said ``injected``, and the model was sent none."""
    receipts: list[Receipt] = []
    plugins: list[BasePlugin] = [PinPlugin(registry(PINNED), report=receipts.append)]
    given: dict[str, Any] = {}
    if by == "plugin":
        plugins.append(Replacing("replacing"))
    else:
        given["before_model_callback"] = replaces if by == "callback" else [replaces, replaces]

    async def go() -> None:
        model = Recorder()
        chat = Chat(model, plugins=plugins, stream=stream, **given)
        await chat.converse(2)
        assert [text.count(PINNED) for text in model.texts] == [1] * len(model.texts)
        assert all(text.startswith("Something else.") for text in model.texts)
        assert [receipt.state for receipt in receipts] == ["repaired"] * len(model.texts)

    asyncio.run(go())


def test_an_agent_of_two_apps_has_the_pins_of_the_one_that_runs_it() -> None:
    first, second = registry(PINNED), registry("Never restart a server.")

    async def go() -> None:
        model = Recorder()
        chat = Chat(model, plugins=[PinPlugin(first)])
        other = Chat(model, plugins=[PinPlugin(second), PinPlugin(first, name="also")])
        agent = chat.runner.agent
        other.runner.agent = agent
        for one in (chat, other):
            await one.say("Hello")
        alone = Chat(model)
        alone.runner.agent = agent
        await alone.say("Hello")
        assert [text.count(PINNED) for text in model.texts] == [1, 1, 0]
        assert [text.count("Never restart") for text in model.texts] == [0, 1, 0]

    asyncio.run(go())


def test_a_call_that_a_callback_answers_has_no_receipt() -> None:
    receipts: list[Receipt] = []

    def answers(callback_context: object, llm_request: LlmRequest) -> LlmResponse:
        part = types.Part(text="From a cache.")
        return LlmResponse(content=types.Content(role="model", parts=[part]))

    async def go() -> None:
        model = Recorder()
        pin = PinPlugin(registry(PINNED), report=receipts.append)
        await Chat(model, plugins=[pin], before_model_callback=answers).say("Hello")
        assert model.texts == []

    asyncio.run(go())
    assert receipts == []


def test_receipts_go_to_the_open_span() -> None:
    rules, spans = registry(PINNED), InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    with provider.get_tracer("test").start_as_current_span("call_llm"):
        PinPlugin(rules).pin(LlmRequest())
    (event,) = spans.get_finished_spans()[0].events
    assert (event.attributes or {})["manifest"] == rules.manifest()


def test_options_that_would_replace_the_pins_are_refused() -> None:
    replacing = types.HttpOptions(extra_body={"systemInstruction": {"parts": []}})
    request = LlmRequest(config=types.GenerateContentConfig(http_options=replacing))
    with pytest.raises(ParameterError, match="'systemInstruction'"):
        PinPlugin(registry(PINNED)).pin(request)
    PinPlugin(registry()).pin(request)


def test_a_request_whose_system_instruction_adk_empties_is_refused() -> None:
    """The receipt said ``injected``, and Gemini was sent no system instruction at all."""
    tool = types.Tool(computer_use=types.ComputerUse())
    request = LlmRequest(config=types.GenerateContentConfig(tools=[types.Tool(), tool]))
    with pytest.raises(ParameterError, match="computer use"):
        PinPlugin(registry(PINNED)).pin(request)
    PinPlugin(registry()).pin(request)
