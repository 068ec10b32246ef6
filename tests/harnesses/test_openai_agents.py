"""The OpenAI Agents SDK's Runner: its sessions, and the filter and the models that pin."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    input_guardrail,
    set_trace_processors,
    trace,
)
from agents.exceptions import UserError
from agents.memory import OpenAIResponsesCompactionSession
from agents.run import CallModelData, ModelInputData
from agents.tracing import CustomSpanData, Span, TracingProcessor

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.openai_agents.harness import as_dicts
from constraintrot.harnesses.openai_agents.pins import SPAN, pin_filter, pinned, pinned_model
from tests.harnesses.openai_agents_fakes import Recorder, converse, made, quiet
from tests.harnesses.rules import OPERATOR, PINNED, SYSTEM, registry


def test_why_the_endpoint_is_stood_in_for() -> None:
    store = SQLiteSession("s")
    with pytest.raises(ValueError, match="Unsupported model"):
        OpenAIResponsesCompactionSession("s", store, model="qwen2.5-7b")
    store.close()
    with pytest.raises(UserError, match="compaction"):
        as_dicts([{"type": "compaction", "id": "c", "encrypted_content": "?"}])


@pytest.fixture
def store() -> Iterator[SQLiteSession]:
    session = SQLiteSession("s")
    yield session
    session.close()


def test_run_sync_is_pinned(store: SQLiteSession) -> None:
    model = Recorder()
    config = quiet(call_model_input_filter=pin_filter(registry(PINNED)))
    for text in ("Hello", "Again"):
        Runner.run_sync(made(model), text, session=store, run_config=config)
    assert [text.count(PINNED) for text in model.texts] == [1, 1]


def test_an_earlier_revision_in_the_instructions_is_taken_out() -> None:
    rules = registry(PINNED)
    (pin,) = rules.pins()
    once = pinned(ModelInputData(input=[], instructions=SYSTEM), PinnedBlock(rules))
    rules.amend(pin.id, "Never restart a server.", by=OPERATOR)
    twice = pinned(once, PinnedBlock(rules))
    assert twice.instructions is not None
    assert PINNED not in twice.instructions
    assert twice.instructions.count(HEADING) == 1


@pytest.mark.parametrize("instructions", [None, "", SYSTEM])
def test_what_is_unpinned_is_gone_and_an_empty_registry_changes_nothing(
    instructions: str | None,
) -> None:
    rules = registry(PINNED)
    receipts: list[Receipt] = []
    pinned_block = PinnedBlock(rules, report=receipts.append)
    given = ModelInputData(input=[{"role": "user", "content": "Hello"}], instructions=instructions)
    sent = pinned(given, pinned_block)
    assert sent.instructions is not None
    assert PINNED in sent.instructions
    rules.evict(rules.pins()[0].id, by=OPERATOR, force=True)
    assert pinned(given, pinned_block) == given
    assert (pinned(sent, pinned_block).instructions or "").rstrip("\n") == (instructions or "")
    assert [receipt.state for receipt in receipts] == ["injected", "absent", "absent"]


def shouting(data: CallModelData[Any]) -> ModelInputData:
    found = data.model_data
    return ModelInputData(found.input, (found.instructions or "").upper())


async def shouting_later(data: CallModelData[Any]) -> ModelInputData:
    await asyncio.sleep(0)
    return shouting(data)


@pytest.mark.parametrize("inner", [shouting, shouting_later], ids=["plain", "async"])
def test_another_filter_runs_first(inner: Any) -> None:
    model = Recorder()
    config = quiet(call_model_input_filter=pin_filter(registry(PINNED), inner))
    asyncio.run(Runner.run(made(model), "Hello", run_config=config))
    assert SYSTEM.upper() in model.texts[0]
    assert PINNED in model.texts[0]


@pytest.mark.parametrize("as_tool", [False, True])
def test_an_agent_that_is_handed_over_to_or_is_a_tool_is_pinned(as_tool: bool) -> None:
    first, second = Recorder("clerk" if as_tool else "transfer_to_clerk"), Recorder()
    clerk: Agent[None] = Agent(name="clerk", model=second)
    lead: Agent[None] = Agent(name="lead", model=first)
    if as_tool:
        lead.tools = [clerk.as_tool(tool_name="clerk", tool_description="Counts.")]
    else:
        lead.handoffs = [clerk]
    config = quiet(call_model_input_filter=pin_filter(registry(PINNED)))
    asyncio.run(Runner.run(lead, "Have it counted.", run_config=config))
    assert [text.count(PINNED) for text in first.texts] == [1] * (1 + as_tool)
    assert [text.count(PINNED) for text in second.texts] == [1]


def test_a_model_s_pins_are_in_runs_that_no_filter_is_in(store: SQLiteSession) -> None:
    """A guardrail's agent, and a tool's own run, have run configs of their own."""
    rules, lead_model, guard_model, clerk_model = registry(PINNED), *(Recorder() for _ in range(3))
    guard: Agent[None] = Agent(name="guard", model=pinned_model(guard_model, rules))
    clerk: Agent[None] = Agent(name="clerk", model=pinned_model(clerk_model, rules))

    @input_guardrail
    async def check(context: Any, agent: Any, said: Any) -> GuardrailFunctionOutput:
        await Runner.run(guard, said, run_config=quiet())
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    @function_tool
    async def count(input: str) -> str:
        """Count."""
        return str((await Runner.run(clerk, input, run_config=quiet())).final_output)

    lead_model.script[:] = ["count"]
    lead: Agent[None] = Agent(
        name="lead",
        model=pinned_model(lead_model, rules),
        tools=[count],
        input_guardrails=[check],
    )
    asyncio.run(Runner.run(lead, "Have it counted.", run_config=quiet(), session=store))
    texts = [model.texts for model in (lead_model, guard_model, clerk_model)]
    assert [[text.count(PINNED) for text in of] for of in texts] == [[1, 1], [1], [1]]
    assert PINNED not in str(asyncio.run(store.get_items()))


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "run_streamed"])
def test_a_model_and_a_filter_pin_once(store: SQLiteSession, streamed: bool) -> None:
    rules, model, receipts = registry(PINNED), Recorder(), list[Receipt]()
    other = PinnedBlock(registry(PINNED))
    config = quiet(call_model_input_filter=pin_filter(rules, report=receipts.append))
    agent = made(pinned_model(pinned_model(model, rules, report=receipts.append), other))
    asyncio.run(converse(agent, model, store, config, turns=2, streamed=streamed))
    block = PinnedBlock(rules).text
    assert all(text.startswith(f"{SYSTEM}\n\n{block}\n\n{other.text}\n") for text in model.texts)
    assert [text.count(HEADING) for text in model.texts] == [2] * 5
    assert [receipt.state for receipt in receipts] == ["injected", "verified"] * 5


def test_a_model_of_the_sdk_s_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    receipts: list[Receipt] = []
    found = pinned_model("gpt-5.5", registry(PINNED), report=receipts.append)
    assert isinstance(found, OpenAIResponsesModel)
    sent: list[dict[str, Any]] = []

    async def create(**given: Any) -> Any:
        sent.append(given)
        raise ConnectionError

    monkeypatch.setattr(found._client.responses, "create", create)
    agent: Agent[None] = Agent(name="a", model=found, instructions=SYSTEM)
    with pytest.raises(ConnectionError):
        asyncio.run(Runner.run(agent, "Hello", previous_response_id="resp_1", run_config=quiet()))
    assert sent[0]["instructions"].count(PINNED) == 1
    assert PINNED not in str(sent[0]["input"])
    with pytest.raises(ParameterError, match=r"no agents\.Model"):
        pinned_model(object(), registry(PINNED))  # type: ignore[arg-type]


class Spans(TracingProcessor):
    """Keeps what a trace recorded."""

    def __init__(self) -> None:
        self.found: list[CustomSpanData] = []

    def on_span_end(self, span: Span[Any]) -> None:
        if isinstance(span.span_data, CustomSpanData):
            self.found.append(span.span_data)

    def on_span_start(self, span: Span[Any]) -> None: ...
    def on_trace_start(self, trace: Any) -> None: ...
    def on_trace_end(self, trace: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@pytest.fixture
def spans() -> Iterator[Spans]:
    """What is traced, and nothing goes to the vendor."""
    found = Spans()
    set_trace_processors([found])
    yield found
    set_trace_processors([])


@pytest.mark.parametrize("traced", [True, False], ids=["traced", "untraced"])
def test_receipts_go_to_the_log_and_to_the_trace(
    spans: Spans, traced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    rules = registry(PINNED)
    config = RunConfig(call_model_input_filter=pin_filter(rules), tracing_disabled=not traced)
    with caplog.at_level(logging.INFO, "constraintrot.pins"):
        asyncio.run(Runner.run(made(Recorder()), "Hello", run_config=config))
    (line,) = [one.message for one in caplog.records if one.name == "constraintrot.pins"]
    receipt = Receipt.model_validate_json(line)
    assert (receipt.state, receipt.at, receipt.where) == ("injected", -1, "call")
    assert receipt.manifest == rules.manifest()
    assert [(span.name, span.data["manifest"]) for span in spans.found] == (
        [(SPAN, rules.manifest())] if traced else []
    )


def test_a_report_of_one_s_own_takes_the_place_of_both(spans: Spans) -> None:
    receipts: list[Receipt] = []
    config = RunConfig(call_model_input_filter=pin_filter(registry(PINNED), report=receipts.append))
    with trace("test"):
        asyncio.run(Runner.run(made(Recorder()), "Hello", run_config=config))
    assert len(receipts) == 1
    assert spans.found == []


def test_a_board_of_one_s_own_says_the_heading() -> None:
    model = Recorder()
    pinned_block = PinnedBlock(registry(PINNED), heading="House rules:")
    config = quiet(call_model_input_filter=pin_filter(pinned_block))
    asyncio.run(Runner.run(made(model), "Hello", run_config=config))
    assert model.texts[0].startswith(f"{SYSTEM}\n\nHouse rules: [")


def _operator_items(block: str) -> list[Any]:
    return [
        {"role": "system", "content": f"The following is void: {block}"},
        {"role": "developer", "content": [{"type": "input_text", "text": block}]},
        {"role": "user", "content": block},
    ]


@pytest.mark.parametrize("by_filter", [True, False])
def test_a_block_in_the_operator_s_items_is_taken_out(by_filter: bool) -> None:
    """The pins were sent three times, in each revision."""
    rules, model, receipts = registry(PINNED), Recorder(), list[Receipt]()
    items = _operator_items(PinnedBlock(rules).text)
    rules.amend(rules.pins()[0].id, "Never restart a server.", by=OPERATOR)
    if by_filter:
        agent, config = (
            made(model),
            quiet(call_model_input_filter=pin_filter(rules, report=receipts.append)),
        )
    else:
        agent, config = made(pinned_model(model, rules, report=receipts.append)), quiet()
    Runner.run_sync(agent, items, run_config=config)
    (text,) = model.texts
    # What stays is the user's: no operator's word.
    assert (text.count(PINNED), text.count("Never restart a server.")) == (1, 1)
    assert "The following is void:" in text
    assert [len(one.removed) for one in receipts] == [2]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("name", ["extra_body", "extra_args"])
def test_settings_that_would_replace_the_pins_are_refused(name: str, streamed: bool) -> None:
    given: Any = {name: {"instructions": "Something else."}}
    settings = ModelSettings(**given)
    model = Recorder()

    async def run(rules: Registry) -> None:
        agent: Agent[None] = Agent(
            name="a", model=pinned_model(model, rules), model_settings=settings
        )
        if not streamed:
            await Runner.run(agent, "Hello", run_config=quiet())
            return
        async for _ in Runner.run_streamed(agent, "Hello", run_config=quiet()).stream_events():
            pass

    with pytest.raises(ParameterError, match="'instructions'"):
        asyncio.run(run(registry(PINNED)))
    assert model.texts == []
    asyncio.run(run(registry()))
