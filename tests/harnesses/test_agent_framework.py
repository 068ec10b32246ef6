"""Microsoft's agent-framework: what is particular to its strategies and providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import (
    CharacterEstimatorTokenizer,
    CompactionProvider,
    CompactionStrategy,
    ContextProvider,
    ContextWindowCompactionStrategy,
    InMemoryHistoryProvider,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.agent_framework.pins import pinned_client
from tests.conftest import Run
from tests.harnesses.agent_framework_fakes import Recorder, converse, made, stored
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, kept


@pytest.mark.parametrize("channel", ["user", "memory", "tool"])
def test_tool_results_become_what_the_assistant_said(run: Run, channel: str) -> None:
    sample = compacted(run, harness="agent_framework:tool_result", channel=channel)
    assert not violated(sample)
    assert sample.metadata["dropped"] > 0
    assert sample.metadata["roles_problem"] == "two messages of the assistant's in a row"
    roles = {m.role for m in sample.messages if m.text.startswith("[Tool results: ")}
    assert roles == {"assistant"}


SYSTEM_ONLY = {"system"}
EVERYTHING = set(CHANNELS)


def summarizing() -> SummarizationStrategy:
    return SummarizationStrategy(client=Recorder(LOSSY), target_count=4, threshold=2)


# What stands in the last input of a long conversation whose summarizer tells of no rule.
MATRIX: dict[str, tuple[Callable[[], CompactionStrategy | None], set[str]]] = {
    "nothing": (lambda: None, EVERYTHING),
    "Truncation": (lambda: TruncationStrategy(max_n=20, compact_to=8), SYSTEM_ONLY),
    "Truncation, first user": (
        lambda: TruncationStrategy(max_n=20, compact_to=8, preserve_first_user_group=True),
        {"system", "first user"},
    ),
    "ContextWindow": (
        lambda: ContextWindowCompactionStrategy(
            max_context_window_tokens=1200, max_output_tokens=200
        ),
        SYSTEM_ONLY,
    ),
    "ContextWindow, first user": (
        lambda: ContextWindowCompactionStrategy(
            max_context_window_tokens=1200,
            max_output_tokens=200,
            preserve_first_user_group=True,
        ),
        {"system", "first user"},
    ),
    "SlidingWindow": (lambda: SlidingWindowStrategy(keep_last_groups=6), SYSTEM_ONLY),
    "TokenBudgetComposed": (
        lambda: TokenBudgetComposedStrategy(
            token_budget=600,
            tokenizer=CharacterEstimatorTokenizer(),
            strategies=[ToolResultCompactionStrategy(), SlidingWindowStrategy(keep_last_groups=6)],
        ),
        SYSTEM_ONLY,
    ),
    "SelectiveToolCall": (
        lambda: SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=0),
        {"system", "first user", "later user"},
    ),
    # Word for word, but as what the assistant said.
    "ToolResult": (lambda: ToolResultCompactionStrategy(keep_last_tool_call_groups=0), EVERYTHING),
    "Summarization": (summarizing, SYSTEM_ONLY),
}


def pinning(client: Recorder) -> Recorder:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return pinned_client(client, rules)


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    make, expected = MATRIX[row]
    client, strategy = Recorder(), make()
    agent = made(pinning(client) if pinned else client, compaction_strategy=strategy)
    session = asyncio.run(converse(agent, client))
    assert kept(client.texts[-1]) == expected
    assert [text.count(PINNED) for text in client.texts] == [pinned] * len(client.calls)
    # No strategy takes anything from what is stored, nor puts anything there.
    assert kept(stored(session)) == EVERYTHING - SYSTEM_ONLY
    assert PINNED not in stored(session)


# The same strategy at other places, by which of the history's settings.
PROVIDERS: dict[str, tuple[bool, str, set[str]]] = {
    "before_strategy": (False, "before_strategy", SYSTEM_ONLY),
    # Surprise: what it excludes is stored as excluded, and the history loads it all the same.
    "after_strategy": (False, "after_strategy", EVERYTHING),
    "after_strategy, skip_excluded": (True, "after_strategy", SYSTEM_ONLY),
}


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", PROVIDERS)
def test_the_matrix_of_the_provider(row: str, pinned: bool) -> None:
    skips, place, expected = PROVIDERS[row]
    client = Recorder()
    history = InMemoryHistoryProvider(skip_excluded=skips)
    window: dict[str, Any] = {place: SlidingWindowStrategy(keep_last_groups=6)}
    compaction = CompactionProvider(history_source_id=history.source_id, **window)
    providers: list[ContextProvider] = [history, compaction]
    agent = made(pinning(client) if pinned else client, context_providers=providers)
    session = asyncio.run(converse(agent, client))
    assert kept(client.texts[-1]) == expected
    assert [text.count(PINNED) for text in client.texts] == [pinned] * len(client.calls)
    assert PINNED not in stored(session)


def test_the_summarizer_is_shown_the_rules() -> None:
    writer = Recorder(LOSSY)
    client = Recorder()
    strategy = SummarizationStrategy(client=writer, target_count=4, threshold=2)
    asyncio.run(converse(made(pinning(client), compaction_strategy=strategy), client))
    assert kept(writer.ever) == EVERYTHING - SYSTEM_ONLY
    assert PINNED not in writer.ever
