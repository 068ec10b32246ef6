"""LangMem's SummarizationNode: what its summarizer sees, and where it never summarises."""

from typing import Any

import pytest
from inspect_ai.log import EvalSample
from langchain_core.messages import HumanMessage, SystemMessage

from tests.conftest import Run
from tests.harnesses.episodes import compacted, error, kept_by_summarizer, violated
from tests.harnesses.langchain_fakes import Recorder, converse, say
from tests.harnesses.langmem_fakes import HEADROOM, THREAD, agent_of
from tests.harnesses.rules import FIRST_USER, LOSSY, PINNED, registry


def shown(sample: EvalSample) -> list[bool]:
    """Whether the policy stood in what the summarizer was shown, call by call."""
    return [one["shown_verbatim"] for one in sample.metadata["rounds_run"]]


@pytest.mark.parametrize("channel", ["user", "tool"])
def test_by_default_the_first_turns_are_gone_before_the_summarizer_sees_them(
    shared_run: Run, channel: str
) -> None:
    lost = kept_by_summarizer(shared_run, "langmem:default", channel)
    assert shown(lost) == [False]
    assert violated(lost)
    seen = kept_by_summarizer(shared_run, "langmem:headroom", channel)
    assert shown(seen) == [True]
    assert not violated(seen)


@pytest.mark.parametrize("attack", ["inject_deprecation", "volume:position=recent,size=400"])
def test_the_room_for_the_summarizer_leaves_one_call_under_attack(run: Run, attack: str) -> None:
    sample = compacted(run, harness="langmem:headroom", defense="pin", attack=attack)
    assert sample.metadata["summarizer_calls"] == 1
    assert not violated(sample)


@pytest.mark.filterwarnings("ignore:Failed to trim messages:RuntimeWarning")
def test_bulk_right_before_the_request_is_summarised_with_all_before_it(run: Run) -> None:
    # One result above the limit: no request stands within the last max_tokens, and
    # LangMem falls back to showing everything.
    given = {"harness": "langmem", "attack": "volume:position=recent"}
    sample = compacted(run, **given)
    assert shown(sample) == [True]
    assert sample.metadata["roles"] == ["system", "system", "assistant", "user"]


def test_where_langmem_would_never_summarise_the_sample_says_so(run: Run) -> None:
    why = error(run, harness="langmem", channel="system", distractors=50)
    assert "LangMem never summarises where the system message" in why


# The node by itself.


def test_a_request_that_reaches_the_limit_is_summarised_itself() -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent_of(model, writer, registry(PINNED), **HEADROOM)
    say(compiled, model, "Read this: " + "work " * 600)
    assert [message.type for message in model.calls[-1]] == ["system"]
    # Without a system message of one's own, the pin stands behind the summary.
    assert LOSSY in model.said()
    assert model.said().count(PINNED) == 1


def test_a_long_system_message_keeps_langmem_from_ever_summarising() -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent_of(model, writer)
    first: Any = {"messages": [SystemMessage("Be brief. " * 300), HumanMessage("Hello")]}
    compiled.invoke(first, THREAD)
    converse(compiled, model)
    assert not writer.calls
    assert FIRST_USER in model.said()
