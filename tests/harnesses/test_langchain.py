"""LangChain's create_agent: what is particular to its context managers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.langchain.pins import PinMiddleware
from tests.conftest import Run
from tests.harnesses.episodes import compacted
from tests.harnesses.langchain_fakes import Recorder, converse, loop, tools
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, SYSTEM, kept


def test_the_default_trimming_hides_a_long_history_from_the_summarizer(run: Run) -> None:
    given = {"context_tokens": 4500}
    trimmed = compacted(run, harness="langchain", **given).metadata["rounds_run"]
    whole = compacted(run, harness="langchain:no_trim", **given).metadata["rounds_run"]
    assert [one["shown_verbatim"] for one in trimmed] == [False]
    assert [one["shown_verbatim"] for one in whole] == [True]


def summarizing(writer: Recorder, **given: Any) -> SummarizationMiddleware:
    settings: dict[str, Any] = {"trigger": ("messages", 20), "keep": ("messages", 6)} | given
    return SummarizationMiddleware(writer, **settings)


def clearing(**given: Any) -> ContextEditingMiddleware:
    return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=200, **given)])


Middleware = Callable[[Recorder], list[Any]]
# What stands in the last input of a long conversation whose summarizer tells of no rule.
MATRIX: dict[str, tuple[Middleware, set[str]]] = {
    "nothing": (lambda _: [], set(CHANNELS)),
    "SummarizationMiddleware": (lambda writer: [summarizing(writer)], {"system"}),
    "SummarizationMiddleware, tokens": (
        lambda writer: [summarizing(writer, trigger=("tokens", 800), keep=("tokens", 300))],
        {"system"},
    ),
    # Without a trigger it never fires, whatever the length.
    "SummarizationMiddleware, no trigger": (
        lambda writer: [summarizing(writer, trigger=None)],
        set(CHANNELS),
    ),
    "ClearToolUsesEdit": (lambda _: [clearing()], {"system", "first user", "later user"}),
    "ClearToolUsesEdit, handbook excluded": (
        lambda _: [clearing(exclude_tools=["read_handbook"])],
        set(CHANNELS),
    ),
}


def pins() -> PinMiddleware:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return PinMiddleware(rules)


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    make, expected = MATRIX[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    agent = create_agent(
        model,
        tools=tools(),
        system_prompt=SYSTEM,
        middleware=[*make(writer), *([pins()] if pinned else [])],
        checkpointer=InMemorySaver(),
    )
    converse(agent, model)
    assert kept(model.said()) == expected
    # In every single input, and in none of the summarizer's.
    assert all(model.said(at).count(PINNED) == pinned for at in range(len(model.calls)))
    assert PINNED not in writer.ever()


def turns(agent: Any, model: Recorder) -> None:
    converse(agent, model, 15)


Shown = tuple[Callable[[Any, Recorder], None], dict[str, Any], set[str], bool]
WHOLE: dict[str, Any] = {"trim_tokens_to_summarize": None}
# Which rules a summarizer was shown, when 8000 tokens of conversation are summarised, and
# whether it was asked at all.
SHOWN: dict[str, Shown] = {
    "turns, default trimming": (turns, {}, set(), True),
    "turns, no trimming": (turns, WHOLE, {"first user", "later user", "tool"}, True),
    # The trimming begins at a request. After one request and a loop of tools there is none
    # in the last 4000 tokens, so nothing is left, and no summarizer is asked.
    "loop, default trimming": (loop, {}, set(), False),
    "loop, no trimming": (loop, WHOLE, {"first user", "tool"}, True),
}


@pytest.mark.parametrize("row", SHOWN)
def test_what_the_summarizer_is_shown(row: str) -> None:
    play, given, shown, asked = SHOWN[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    manager = summarizing(writer, trigger=("tokens", 8000), keep=("messages", 4), **given)
    agent = create_agent(
        model, tools=tools(100), middleware=[manager, pins()], checkpointer=InMemorySaver()
    )
    play(agent, model)
    assert bool(writer.calls) is asked
    assert kept(writer.ever()) == shown
    assert ("Previous conversation was too long to summarize." in model.said()) is not asked
    assert model.said().count(PinnedBlock(Registry(Principal("operator"))).heading) == 1
