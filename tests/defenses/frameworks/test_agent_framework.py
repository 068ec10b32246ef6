"""The strategy that pins: once in each input, in no history, and never over a budget unseen."""

from __future__ import annotations

import asyncio
import doctest
import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from agent_framework import (
    Agent,
    CharacterEstimatorTokenizer,
    CompactionStrategy,
    Content,
    Message,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    TruncationStrategy,
    apply_compaction,
)
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from constraintrot.defenses.frameworks import agent_framework as module
from constraintrot.defenses.frameworks._otel import trace_receipt
from constraintrot.defenses.frameworks.agent_framework import PinnedStrategy
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.defenses.rampart import PinOverflowError, Principal, Registry
from tests.harnesses.agent_framework_fakes import Recorder, calling, converse, made, stored
from tests.harnesses.rules import LOSSY, PINNED

OPERATOR = Principal("operator")


def registry(*texts: str) -> Registry:
    rules = Registry(OPERATOR)
    for text in texts:
        rules.pin(text, by=OPERATOR)
    return rules


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


def test_the_docstring_s_example_runs() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_pins_stand_once_in_each_input_and_in_no_history(strategy: str, stream: bool) -> None:
    rules = registry(PINNED)
    client = Recorder()
    agent = made(client, compaction_strategy=PinnedStrategy(rules, STRATEGIES[strategy]()))
    session = asyncio.run(converse(agent, client, stream=stream))
    block = PinnedBlock(rules).text
    assert len(client.calls) == 19
    assert [text.count(block.rstrip("\n")) for text in client.texts] == [1] * 19
    assert PINNED not in stored(session)
    # With or without the pins, the same is left of the conversation.
    plain = Recorder()
    asyncio.run(converse(made(plain, compaction_strategy=STRATEGIES[strategy]()), plain))
    if strategy != "token_budget":
        assert [len(sent) for sent in plain.calls] == [
            len([m for m in sent if m.text != block.rstrip("\n")]) for sent in client.calls
        ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_pins_open_the_conversation_as_the_user(strategy: str) -> None:
    client = Recorder()
    pinned = PinnedStrategy(registry(PINNED), STRATEGIES[strategy]())
    asyncio.run(converse(made(client, compaction_strategy=pinned), client))
    for sent in client.calls:
        assert sent[0].role == "user"
        assert sent[0].text.startswith(HEADING)
        assert all(
            before.role != "user" or after.role != "user" for before, after in pairwise(sent)
        )


def test_a_registry_amended_within_a_tool_loop_shows_at_the_next_call() -> None:
    rules = registry(PINNED)
    (block,) = rules.pins()

    def restart() -> str:
        """Restart a server."""
        rules.amend(block.id, "Never restart a server.", by=OPERATOR)
        return "Done."

    client = Recorder()
    client.script[:] = [calling("restart", "1")]
    agent: Agent[Any] = Agent(
        client=client, tools=[restart], compaction_strategy=PinnedStrategy(rules)
    )
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
    agent: Agent[Any] = Agent(
        client=client, tools=[restart], compaction_strategy=PinnedStrategy(rules)
    )
    ask(agent, "  Restart it.\n")
    assert PINNED in client.texts[0]
    assert client.calls[1][0].text == "  Restart it.\n"


def test_an_empty_registry_changes_nothing() -> None:
    receipts: list[Receipt] = []
    strategy = PinnedStrategy(registry(), report=receipts.append)
    given = [Message("user", ["\nHello\n"]), Message("assistant", ["Hi"])]
    sent = asyncio.run(apply_compaction(list(given), strategy=strategy))
    assert sent == given
    assert [receipt.state for receipt in receipts] == ["absent"]


def test_the_summarizer_is_not_pinned_even_over_the_agent_s_own_client() -> None:
    writer = Recorder(LOSSY)
    client = Recorder()
    pinned = PinnedStrategy(registry(PINNED), summarizing(writer))
    asyncio.run(converse(made(client, compaction_strategy=pinned), client))
    assert writer.calls
    assert PINNED not in writer.ever

    shared = Recorder()
    shared.compaction_strategy = PinnedStrategy(registry(PINNED), summarizing(shared))
    asyncio.run(converse(made(shared), shared))
    summaries = [text for text in shared.texts if "Generate a clear" in text]
    assert summaries
    assert all(PINNED not in text for text in summaries)
    assert all(text.count(PINNED) == 1 for text in shared.texts if text not in summaries)


def test_a_client_s_strategy_pins_an_agent_called_as_a_tool() -> None:
    client = Recorder()
    client.compaction_strategy = PinnedStrategy(registry(PINNED))
    clerk: Agent[Any] = Agent(client=client, name="clerk", instructions="You are a clerk.")
    agent: Agent[Any] = Agent(client=client, tools=[clerk.as_tool()], instructions="You lead.")
    client.script[:] = [Content.from_function_call("1", "clerk", arguments={"task": "Count."})]
    ask(agent, "Have it counted.")
    assert ["clerk" in text for text in client.texts] == [False, True, False]
    assert [text.count(PINNED) for text in client.texts] == [1, 1, 1]


def test_a_budget_counts_the_pins_too() -> None:
    rules = registry(*(f"{PINNED} That is rule {number}." for number in range(10)))
    client = Recorder()
    agent = made(client, compaction_strategy=PinnedStrategy(rules, budget(700)))
    asyncio.run(converse(agent, client))
    plain = Recorder()
    asyncio.run(converse(made(plain, compaction_strategy=budget(700)), plain))
    # What the pins take, the conversation has less.
    assert len(client.calls[-1]) < len(plain.calls[-1])
    size = sum(len(text) for text in client.texts[-1:]) // 4
    assert size <= 700


@pytest.mark.parametrize(
    "strategy",
    [
        budget(150),
        TruncationStrategy(max_n=150, compact_to=150, tokenizer=CharacterEstimatorTokenizer()),
    ],
    ids=["token_budget", "truncation"],
)
def test_pins_over_the_budget_are_an_error(strategy: CompactionStrategy) -> None:
    fitting, over = registry(PINNED), registry(*(f"{PINNED} {n}" for n in range(30)))
    given = [Message("user", ["Hello"])]
    assert asyncio.run(apply_compaction(list(given), strategy=PinnedStrategy(fitting, strategy)))
    with pytest.raises(PinOverflowError):
        asyncio.run(apply_compaction(list(given), strategy=PinnedStrategy(over, strategy)))
    # The conversation alone is over it: that is the strategy's affair.
    long = [Message("user", ["Hello " * 200])]
    (sent,) = asyncio.run(apply_compaction(long, strategy=PinnedStrategy(fitting, strategy)))
    assert sent.text.count(PINNED) == 1


def test_a_message_that_begins_with_no_text_keeps_all_it_has() -> None:
    picture = Content.from_uri("https://example.org/a.png", media_type="image/png")
    given = [Message("user", [picture, "What is this?"])]
    strategy = PinnedStrategy(registry(PINNED))
    (sent,) = asyncio.run(apply_compaction(list(given), strategy=strategy))
    assert [one.type for one in sent.contents] == ["text", "uri", "text"]
    assert PINNED in (sent.contents[0].text or "")
    assert len(given[0].contents) == 2


def test_receipts_go_to_the_log_and_to_the_open_span(caplog: pytest.LogCaptureFixture) -> None:
    rules = registry(PINNED)
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    strategy = PinnedStrategy(rules)
    with (
        caplog.at_level(logging.INFO, "constraintrot.pins"),
        provider.get_tracer("test").start_as_current_span("chat"),
    ):
        asyncio.run(apply_compaction([Message("user", ["Hello"])], strategy=strategy))
    (line,) = caplog.messages
    receipt = Receipt.model_validate_json(line)
    assert (receipt.state, receipt.at, receipt.where) == ("injected", 0, "call")
    assert receipt.manifest == rules.manifest()
    (event,) = spans.get_finished_spans()[0].events
    assert event.name == "constraintrot.pins"
    assert (event.attributes or {})["manifest"] == rules.manifest()
    # Without one that is open there is nothing to add to.
    assert not trace.get_current_span().is_recording()
    trace_receipt(receipt)
