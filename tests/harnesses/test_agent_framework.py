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

from constraintrot.defenses.frameworks.agent_framework import PinnedStrategy
from constraintrot.defenses.rampart import Principal, Registry
from tests.conftest import Run
from tests.docs_code import run_page
from tests.harnesses.agent_framework_fakes import Recorder, converse, made, stored
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, kept


@pytest.mark.parametrize("channel", ["user", "memory", "tool"])
def test_tool_results_become_what_the_assistant_said(run: Run, channel: str) -> None:
    sample = compacted(run, harness="agent_framework:tool_result", channel=channel)
    assert not violated(sample)
    assert sample.metadata["dropped"] > 0
<<<<<<< HEAD
    assert sample.metadata["roles_problem"] == "two messages of the assistant's in a row"
    roles = {m.role for m in sample.messages if m.text.startswith("[Tool results: ")}
    assert roles == {"assistant"}
=======
    assert sample.metadata["roles_problem"] == TWICE
    voices = [m.role for m in sample.messages if m.text.startswith("[Tool results: ")]
    assert voices
    assert set(voices) == {"assistant"}


@pytest.mark.parametrize("arm", ["truncation", "summarization", "tool_result", "token_budget"])
@pytest.mark.parametrize(
    "given",
    [
        {"context_tokens": 300},
        {"context_tokens": 1500, "channel": "tool"},
        {"channel": "system"},
        {"attack": "inject_deprecation"},
        {"attack": "volume"},
    ],
    ids=str,
)
def test_it_compacts_at_all_lengths_on_all_channels(
    run: Run, arm: str, given: dict[str, Any]
) -> None:
    sample = compacted(run, harness=f"agent_framework:{arm}", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


def test_the_summarizer_is_the_role_s(run: Run) -> None:
    keeps = get_model("scripted/summarizer-keep")
    sample = compacted(
        run, harness="agent_framework:summarization", model_roles={"summarizer": keeps}
    )
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize(
    ("summarizer", "why"),
    [
        (failing, "is down"),
        (lambda: answering(" "), "wrote nothing"),
    ],
)
def test_a_summarizer_whose_failure_is_swallowed_is_an_error(
    run: Run, summarizer: Callable[[], Model], why: str
) -> None:
    log = run(
        "soft_email",
        harness="agent_framework:summarization",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": summarizer()},
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert why in sample.error.message


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given: dict[str, Any] = {"harness": "agent_framework:summarization:live", "exercised": 0}
    plain = compacted(run, model_roles={"agent": live_agent()}, **given)
    assert between_tool_calls(plain)
    assert violated(plain)
    sample = compacted(run, defense="pin", model_roles={"agent": live_agent()}, **given)
    assert between_tool_calls(sample)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


@pytest.mark.parametrize("arm", ["truncation", "truncation_first_user", "token_budget"])
def test_a_live_agent_that_calls_no_tool_is_compacted_too(run: Run, arm: str) -> None:
    sample = compacted(
        run,
        harness=f"agent_framework:{arm}:live",
        model_roles={"agent": live_agent(tool_calls=0)},
    )
    assert violated(sample)


def test_arms_and_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="tool_result, token_budget, live"):
        parse_harness("agent_framework:lossy")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[agent-framework\]'"):
        parse_harness("agent_framework")
    monkeypatch.setattr(harnesses, "_version", lambda _: "2.0")
    with pytest.warns(UserWarning, match=r"agent-framework-core from 1\.23 to below 2, and 2\.0"):
        parse_harness("agent_framework")
>>>>>>> w-scenarios


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


def pins(strategy: CompactionStrategy | None) -> PinnedStrategy:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return PinnedStrategy(rules, strategy)


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    make, expected = MATRIX[row]
    client, strategy = Recorder(), make()
    agent = made(client, compaction_strategy=pins(strategy) if pinned else strategy)
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
    agent = made(
        client, context_providers=providers, compaction_strategy=pins(None) if pinned else None
    )
    session = asyncio.run(converse(agent, client))
    assert kept(client.texts[-1]) == expected
    assert [text.count(PINNED) for text in client.texts] == [pinned] * len(client.calls)
    assert PINNED not in stored(session)


def test_the_summarizer_is_shown_the_rules() -> None:
    writer = Recorder(LOSSY)
    client = Recorder()
    strategy = SummarizationStrategy(client=writer, target_count=4, threshold=2)
    asyncio.run(converse(made(client, compaction_strategy=pins(strategy)), client))
    assert kept(writer.ever) == EVERYTHING - SYSTEM_ONLY
    assert PINNED not in writer.ever


def test_the_page_s_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("frameworks/agent-framework.md")
    assert "example.org" in capsys.readouterr().out
