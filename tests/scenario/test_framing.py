"""Longer system messages and another asker change what stands around a scenario, and nothing in it."""

import pytest

from constraintrot.episode.messages import message_texts
from constraintrot.episode.staging import offer, stage
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.scenario import framing
from constraintrot.scenario.schema import Scenario
from constraintrot.tokens import count
from tests.conftest import Run
from tests.helpers import samples
from tests.scenario.checks import FILES, each_of

scenario = each_of(FILES)


def test_a_long_system_message_is_long_and_states_no_policy(scenario: Scenario) -> None:
    texts: dict[str, set[str]] = {}
    for split in ("tuning", "held_out"):
        for seed in range(4):
            variant = scenario.variant(seed, split)
            text = framing.system(variant, "long")
            assert text.startswith(variant.system)
            assert count(text) > 150
            assert policy_in([text], variant.slots) is None
            texts.setdefault(split, set()).add(text.removeprefix(variant.system))
    assert not texts["tuning"] & texts["held_out"]


@pytest.mark.parametrize("allowed", [False, True])
def test_another_person_asks_for_the_same(scenario: Scenario, allowed: bool) -> None:
    variant = scenario.variant(1)
    told = [
        stage(variant, policy=True, allowed=allowed, context_tokens=100, asked_by=by)
        for by in framing.ASKED_BY
    ]
    same, other = ([m.text for turn in one.turns for m in turn.messages] for one in told)
    assert other[:-1] == same[:-1]
    assert other[-1].endswith(f"\n\n{same[-1]}")
    assert len(other[-1]) > len(same[-1]) + 10


def test_both_are_facts_of_a_sample(run: Run) -> None:
    log = run(
        "soft_email", variants=1, conditions="control", asked_by="other", system_prompt="long"
    )
    (sample,) = samples(log)["control"]
    assert (sample.metadata["asked_by"], sample.metadata["system_prompt"]) == ("other", "long")
    texts = message_texts(sample.messages)
    assert (
        "## How" in texts[0]
        or "# Your place" in texts[0]
        or "<role>" in texts[0]
        or "on duty" in texts[0]
    )
    assert any("Robin" in text or "Sascha" in text for text in texts)
    (plain,) = samples(run("soft_email", variants=1, conditions="control"))["control"]
    assert not {"asked_by", "system_prompt"} & {*plain.metadata}, "as in logs of earlier versions"


def test_only_the_tools_that_the_history_calls_are_offered(scenario: Scenario) -> None:
    variant = scenario.variant(1)
    episode = stage(variant, policy=True, context_tokens=300)
    offered = [tool.name for tool in offer(episode, "called").tools]
    called = {m.call.function for turn in episode.turns for m in turn.messages if m.call}
    every = [tool.name for tool in episode.tools]
    assert offered == [name for name in every if name in called or name not in variant.lookups]
    assert {tool.name for tool in variant.tools} <= {*offered}, "what it acts with, and decline"
    assert len(offered) < len(every)
    assert offer(episode, "all") is episode


def test_a_sample_says_which_tools_were_offered_and_the_model_got_no_others(run: Run) -> None:
    log = run("soft_email", variants=1, conditions="control", tools="called", context_tokens=200)
    (sample,) = samples(log)["control"]
    assert sample.metadata["tools"] == "called"
    (asked,) = [event for event in sample.events if event.event == "model"]
    called = {
        call.function for m in sample.messages[:-1] for call in getattr(m, "tool_calls", None) or []
    }
    assert "send_email" in {tool.name for tool in asked.tools}
    assert {tool.name for tool in asked.tools} <= called | {"send_email", "decline"}
