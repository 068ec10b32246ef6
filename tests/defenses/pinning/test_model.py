"""PinnedModel and pin_filter: an agent has the policy in the input of its every call."""

from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import Agent, AgentState, agent, agent_bridge, react
from inspect_ai.dataset import Sample
from inspect_ai.event import InfoEvent
from inspect_ai.model import CompactionSummary, GenerateConfig, Model
from inspect_ai.tool import Tool, tool
from openai import AsyncOpenAI

from constraintrot.defenses.pinning import PinnedCompaction, PinnedModel, pin_filter
from tests.defenses.pinning.conversation import Forgetting, Merging, rules, whole


@tool
def look() -> Tool:
    async def execute(at: str) -> str:
        """Look at something.

        Args:
            at: what.
        """
        return "a long result " * 40

    return execute


@pytest.mark.parametrize("merges", [False, True])
def test_a_react_agent_has_the_policy_in_every_input(merges: bool, tmp_path: Any) -> None:
    api = Merging(merges, calls=12)
    registry = rules()
    strategy = PinnedCompaction(CompactionSummary(threshold=700), registry)
    task = Task(
        dataset=[Sample(input="Do some work.")],
        solver=react(tools=[look()], model=PinnedModel(registry), compaction=strategy),
    )
    model = Model(api, GenerateConfig())
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert log.samples is not None
    events = [e for e in log.samples[0].events if isinstance(e, InfoEvent)]
    receipts = [e.data for e in events if e.source == "pin receipt" and isinstance(e.data, dict)]
    compactions = [r for r in receipts if r["where"] == "compaction"]
    assert len(compactions) >= 3, "compaction has to fire between real tool calls, several times"
    assert {r["state"] for r in receipts if r["where"] == "call"} == {"injected", "verified"}
    assert len(api.seen) == len([r for r in receipts if r["where"] == "call"]) == 13
    for sent in api.seen:
        assert whole(sent).count(strategy.pins.text) == 1
        assert whole(sent).count("Do some work.") == 1
    # A summarizer is not told the pins as its own rules.
    summaries = [sent for sent in api.inputs if sent not in api.seen]
    assert len(summaries) == len(compactions)
    assert not any(strategy.pins.text in whole(sent) for sent in summaries)


def test_an_agent_over_the_bridge_keeps_the_policy(tmp_path: Any) -> None:
    @agent
    def foreign(strategy: PinnedCompaction) -> Agent:
        async def execute(state: AgentState) -> AgentState:
            check = pin_filter(strategy.pins.registry)
            async with agent_bridge(state, compaction=strategy, filter=check) as bridge:
                client = AsyncOpenAI(api_key="none")
                said: list[Any] = [{"role": "system", "content": "You are an agent."}]
                for number in range(8):
                    said.append({"role": "user", "content": f"step {number} " + "words " * 150})
                    answer = await client.chat.completions.create(model="inspect", messages=said)
                    said.append({"role": "assistant", "content": answer.choices[0].message.content})
                return bridge.state

        return execute

    api = Merging(True)
    strategy = PinnedCompaction(Forgetting(threshold=900), rules())
    task = Task(dataset=[Sample(input="Work.")], solver=foreign(strategy))
    (log,) = eval(task, model=Model(api, GenerateConfig()), log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    inputs = api.inputs
    assert len(inputs) == 8
    assert [whole(sent).count(strategy.pins.text) for sent in inputs] == [1] * 8
    assert "step 0" not in whole(inputs[-1])
