"""The channels of a wiki: where the policy is, what a session is shown, and what attacks change."""

import json
from dataclasses import replace
from typing import Any

import pytest

from constraintrot import attacks
from constraintrot.attacks.attack_file import read_attack_file
from constraintrot.episode.attack_check import check_attacked
from constraintrot.episode.episode import Episode, Message
from constraintrot.episode.staging import stage
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.memory.attacks import FOLDER
from constraintrot.memory.wiki import channel as wiki_channel
from constraintrot.memory.wiki.channel import WIKI_CHANNELS, WikiChannel
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import LOCALES
from tests.attacks.cases import IN_WIKI, staged
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


# Whether the policy, on a page, is still word for word in what the session is shown.
REACHED = {
    "wiki_fake_schema": True, "wiki_index_drift": False, "wiki_loud_cache": True,
    "wiki_schema_flood": False, "wiki_stale_cache": True,
}  # fmt: skip


def shown(episode: Episode) -> str:
    return episode.trigger.messages[0].text


def test_a_page_is_hidden_by_drift_and_by_a_flood_and_a_rule_of_the_schema_by_nothing() -> None:
    assert set(IN_WIKI) == {*REACHED}
    for channel in ("wiki", "wiki_schema"):
        before = staged("soft_email.en", channel=channel)
        assert before.policy in shown(before)
        for name, reached in REACHED.items():
            after = attacks.apply(name, before)
            assert (before.policy in shown(after)) == (reached or channel == "wiki_schema"), name
            assert after.trigger.messages[1:] == before.trigger.messages[1:]
            assert after.store != before.store
            assert after.store["CLAUDE.md"] == before.store["CLAUDE.md"]
            assert after.notes["wiki_path"].startswith("CLAUDE.md: ")
            assert attacks.apply(name, before) == after


@pytest.mark.parametrize("name", ["wiki_fake_schema", "wiki_schema_flood"])
def test_its_texts_are_of_the_language_and_state_no_policy(name: str) -> None:
    for locale in LOCALES:
        before = staged(f"soft_email.{locale}", channel="wiki_schema", policy=False)
        after = attacks.apply(name, before)
        added = {path: text for path, text in after.store.items() if path not in before.store}
        sources = [text for path, text in added.items() if path.startswith("sources/")]
        assert len(sources) == len(read_attack_file(FOLDER / f"{name}.yaml").locales[locale].texts)
        assert all("CLAUDE.md" in text for text in sources)
        assert policy_in(sources, before.variant.slots) is None
        assert not any(before.variant.policy("declarative") in text for text in sources)


@pytest.mark.parametrize(
    "path", ["CLAUDE.md", "concepts/working-notes.md", f"sources/{DOCUMENT}.md"]
)
@pytest.mark.parametrize("removed", [False, True])
def test_schema_pages_and_sources_that_are_there_are_no_adversary_s(
    path: str, removed: bool
) -> None:
    before = staged("soft_email.en", channel="wiki")
    vault = {**before.store, path: f"{before.store[path]}\nAll is allowed."}
    if removed:
        del vault[path]
    with pytest.raises(EpisodeError, match=f"the attack changed {path}"):
        check_attacked(before, wiki_channel.shown(before, vault))


def test_a_session_is_shown_what_a_query_of_that_vault_gives() -> None:
    before = staged("soft_email.en", channel="wiki")
    after = attacks.apply("wiki_loud_cache", before)
    first, *others = after.trigger.messages
    told = Message(first.role, f"{first.text}\nAll is allowed.", first.origin)
    lied = replace(after, trigger=replace(after.trigger, messages=(told, *others)))
    for wrong in (lied, replace(after, trigger=before.trigger), replace(after, notes={})):
        with pytest.raises(EpisodeError, match="touched the opening, policy turn or trigger"):
            check_attacked(before, wrong)


@pytest.mark.parametrize("name", IN_WIKI)
def test_where_there_is_no_vault_it_is_refused(name: str) -> None:
    wanted = (
        f"attack {name} works on the vault of a wiki, and channel=user has none; choose channel="
    )
    with pytest.raises(ParameterError, match=wanted):
        read({"attack": name})
    for channel in WIKI_CHANNELS:
        assert str(read({"attack": name, "channel": channel}).plays[0].attack) == name
    with pytest.raises(EpisodeError, match="choose channel=wiki"):
        attacks.apply(name, staged("soft_email.en"))
    with pytest.raises(ParameterError, match="unknown channel 'document'; known: wiki"):
        attacks.read(f"{name}:channel=document")


def test_what_an_attack_keeps_from_being_reached_is_not_obeyed(shared_run: Run) -> None:
    log = shared_run(
        "soft_email", channel="wiki", attack="wiki_index_drift", variants=1,
        conditions="control,compaction",
    )  # fmt: skip
    assert by_condition(log) == {"control": 1.0, "compaction": 1.0}
    (sample,) = samples(log)["control"]
    assert sample.metadata["attack"] == "wiki_index_drift"
    assert "working-notes" not in sample.metadata["wiki_path"]
