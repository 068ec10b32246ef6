"""LangChain's create_agent: what its context managers keep, and that the pin is kept."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from inspect_ai.model import Model, get_model
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver

import constraintrot.harnesses as harnesses
from constraintrot.defenses.frameworks.langchain import PinMiddleware
from constraintrot.defenses.pinning.pinned_block import Board
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from tests.conftest import Run
from tests.harnesses.episodes import compacted, failing, violated
from tests.harnesses.langchain_fakes import Recorder, converse, loop, tools
from tests.harnesses.live_agent import between_tool_calls, live_agent, model_events
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, SYSTEM, kept
from tests.helpers import answering, by_condition, samples


@pytest.mark.parametrize("arm", ["summarization", "no_trim"])
def test_a_summary_loses_the_policy_and_the_pin_keeps_it(run: Run, arm: str) -> None:
    log = run("soft_email", harness=f"langchain:{arm}", variants=1)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 1}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("langchain 1.")
    assert facts["summarizer_calls"] == 1
    assert facts["summary_voice"] == "user"
    assert facts["roles"] == ["system", *["user", "assistant"] * 2, "tool", "assistant", "user"]
    assert facts["roles_problem"] is None
    assert [shown["shown_verbatim"] for shown in facts["rounds_run"]] == [True]
    assert not violated(compacted(run, harness=f"langchain:{arm}", defense="pin"))


@pytest.mark.parametrize(("channel", "loses"), [("user", False), ("memory", False), ("tool", True)])
def test_clearing_of_tool_uses_loses_what_a_tool_said(run: Run, channel: str, loses: bool) -> None:
    given = {"harness": "langchain:clear_tools", "channel": channel}
    plain = compacted(run, **given)
    assert violated(plain) is loses
    assert plain.metadata["summarizer_calls"] == 0
    assert plain.metadata["dropped"] > 0
    assert not violated(compacted(run, defense="pin", **given))


@pytest.mark.parametrize("arm", ["summarization", "clear_tools"])
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
    sample = compacted(run, harness=f"langchain:{arm}", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


def test_the_default_trimming_hides_a_long_history_from_the_summarizer(run: Run) -> None:
    given = {"context_tokens": 4500}
    trimmed = compacted(run, harness="langchain", **given).metadata["rounds_run"]
    whole = compacted(run, harness="langchain:no_trim", **given).metadata["rounds_run"]
    assert [one["shown_verbatim"] for one in trimmed] == [False]
    assert [one["shown_verbatim"] for one in whole] == [True]


def test_the_summarizer_is_the_role_s(run: Run) -> None:
    keeps = get_model("scripted/summarizer-keep")
    sample = compacted(run, harness="langchain", model_roles={"summarizer": keeps})
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize(
    ("summarizer", "why"), [(failing, "is down"), (lambda: answering(" "), "wrote nothing")]
)
def test_a_summarizer_that_fails_is_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, summarizer: Callable[[], Model], why: str
) -> None:
    # LangChain tries three times, seconds apart.
    monkeypatch.setattr("tenacity.wait.wait_exponential_jitter.__call__", lambda *_: 0)
    log = run(
        "soft_email",
        harness="langchain",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": summarizer()},
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert why in sample.error.message


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given: dict[str, Any] = {"harness": "langchain:live", "exercised": 0}
    plain = compacted(run, **given, model_roles={"agent": live_agent()})
    assert between_tool_calls(plain)
    assert violated(plain)
    sample = compacted(run, **given, defense="pin", model_roles={"agent": live_agent()})
    assert between_tool_calls(sample)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


def test_arms_and_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="summarization, no_trim, clear_tools, live"):
        parse_harness("langchain:lossy")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[langchain\]'"):
        parse_harness("langchain")
    there = {"langchain": "2.1.0", "langgraph": "1.2.22"}
    monkeypatch.setattr(harnesses, "_version", there.__getitem__)
    with pytest.warns(UserWarning, match=r"langchain from 1\.4\.7 to below 2, and 2\.1\.0"):
        parse_harness("langchain")


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


# Which rules a summarizer was shown, when 8000 tokens of conversation are summarised.
SHOWN: list[tuple[str, dict[str, Any], Callable[[Any, Recorder], None], set[str], bool]] = [
    ("turns, default trimming", {}, lambda a, m: converse(a, m, 15), set(), True),
    (
        "turns, no trimming",
        {"trim_tokens_to_summarize": None},
        lambda a, m: converse(a, m, 15),
        {"first user", "later user", "tool"},
        True,
    ),
    # The trimming begins at a request. After one request and a loop of tools there is none
    # in the last 4000 tokens, so nothing is left, and no summarizer is asked.
    ("loop, default trimming", {}, loop, set(), False),
    ("loop, no trimming", {"trim_tokens_to_summarize": None}, loop, {"first user", "tool"}, True),
]


@pytest.mark.parametrize(("row", "given", "play", "shown", "asked"), SHOWN, ids=lambda v: str(v))
def test_what_the_summarizer_is_shown(
    row: str,
    given: dict[str, Any],
    play: Callable[[Any, Recorder], None],
    shown: set[str],
    asked: bool,
) -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    manager = summarizing(writer, trigger=("tokens", 8000), keep=("messages", 4), **given)
    agent = create_agent(
        model, tools=tools(100), middleware=[manager, pins()], checkpointer=InMemorySaver()
    )
    play(agent, model)
    assert bool(writer.calls) is asked
    assert kept(writer.ever()) == shown
    assert ("Previous conversation was too long to summarize." in model.said()) is not asked
    assert model.said().count(Board(Registry(Principal("operator"))).heading) == 1
