"""deepagents' create_deep_agent: what is particular to its summarization, files and tools."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Run
from tests.harnesses.deepagents_fakes import agent_of, summarizing
from tests.harnesses.episodes import usual
from tests.harnesses.langchain_fakes import Recorder, calling, converse, loop, say, turns
from tests.harnesses.live_agent import model_events
from tests.harnesses.rules import CHANNELS, FIRST_USER, LOSSY, PINNED, kept, registry
from tests.helpers import samples

OWN_TOOLS = {"ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "task"}


def test_the_model_is_offered_the_framework_s_tools_and_told_of_its_file(shared_run: Run) -> None:
    (sample,) = samples(usual(shared_run, "deepagents:summarization"))["compaction"]
    last = model_events(sample)[-1]
    assert {tool.name for tool in last.tools} > OWN_TOOLS
    assert "/conversation_history/session_" in last.input[1].text


def test_an_episode_may_offer_a_tool_of_the_framework_s_name(run: Run) -> None:
    log = run("hard_secret", harness="deepagents", variants=1, conditions="compaction")
    (sample,) = samples(log)["compaction"]
    (own,) = [tool for tool in model_events(sample)[-1].tools if tool.name == "read_file"]
    assert "offset" not in own.parameters.properties


def test_what_is_evicted_lies_in_a_file_that_the_model_can_read() -> None:
    model = Recorder()
    agent = agent_of(model, [summarizing(Recorder(reply=LOSSY))])
    converse(agent, model)
    assert kept(model.said()) == {"system"}
    state = agent.get_state({"configurable": {"thread_id": "1"}}).values
    assert FIRST_USER in str(state["messages"])
    (path,) = set(re.findall(r"/conversation_history/\w+\.md", model.said()))
    say(agent, model, "What were the rules?", calling("read_file", "r", file_path=path))
    assert kept(model.said()) == set(CHANNELS)


# The constructor trims what a summarizer is shown to the last 4000 tokens; what
# create_deep_agent makes does not. The agent's own instructions are never shown.
TRIMMED: dict[str, Any] = {"trim_tokens_to_summarize": 4000}
SHOWN: dict[str, tuple[Callable[[Any, Recorder], None], dict[str, Any], set[str]]] = {
    "loop": (loop, {}, {"first user", "tool"}),
    "loop, trimmed": (loop, TRIMMED, set()),
    "turns": (turns, {}, {"first user", "later user", "tool"}),
    "turns, trimmed": (turns, TRIMMED, set()),
}


@pytest.mark.parametrize("row", SHOWN)
def test_what_the_summarizer_is_shown(row: str) -> None:
    play, given, shown = SHOWN[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    manager = summarizing(writer, trigger=("tokens", 10_000), keep=("messages", 4), **given)
    agent = agent_of(model, [manager], registry(PINNED), length=100)
    play(agent, model)
    assert kept(writer.ever()) == shown
    # After one request and a loop of tools, the trimming leaves nothing to ask a summarizer about.
    unasked = row == "loop, trimmed"
    assert bool(writer.calls) is not unasked
    assert ("Previous conversation was too long to summarize." in model.said()) is unasked
    assert PINNED in model.said()
