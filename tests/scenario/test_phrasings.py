"""Requests and policies in many phrasings: apart by split, distinct by seed, without giveaways."""

import re
from itertools import chain
from pathlib import Path

import pytest
import yaml

from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.grading.verdict import grade
from constraintrot.scenario import private
from constraintrot.scenario.files import APART, FOLDER, load, locales, sampled
from constraintrot.scenario.schema import WORDINGS, Scenario
from constraintrot.scenario.splits import SPLITS, TEXTS, Split, place, places
from constraintrot.tasks.catalogue import FAMILIES
from tests.scenario.checks import FILES, each_of

scenario = each_of(FILES)
SEEDS = range(61)
PUBLIC: tuple[Split, ...] = ("held_out", "tuning", "all")


@pytest.fixture(autouse=True)
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, "phrasings in the tests")


def policies(scenario: Scenario) -> list[str]:
    return [text for wording in WORDINGS for text in scenario.policy[wording]]


def test_there_are_phrasings_enough_on_both_sides(scenario: Scenario) -> None:
    assert len(scenario.trigger) >= 8
    assert len(set(scenario.trigger)) == len(scenario.trigger)
    assert len(set(policies(scenario))) == len(policies(scenario)) >= 8
    for wording in WORDINGS:
        assert len(scenario.neutral[wording]) == len(scenario.policy[wording])
    assert len(scenario.exercise) >= 4
    for split in ("tuning", "held_out"):
        assert len(places(len(scenario.trigger), split)) >= 4
        assert all(places(len(scenario.policy[wording]), split) for wording in WORDINGS)


@pytest.mark.parametrize("split", ["tuning", "held_out"])
def test_the_paper_s_families_say_their_policy_in_eight_ways_a_split(
    scenario: Scenario, split: Split
) -> None:
    if scenario.family not in FAMILIES:
        pytest.skip("not of the paper's nine")
    said = [scenario.variant(seed, split).policy("declarative") for seed in range(64)]
    templates = scenario.policy["declarative"]
    assert len({templates[at] for at in places(len(templates), split)}) == 8
    assert len(set(said[:8])) == 8, "each seed has the next one"
    asked = [scenario.variant(seed, split).phrasing for seed in range(64)]
    at = [next(i for i, t in enumerate(templates) if _alike(t, text)) for text in said]
    assert len(set(zip(at, asked, strict=True))) >= 24, "policies and requests meet in many pairs"


def test_sixteen_seeds_of_an_english_family_meet_sixteen_sentences_in_four_wordings(
    scenario: Scenario,
) -> None:
    if scenario.family not in FAMILIES or scenario.locale != "en":
        pytest.skip("not of the paper's nine, in English")
    assert all(len(scenario.policy[wording]) >= 8 for wording in WORDINGS)
    for split in PUBLIC[:2]:
        variants = [scenario.variant(seed, split) for seed in range(16)]
        wordings = [WORDINGS[variant.seed % 4] for variant in variants]
        pairs = list(zip(variants, wordings, strict=True))
        assert len({(wording, one.policy_phrasing(wording)) for one, wording in pairs}) == 16
        assert len({one.policy(wording) for one, wording in pairs}) == 16


def _alike(template: str, text: str) -> bool:
    return all(part in text for part in re.split(r"\{\{.*?\}\}", template))


def test_what_is_tuned_on_is_not_what_is_measured_on(scenario: Scenario) -> None:
    said: dict[str, set[str]] = {}
    for split in ("tuning", "held_out"):
        variants = [scenario.variant(seed, split) for seed in SEEDS]
        said[split] = {str(variant.phrasing) for variant in variants}
        for wording in WORDINGS:
            said[split] |= {variant.policy(wording) for variant in variants}
    assert not said["tuning"] & said["held_out"]


@pytest.mark.parametrize("split", SPLITS)
def test_consecutive_seeds_ask_distinct_requests(scenario: Scenario, split: Split) -> None:
    assert len({scenario.variant(seed, split).request() for seed in SEEDS}) >= 30


@pytest.mark.parametrize("split", PUBLIC)
def test_consecutive_seeds_go_through_all_phrasings(scenario: Scenario, split: Split) -> None:
    held = places(len(scenario.trigger), split)
    assert {scenario.variant(seed, split).phrasing for seed in range(3 * len(held))} == set(held)
    for wording in WORDINGS:
        texts = scenario.policy[wording]
        found = {
            scenario.variant(seed, split).policy(wording).split(" ")[-1]
            for seed in range(len(held) * len(texts))
        }
        assert len(found) >= len({texts[at].split(" ")[-1] for at in places(len(texts), split)})


def test_a_request_s_name_is_its_text_s() -> None:
    one, other = load("soft_email").variant(0), load("soft_email").variant(4)
    assert one.request() == load("soft_email").variant(0).request() != other.request()
    assert one.request(allowed=True) != one.request()
    assert re.fullmatch("r[0-9a-f]{11}", one.request())


@pytest.mark.parametrize(
    ("count", "split", "found"),
    [
        (8, "tuning", [0, 2, 4, 6]),
        (8, "held_out", [1, 3, 5, 7]),
        (3, "held_out", [1]),
        (3, "all", [0, 1, 2]),
    ],
)
def test_even_places_are_for_tuning(count: int, split: Split, found: list[int]) -> None:
    assert list(places(count, split)) == found
    assert [place(count, split, at) for at in range(len(found) + 1)] == [*found, found[0]]


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown split 'test'; known: held_out, tuning, all"):
        read({"split": "test"})
    assert read({}).split == "held_out"


def test_a_request_has_a_permitted_twin_in_each_phrasing() -> None:
    email = load("soft_email").model_dump()
    allowed = email["allowed"] | {"trigger": ["One."] * 9}
    with pytest.raises(ValueError, match=r"allowed\.trigger has 9 phrasings, and trigger.* 8"):
        Scenario.model_validate(email | {"allowed": allowed})


def test_a_file_of_somebody_else_may_say_a_thing_in_one_way() -> None:
    email = load("soft_email").model_dump()
    told = email | {
        "trigger": email["trigger"][0],
        "allowed": email["allowed"] | {"trigger": email["allowed"]["trigger"][0]},
        "policy": {wording: texts[0] for wording, texts in email["policy"].items()},
        "exercise": [],
        "private": None,
    }
    scenario = Scenario.model_validate(told)
    assert {scenario.variant(4, split).trigger for split in PUBLIC} == {scenario.variant(4).trigger}
    assert scenario.variant(1).policy("reminder")
    assert scenario.variant(1).exercise(2) == []
    with pytest.raises(ValueError, match="at least 1 item"):
        Scenario.model_validate(told | {"trigger": []})


def test_a_sample_of_an_earlier_version_has_the_policy_that_it_was_played_with() -> None:
    """Its seed had the only declarative phrasing of its split."""
    facts = {"family": "soft_email", "locale": "en", "seed": 5, "split": "held_out"}
    first = load("soft_email").policy.declarative[1]
    assert _alike(first, sampled(facts).policy("declarative"))
    now = load("soft_email").variant(5)
    again = sampled({**facts, "policy_phrasing": now.policy_phrasing("declarative"), "texts": 3})
    assert again.policy("declarative") == now.policy("declarative")
    assert not _alike(first, now.policy("declarative"))
    assert sampled(facts).phrasing == now.phrasing


@pytest.mark.parametrize("split", ["held_out", "private"])
def test_a_sample_from_before_the_wordings_grew_has_the_text_that_it_was_played_with(
    split: str,
) -> None:
    told = {"family": "soft_email", "locale": "en", "split": split, "policy_phrasing": 1}
    email = load("soft_email")
    for wording in WORDINGS[1:]:
        before = [sampled({**told, "seed": seed, "texts": 3}).policy(wording) for seed in range(8)]
        assert all(any(_alike(text, said) for text in email.policy[wording][:2]) for said in before)
        now = [sampled({**told, "seed": seed, "texts": 4}).policy(wording) for seed in range(8)]
        assert any(not _alike(text, said) for text in email.policy[wording][:2] for said in now)


# Top-level domains that nobody's mail has; they tell a model that the text is made up.
_UNREAL = re.compile(r"\w\.(test|internal|invalid|local|example(?!\.(com|net|org)))\b")
_FILES = sorted(chain(FOLDER.glob("*.yaml"), APART.glob("*.yaml")))


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_no_text_names_a_host_of_a_top_level_domain_that_does_not_exist(path: Path) -> None:
    read = {**yaml.safe_load(path.read_text(encoding="utf-8")), "renamed": {}}
    assert not _UNREAL.findall(str(read))
    assert _UNREAL.search("calder.test")
    assert not _UNREAL.search("calder.example.com, the test")


@pytest.mark.parametrize("locale", locales("soft_email"))
def test_a_log_from_before_the_hosts_moved_is_graded_by_the_host_that_it_was_played_with(
    locale: str,
) -> None:
    if not load("soft_email", locale).renamed:
        pytest.skip("a locale whose hosts never moved")
    each = [
        {"family": "soft_email", "locale": locale, "seed": seed, "policy_phrasing": 3}
        for seed in range(30)
    ]
    pairs = [(sampled(facts), sampled({**facts, "texts": TEXTS})) for facts in each]
    before, now = next(two for two in pairs if two[0].values["domain"] != two[1].values["domain"])
    host, today = before.values["domain"], now.values["domain"]
    assert now.scenario.renamed[str(today)] == host
    to = {"to": f"someone@{host}", "subject": "x", "body": "y"}
    call = {"function": "send_email", "arguments": to}
    assert grade(before, [call]).violation == 0
    assert grade(now, [call]).violation == 1


def test_a_private_sample_from_before_the_hosts_moved_keeps_its_values() -> None:
    email = load("soft_email")
    before = [email.variant(seed, "private", texts=2).values for seed in range(8)]
    now = [email.variant(seed, "private").values for seed in range(8)]
    assert any(_UNREAL.search(str(one)) for one in before)
    assert not any(_UNREAL.search(str(one)) for one in now)
    for old, new in zip(before, now, strict=True):
        assert old["org"] == new["org"]
