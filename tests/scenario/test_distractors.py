"""Rules that a policy may stand among without anything else being measured."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.compaction.deletion import policy_spans
from constraintrot.episode.staging import stage
from constraintrot.errors import ParameterError, ScenarioError
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.models.scripted.request_parser import any_policy_in, open_slots
from constraintrot.rule_text import clauses as splitting
from constraintrot.rule_text.survival import best_window, mentions, sentences
from constraintrot.scenario import distractors as module
from constraintrot.scenario.distractors import FOLDER, MAX_DISTRACTORS, distractors, rules
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import (
    CANARY,
    LOCALES,
    MESSAGE_CHANNELS,
    WORDINGS,
    Locale,
    Scenario,
)
from tests.conftest import Run
from tests.helpers import by_condition, first, samples
from tests.scenario.checks import PUBLISHED, each_of

SEEDS = range(12)
EACH = first(2, of=12)
scenario = each_of(PUBLISHED)


def listed(texts: tuple[str, ...], *more: str) -> str:
    """Rules as they stand in an episode, with more of them in the middle."""
    half = len(texts) // 2
    return "\n".join(f"- {text}" for text in (*texts[:half], *more, *texts[half:]))


def test_every_locale_has_the_same_fifty_topics() -> None:
    topics = [list(rules(locale)) for locale in LOCALES]
    assert {len(found) for found in topics} == {MAX_DISTRACTORS}
    assert len({tuple(sorted(found)) for found in topics}) == 1
    for locale in LOCALES:
        assert len(set(rules(locale).values())) == MAX_DISTRACTORS
        lines = (FOLDER / f"{locale}.yaml").read_text(encoding="utf-8").splitlines()
        assert f"canary: {CANARY}" in lines


@pytest.mark.parametrize("locale", LOCALES)
def test_rules_are_as_long_as_policies(locale: Locale) -> None:
    policies = [
        len(load(family, locale).variant(seed).policy(wording))
        for family, locales in catalogue().items()
        if locale in locales
        for seed in SEEDS
        for wording in WORDINGS
    ]
    for text in distractors(load("soft_email", locale).variant(0), MAX_DISTRACTORS):
        assert min(policies) <= len(text) <= max(policies), text
        assert "{{" not in text


@given(
    file=st.sampled_from(PUBLISHED), seed=st.integers(0, 500), count=st.integers(0, MAX_DISTRACTORS)
)
def test_fewer_rules_are_the_start_of_more(file: str, seed: int, count: int) -> None:
    scenario = load(*file.split("."))
    found = distractors(scenario.variant(seed), count)
    assert len(set(found)) == count
    assert found == distractors(scenario.variant(seed), MAX_DISTRACTORS)[:count]


def test_a_seed_gives_the_same_topics_in_each_locale_and_other_seeds_others() -> None:
    def topics(locale: Locale, seed: int) -> list[str]:
        variant = load("soft_spend", locale).variant(seed)
        by_text = {
            text.replace("{{org}}", str(variant.values["org"])): topic
            for topic, text in rules(locale).items()
        }
        return [by_text[text] for text in distractors(variant, 15)]

    assert topics("en", 3) == topics("zh", 3) == topics("es", 3) == topics("de", 3)
    assert len({tuple(topics("en", seed)) for seed in range(20)}) == 20


def test_no_sentence_of_a_rule_speaks_of_what_a_policy_is_about(scenario: Scenario) -> None:
    """Only the words that forbid are shared, so nothing is taken for a part of a policy."""
    slots = open_slots(scenario, {})
    assert "negation" in slots
    for text in distractors(scenario.variant(0), MAX_DISTRACTORS):
        for sentence in sentences(text):
            assert best_window(sentence, slots) <= {"negation"}, sentence


@EACH
def test_without_the_policy_nothing_is_kept_and_nothing_recognised(
    scenario: Scenario, seeds: range
) -> None:
    for seed in seeds:
        variant = scenario.variant(seed)
        found = distractors(variant, MAX_DISTRACTORS)
        for wording in WORDINGS:
            for texts in ([listed(found)], found, [" ".join(found)]):
                assert not mentions(texts, variant.policy(wording), variant.slots).kept
        assert policy_in([listed(found)], variant.slots) is None
        assert seed or any_policy_in([listed(found)]) == []


@first(1, of=4)
def test_among_the_rules_the_policy_is_found_and_only_it_is_removed(
    scenario: Scenario, seeds: range
) -> None:
    for seed in seeds:
        variant = scenario.variant(seed)
        found = distractors(variant, MAX_DISTRACTORS)
        for wording in WORDINGS:
            policy = variant.policy(wording)
            text = listed(found, policy)
            assert mentions([text], policy, variant.slots).verbatim
            statement = policy_in([text], variant.slots)
            assert statement is not None
            # A neighbour's "never" may end a run, but what the run is about is the policy's.
            assert any(part.strip() in statement for part in sentences(policy))
            parts = splitting.clauses(text)
            left = splitting.cut(
                text, parts, splitting.overlapping(parts, policy_spans(text, variant))
            )
            assert all(rule in left for rule in found)
            assert not mentions([left], policy, variant.slots).kept


@pytest.mark.parametrize("count", [-1, MAX_DISTRACTORS + 1])
def test_a_count_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(ParameterError, match="distractors must be 0 to 50, not"):
        distractors(load("soft_email").variant(0), count)


def cut(text: str) -> str:
    return "\n".join(text.splitlines()[:-1])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "holds 49 rules, and it must be 50"),
        (lambda text: text.replace("canary: ", "canary: x"), "canary"),
        (lambda text: text.replace("rules:", "rules: ["), "no file of distractors"),
        (None, "No such file"),
    ],
)
def test_a_wrong_file_is_refused_with_its_fault(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[str], str] | None,
    says: str,
) -> None:
    if spoil is not None:
        text = (FOLDER / "en.yaml").read_text(encoding="utf-8")
        (tmp_path / "en.yaml").write_text(spoil(text), encoding="utf-8")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(ScenarioError, match=says) as raised:
        rules.__wrapped__("en")
    assert "en.yaml" in str(raised.value)


@pytest.mark.parametrize("channel", MESSAGE_CHANNELS)
def test_the_policy_stands_in_their_middle_in_every_channel(channel: str) -> None:
    variant = load("soft_deploy").variant(1)
    found = distractors(variant, 15)
    episode = stage(variant, policy=True, channel=channel, distractors=found)
    assert episode.declared == (*found[:7], variant.policy("declarative"), *found[7:])
    texts = [m.text for turn in (episode.opening, *episode.standing) for m in turn.messages]
    (holding,) = [text for text in texts if variant.policy("declarative") in text]
    assert listed(found, variant.policy("declarative")) in holding


def test_every_task_takes_them_and_shows_what_it_showed_without(run: Run) -> None:
    log = run("suite", variants=1, distractors=50, conditions="floor,control,compaction")
    assert log.status == "success"
    assert by_condition(log) == {"floor": 1.0, "control": 0.0, "compaction": 1.0}
    kept = by_condition(log, "survival")
    assert (kept["floor survived"], kept["control survived"], kept["compaction survived"]) == (
        0.0,
        1.0,
        0.0,
    )
    for sample in samples(log)["control"]:
        assert sample.metadata["distractors"] == 50
        variant = load(sample.metadata["family"]).variant(0)
        texts = [message.text for message in sample.messages]
        assert listed(distractors(variant, 50), variant.policy("declarative")) in texts
    roles = {"summarizer": "scripted/summarizer-keep"}
    kept_by = run(
        "soft_spend", variants=1, distractors=15, conditions="compaction", model_roles=roles
    )
    assert by_condition(kept_by) == {"compaction": 0.0}


def test_an_obedient_agent_still_does_every_allowed_task(run: Run) -> None:
    log = run("utility", variants=1, distractors=50, conditions="floor,control")
    assert by_condition(log, "utility") == {"floor": 1.0, "control": 1.0}


def test_a_memory_s_list_takes_the_rules_in_as_its_own_entries() -> None:
    variant = load("soft_email", "en").variant(0)
    found = distractors(variant, 15)
    episode = stage(variant, policy=True, channel="memory", distractors=found)
    text = episode.standing[0].messages[0].text
    assert "- - " not in text
    for rule in episode.declared:
        assert f"- {rule}" in text.splitlines()
