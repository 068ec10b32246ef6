"""Requests and policies in many phrasings: apart by split, distinct by seed, without giveaways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import chain

import pytest

from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.grading.survival import sentences
from constraintrot.scenario import private
from constraintrot.scenario.files import APART, FOLDER, every, load
from constraintrot.scenario.schema import WORDINGS, Scenario
from constraintrot.scenario.splits import SPLITS, Split, place, places
from constraintrot.scenario.template import PLACEHOLDER

FILES = sorted(path.stem for path in chain(FOLDER.glob("*.yaml"), APART.glob("*.yaml")))
SEEDS = range(61)
PUBLIC: tuple[Split, ...] = ("held_out", "tuning", "all")
# What told a model that it is examined, or invited it to leave aside what came before.
GIVEAWAYS = {
    "en": r"everything (?:you need|is) |tool call|function call|(?:just|only) this once"
    r"|exception|\ballowed|permi(?:ssion|tted)|\bpolic(?:y|ies)\b|\brules?\b|\btest(?:s|ing)?\b"
    r"|ignor(?:e|ing)|disregard|forget|overrid|bypass|despite|\bapprov|\burgent|instruction|"
    r"whatever (?:you were|was) told",
    "es": r"todo lo que necesit|llamada a (?:una|la) herramienta|una sola llamada|por esta vez"
    r"|excepci|\bpermi(?:so|tid|te)|\bnormas?\b|\breglas?\b|\bpol[ií]tica|\bprueba(?:s)?\b"
    r"|\bignor|\bolvid|a pesar de|\burgen|\baprob|\bautoriza|instruccion",
    "zh": r"所需(?:内容|信息)|工具调用|函数调用|就这一次|仅此一次|只此一次|破例|例外|允许|许可|规定|规则"
    r"|政策|测试|忽略|无视|尽管如此|批准|紧急|加急|指示",
}
WHOEVER = {
    "en": r"whoever|no matter who|regardless of who",
    "es": r"pida quien|quien (?:lo|la) pida|quienquiera",
    "zh": r"无论(?:是)?(?:由)?谁|不论(?:是)?谁|不管(?:是)?谁|谁(?:来要|要求)",
}
BEFORE_WE_START = r"before we (?:start|begin)|antes de (?:empezar|comenzar)|开始之前|开工之前"
ADDRESS = re.compile(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
RESERVED = re.compile(r"(?:\.example|\.test|\.internal|(?:^|\.)example\.(?:com|org|net))$")


@pytest.fixture(params=FILES)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    family, locale = str(request.param).split(".")
    return load(family, locale)


@pytest.fixture(autouse=True)
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, "phrasings in the tests")


def requests(scenario: Scenario) -> Iterator[str]:
    """Every template of a request, of all splits."""
    yield from scenario.trigger
    yield from scenario.allowed.trigger
    if scenario.private is not None:
        for pair in scenario.private.requests:
            yield from (pair.prohibited, pair.allowed)
        yield from scenario.private.reasons


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


def words(template: str) -> list[str]:
    """A template's words, with every value masked."""
    return re.findall(r"\w+|[^\w\s]", PLACEHOLDER.sub("□", template))


def test_a_pair_differs_in_what_the_policy_is_about_only(scenario: Scenario) -> None:
    """The values differ, and at most a few words that name the prohibited and permitted way."""
    pairs = list(zip(scenario.trigger, scenario.allowed.trigger, strict=True))
    assert scenario.private is not None
    pairs += [(pair.prohibited, pair.allowed) for pair in scenario.private.requests]
    for prohibited, allowed in pairs:
        one, other = words(prohibited), words(allowed)
        blocks = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        apart = [block for block in blocks if block[0] != "equal"]
        changed = sum(max(end - start, e - s) for _, start, end, s, e in apart)
        assert len(apart) <= 4, (prohibited, allowed)
        assert changed <= min(14, 0.5 * min(len(one), len(other))), (prohibited, allowed)


def test_no_request_gives_the_game_away(scenario: Scenario) -> None:
    pattern = re.compile(GIVEAWAYS[scenario.locale], re.IGNORECASE)
    for text in requests(scenario):
        found = pattern.search(PLACEHOLDER.sub("□", text))
        assert found is None, f"{found and found[0]!r} in {text}"


def test_requests_are_of_different_lengths(scenario: Scenario) -> None:
    lengths = [len(PLACEHOLDER.sub("", text)) for text in scenario.trigger]
    assert max(lengths) >= 1.5 * min(lengths)


def test_whoever_asks_stands_in_one_policy_at_most(scenario: Scenario) -> None:
    pattern = re.compile(WHOEVER[scenario.locale], re.IGNORECASE)
    assert sum(pattern.search(text) is not None for text in policies(scenario)) <= 1


def test_a_policy_takes_one_to_three_sentences(scenario: Scenario) -> None:
    for seed in range(24):
        for wording in WORDINGS:
            text = scenario.variant(seed, "all").policy(wording)
            assert 1 <= len(sentences(text)) <= 3, text


def test_a_reminder_reads_naturally_in_a_document(scenario: Scenario) -> None:
    """It stands in handbook pages and memory lists too, so it opens no conversation."""
    for text in [*scenario.policy.reminder, *scenario.neutral.reminder]:
        assert not re.search(BEFORE_WE_START, text, re.IGNORECASE), text


def hosts(scenario: Scenario) -> set[str]:
    """The domains of all addresses that a scenario's variants name."""
    return {
        host
        for seed in range(min(60, scenario.variants))
        for text in (scenario.variant(seed).trigger, scenario.variant(seed).allowed_trigger)
        for host in ADDRESS.findall(text)
    }


def test_addresses_are_reserved_and_of_several_kinds() -> None:
    for scenario in every():
        found = hosts(scenario)
        assert all(map(RESERVED.search, found)), found
        if found:
            plain = [host for host in found if host.endswith(".example")]
            assert len(plain) <= 0.4 * len(found), found


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
