"""The strategy that pins: once in each input, in no history, and never over a budget unseen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import (
    Agent,
    CharacterEstimatorTokenizer,
    CompactionStrategy,
    Content,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    TruncationStrategy,
    chat_middleware,
)
from agent_framework._middleware import ChatMiddlewareLayer
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.errors import ParameterError
from constraintrot.harnesses.agent_framework.pins import pinned, pinned_client
from constraintrot.harnesses.traced_receipts import trace_receipt
from tests.harnesses.agent_framework_fakes import Recorder, calling, converse, made, stored
from tests.harnesses.rules import LOSSY, OPERATOR, PINNED, registry


def ask(agent: Agent[Any], text: str) -> None:
    async def asked() -> None:
        await agent.run(text)

    asyncio.run(asked())


def summarizing(client: Recorder) -> SummarizationStrategy:
    return SummarizationStrategy(client=client, target_count=4, threshold=2)


def budget(tokens: int) -> TokenBudgetComposedStrategy:
    return TokenBudgetComposedStrategy(
        token_budget=tokens,
        tokenizer=CharacterEstimatorTokenizer(),
        strategies=[SlidingWindowStrategy(keep_last_groups=6)],
    )


STRATEGIES: dict[str, Callable[[], CompactionStrategy | None]] = {
    "none": lambda: None,
    "truncation": lambda: TruncationStrategy(max_n=20, compact_to=8),
    "sliding_window": lambda: SlidingWindowStrategy(keep_last_groups=6),
    "summarization": lambda: summarizing(Recorder(LOSSY)),
    "token_budget": lambda: budget(600),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_pins_stand_once_in_each_input_and_in_no_history(strategy: str, stream: bool) -> None:
    rules = registry(PINNED)
    client = Recorder()
    agent = made(pinned_client(client, rules), compaction_strategy=STRATEGIES[strategy]())
    session = asyncio.run(converse(agent, client, stream=stream))
    block = PinnedBlock(rules).text
    assert len(client.calls) == 19
    assert [text.count(block.rstrip("\n")) for text in client.texts] == [1] * 19
    assert PINNED not in stored(session)
    # With or without the pins, the same is left of the conversation.
    plain = Recorder()
    asyncio.run(
        converse(made(plain, compaction_strategy=STRATEGIES[strategy]()), plain, stream=stream)
    )
    assert [[m.text for m in sent] for sent in client.calls] == [
        [m.text for m in sent] for sent in plain.calls
    ]


def test_a_registry_amended_within_a_tool_loop_shows_at_the_next_call() -> None:
    rules = registry(PINNED)
    (block,) = rules.pins()

    def restart() -> str:
        """Restart a server."""
        rules.amend(block.id, "Never restart a server.", by=OPERATOR)
        return "Done."

    client = Recorder()
    client.script[:] = [calling("restart", "1")]
    agent: Agent[Any] = Agent(client=pinned_client(client, rules), tools=[restart])
    ask(agent, "Restart it.")
    assert [PINNED in text for text in client.texts] == [True, False]
    assert "Never restart a server." in client.texts[1]
    assert client.texts[1].count(HEADING) == 1


def test_a_registry_emptied_within_a_tool_loop_leaves_nothing_behind() -> None:
    rules = registry(PINNED)
    (block,) = rules.pins()

    def restart() -> str:
        """Restart a server."""
        rules.evict(block.id, by=OPERATOR, force=True)
        return "Done."

    client = Recorder()
    client.script[:] = [calling("restart", "1")]
    agent: Agent[Any] = Agent(client=pinned_client(client, rules), tools=[restart])
    ask(agent, "  Restart it.\n")
    assert PINNED in client.texts[0]
    assert client.calls[1][0].text == "  Restart it.\n"


def test_an_empty_registry_changes_nothing() -> None:
    receipts: list[Receipt] = []
    empty = PinnedBlock(registry(), report=receipts.append)
    for options in ({}, {"instructions": None}, {"instructions": "Hi\n"}, {"instructions": ["Hi"]}):
        assert pinned(options, empty) == options
    assert {receipt.state for receipt in receipts} == {"absent"}


def test_the_summarizer_is_not_pinned_even_over_the_agent_s_own_client() -> None:
    client = Recorder()
    # The client itself writes the summaries, its pinned copy answers.
    agent = made(pinned_client(client, registry(PINNED)), compaction_strategy=summarizing(client))
    asyncio.run(converse(agent, client))
    summaries = [text for text in client.texts if "Generate a clear" in text]
    assert summaries
    assert all(PINNED not in text for text in summaries)
    assert all(text.count(PINNED) == 1 for text in client.texts if text not in summaries)


def test_a_client_pins_an_agent_called_as_a_tool() -> None:
    client = Recorder()
    sent = pinned_client(client, registry(PINNED))
    clerk: Agent[Any] = Agent(client=sent, name="clerk", instructions="You are a clerk.")
    agent: Agent[Any] = Agent(client=sent, tools=[clerk.as_tool()], instructions="You lead.")
    client.script[:] = [Content.from_function_call("1", "clerk", arguments={"task": "Count."})]
    ask(agent, "Have it counted.")
    assert ["clerk" in text for text in client.texts] == [False, True, False]
    assert [text.count(PINNED) for text in client.texts] == [1, 1, 1]


class ServerSide(Recorder):
    """Keeps the conversation itself: it is sent what is new, and the instructions."""

    STORES_BY_DEFAULT = True

    def _inner_get_response(self, *, stream: bool, **given: Any) -> Any:
        answer = super()._inner_get_response(stream=stream, **given)
        number = len(self.calls)

        async def stored() -> Any:
            response: Any = await answer
            response.conversation_id = f"resp_{number}"
            return response

        return stored()


def test_a_server_that_keeps_the_history_is_not_given_the_pins_to_keep() -> None:
    """Each turn stored a copy, and old ones stayed after an amendment."""
    rules, client = registry(PINNED), ServerSide()
    agent = made(pinned_client(client, rules))

    async def go() -> None:
        session = agent.create_session()
        for number in range(3):
            client.script[:] = [calling("look_up", f"t{number}")]
            await agent.run(f"Look at ticket {number}.", session=session)
        rules.amend(rules.pins()[0].id, "Never restart a server.", by=OPERATOR)
        await agent.run("And again.", session=session)

    asyncio.run(go())
    stored_there = "\n".join(message.text for sent in client.calls for message in sent)
    assert PINNED not in stored_there
    assert HEADING not in stored_there
    assert [text.count(PINNED) for text in client.texts] == [1] * 6 + [0]
    assert "Never restart a server." in client.texts[-1]


def test_middleware_that_replaces_the_instructions_comes_before_the_pins() -> None:
    receipts: list[Receipt] = []

    class Layered(ChatMiddlewareLayer[Any], Recorder):  # type: ignore[misc]  # as in theirs
        """A client that runs chat middleware, as the framework's own do."""

    @chat_middleware
    async def replace(context: Any, call_next: Any) -> None:
        context.options = {**context.options, "instructions": "Something else."}
        await call_next()

    client = Layered(middleware=[replace])
    agent = made(pinned_client(client, registry(PINNED), report=receipts.append))
    ask(agent, "Hello")
    assert client.texts[0].startswith("Something else.\n\n")
    assert client.texts[0].count(PINNED) == 1
    assert [receipt.state for receipt in receipts] == ["injected"]


def test_several_registries_and_instructions_in_parts() -> None:
    first, second = PinnedBlock(registry(PINNED)), PinnedBlock(registry(PINNED))
    client = Recorder()
    agent = Agent(client=pinned_client(pinned_client(client, first), second), instructions="Hi")
    ask(agent, "Hello")
    assert client.texts[0].startswith(f"Hi\n\n{first.text}\n\n{second.text}\n")
    marked = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
    for parts in (["Hi"], [marked]):
        once = pinned(pinned({"instructions": parts}, first), second)
        # One part alone: its keys were sent in its place.
        assert pinned(pinned({"instructions": parts[0]}, first), second)["instructions"] == (
            once["instructions"] if parts[0] is marked else f"Hi\n\n{first.text}\n\n{second.text}"
        )
        assert pinned(pinned(once, first), second) == once
        assert once["instructions"][0] == parts[0]
        assert len(once["instructions"]) == 3


def test_a_client_made_anew_by_its_class_is_pinned_too() -> None:
    first, second = registry(PINNED), registry("Never restart a server.")
    client = pinned_client(pinned_client(Recorder(), first), second)
    again = type(client)()
    ask(made(again), "Hello")
    assert [again.texts[0].count(text) for text in (PINNED, "Never restart")] == [1, 1]
    assert type(Recorder()) is Recorder


def test_a_client_of_another_kind_is_refused() -> None:
    with pytest.raises(ParameterError, match="no BaseChatClient"):
        pinned_client(object(), registry(PINNED))


def test_receipts_go_to_the_log_and_to_the_open_span(caplog: pytest.LogCaptureFixture) -> None:
    rules = registry(PINNED)
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    pinned_block = PinnedBlock(rules, report=trace_receipt)
    with (
        caplog.at_level(logging.INFO, "constraintrot.pins"),
        provider.get_tracer("test").start_as_current_span("chat"),
    ):
        pinned({}, pinned_block)
    (line,) = caplog.messages
    receipt = Receipt.model_validate_json(line)
    assert (receipt.state, receipt.at, receipt.where) == ("injected", -1, "call")
    assert receipt.manifest == rules.manifest()
    (event,) = spans.get_finished_spans()[0].events
    assert event.name == "constraintrot.pins"
    assert (event.attributes or {})["manifest"] == rules.manifest()
    # Without one that is open there is nothing to add to.
    assert not trace.get_current_span().is_recording()
    trace_receipt(receipt)
