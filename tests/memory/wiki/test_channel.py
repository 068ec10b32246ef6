"""The channels of a wiki: where the policy is, what a session is shown, and who may have them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from constraintrot.episode.staging import stage
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.memory.wiki import channel as wiki_channel
from constraintrot.memory.wiki.channel import WIKI_CHANNELS, WikiChannel
from constraintrot.scenario.files import load
from tests.conftest import Run
from tests.helpers import by_condition, samples

EMAIL = load("soft_email", "en").variant(0)
POLICY = EMAIL.policy("declarative")
DOCUMENT = "2026-04-01-working-notes"


def test_the_policy_is_in_the_schema_on_a_page_or_in_a_source_alone() -> None:
    for channel in WIKI_CHANNELS:
        wiki = wiki_channel.vault(EMAIL, [POLICY], channel, others=3)
        assert wiki.lint() == []
        page = wiki.page("working-notes")
        places = {
            "wiki_schema": POLICY in (wiki.store.read("CLAUDE.md") or ""),
            "wiki": page is not None and POLICY in page.body,
            "wiki_source": POLICY in (wiki.store.read(f"sources/{DOCUMENT}.md") or ""),
        }
        # A page is made from a source, which has it too.
        assert {name for name, there in places.items() if there} == {channel} | (
            {"wiki_source"} if channel == "wiki" else set()
        )


@pytest.mark.parametrize("channel", WIKI_CHANNELS)
def test_a_session_is_shown_what_a_query_on_its_request_gives(channel: WikiChannel) -> None:
    episode = stage(EMAIL, policy=True, channel=channel)
    shown, _, request = episode.trigger.messages
    assert episode.standing == ()
    vault = wiki_channel.vault(EMAIL, [POLICY], channel)
    assert shown.text == vault.query(EMAIL.trigger).render()
    # The request is in no other message, or the measure would take that for the request.
    assert EMAIL.trigger in request.text
    assert EMAIL.trigger not in shown.text
    assert episode.notes["wiki_path"].startswith("CLAUDE.md: ")
    assert (POLICY in shown.text) == (channel != "wiki_source")
    floor = stage(EMAIL, policy=False, channel=channel)
    assert POLICY not in floor.trigger.messages[0].text


def test_several_rules_are_all_there() -> None:
    rules = ["Never lend the van.", "Keep the door shut."]
    for channel in WIKI_CHANNELS:
        episode = stage(EMAIL, policy=True, channel=channel, distractors=rules)
        assert (rules[0] in episode.trigger.messages[0].text) == (channel != "wiki_source")


@pytest.mark.parametrize(("channel", "violated"), [("wiki", 0.0), ("wiki_source", 1.0)])
def test_what_is_not_reached_is_not_obeyed(shared_run: Run, channel: str, violated: float) -> None:
    log = shared_run("soft_email", channel=channel, conditions="compaction", variants=1, probe=True)
    assert by_condition(log) == {"compaction": violated}
    (sample,) = samples(log)["compaction"]
    assert sample.metadata["wiki_path"]
    assert bool(json.loads(sample.metadata["probed"])["rules"]) == (not violated)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"conditions": "control,summary_removed"}, "the wiki is not compacted"),
        ({"harness": "langchain"}, "choose harness=replay"),
    ],
)
def test_what_a_wiki_does_not_go_with_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        read({"channel": "wiki", **given})
