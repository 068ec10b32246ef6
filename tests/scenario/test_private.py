"""The private split: made by a key, the same for it, and in no published file."""

import json
import re
from functools import cache

import pytest
from inspect_ai._util.error import PrerequisiteError

from constraintrot.authoring.check_requests import ADDRESS, RESERVED
from constraintrot.errors import ParameterError, ScenarioError
from constraintrot.evaluation.parameters import read
from constraintrot.grading.verdict import grade
from constraintrot.models.scripted.request_parser import any_policy_in, request_in
from constraintrot.rule_text.survival import best_window
from constraintrot.scenario import private
from constraintrot.scenario.files import FOLDER, load, sampled
from constraintrot.scenario.schema import LOCALES, WORDINGS, Scenario, Variant
from constraintrot.scenario.template import PLACEHOLDER
from tests.conftest import Run
from tests.helpers import by_condition, first, samples
from tests.scenario.checks import FILES, each_of

ONE, OTHER = "the first of two long keys", "the second of two long keys"
EACH = first(4, of=40)
scenario = each_of(FILES)


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, ONE)


def variants(scenario: Scenario, count: int) -> list[Variant]:
    return [scenario.variant(seed, "private") for seed in range(count)]


@cache
def published() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.yaml"))


def told(variant: Variant) -> list[str]:
    policies = [variant.policy(wording) for wording in WORDINGS]
    return [variant.trigger, variant.allowed_trigger, *policies, json.dumps(variant.values)]


def test_the_same_key_makes_the_same_and_another_key_others(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, list[list[str]]] = {}
    for key in (ONE, OTHER, ONE):
        monkeypatch.setenv(private.KEY, key)
        found = [told(variant) for variant in variants(scenario, 8)]
        assert made.setdefault(key, found) == found
    assert not {told[0] for told in made[ONE]} & {told[0] for told in made[OTHER]}
    assert not {told[-1] for told in made[ONE]} & {told[-1] for told in made[OTHER]}


@first(4, of=12)
@pytest.mark.usefixtures("keyed")
def test_no_published_file_holds_them(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, len(seeds)):
        for text in told(variant)[:-1]:
            assert text not in published()
            assert not PLACEHOLDER.search(text)
        assert str(variant.values["org"]) not in published()


@EACH
@pytest.mark.usefixtures("keyed")
def test_each_is_a_whole_variant(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, len(seeds)):
        for wording in WORDINGS:
            text = variant.policy(wording)
            assert best_window(text, variant.slots) == set(variant.slots), text
            assert 0.65 <= len(variant.neutral(wording)) / len(text) <= 1.4
            assert best_window(variant.neutral(wording), variant.slots) != set(variant.slots)
        assert best_window(variant.trigger, variant.slots) != set(variant.slots)
        bad = grade(variant, [variant.violating_call.model_dump()])
        assert bad.outcome == "violated", (variant.values, bad.reason)
        good = grade(variant, [variant.complying_call.model_dump()], allowed=True)
        assert (good.outcome, good.utility) == ("complied", True), (variant.values, good.reason)


@first(4, of=12)
@pytest.mark.usefixtures("keyed")
def test_a_request_holds_all_that_its_call_needs(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, len(seeds)):
        for call, text in (
            (variant.violating_call, variant.trigger),
            (variant.complying_call, variant.allowed_trigger),
        ):
            for name, value in call.arguments.items():
                literal = scenario.ground_truth.violates.arguments.get(name)
                if PLACEHOLDER.search(str(literal)):
                    assert str(value) in text, (name, text)


@pytest.mark.usefixtures("keyed")
def test_hosts_are_reserved_and_people_many(scenario: Scenario) -> None:
    found = [json.dumps(variant.values, ensure_ascii=False) for variant in variants(scenario, 40)]
    assert len(set(found)) == len(found)
    for text in found:
        assert all(map(RESERVED.search, ADDRESS.findall(text))), text
    assert len({variant.values["org"] for variant in variants(scenario, 40)}) > 30


@pytest.mark.usefixtures("keyed")
def test_scripted_models_know_the_key_too(scenario: Scenario) -> None:
    offered = frozenset(tool.name for tool in scenario.tools)
    for variant in variants(scenario, 3):
        found = request_in(f"{variant.trigger}\n\nAnswer.", offered)
        assert found is not None
        assert found.call == variant.violating_call
        assert dict(found.slots) == variant.slots
        policy = variant.policy("declarative")
        assert any(text in policy for text, _ in any_policy_in([policy]))


def test_without_a_key_nothing_is_recognised_or_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, ONE)
    variant = load("soft_email").variant(0, "private")
    offered = frozenset(["send_email"])
    assert request_in(variant.trigger, offered) is not None
    for value in (None, "", "short"):
        if value is None:
            monkeypatch.delenv(private.KEY)
        else:
            monkeypatch.setenv(private.KEY, value)
        assert request_in(variant.trigger, offered) is None
        with pytest.raises(ParameterError, match=f"{private.KEY}, which holds {len(value or '')}"):
            load("soft_email").variant(0, "private")
        with pytest.raises(ParameterError, match="openssl rand -hex 32"):
            read({"split": "private"})


def test_the_task_refuses_at_once_without_a_key(run: Run) -> None:
    with pytest.raises(PrerequisiteError, match=private.KEY):
        run("soft_email", split="private")


@pytest.mark.usefixtures("keyed")
def test_a_run_on_it_shows_what_the_others_show_and_tells_no_key(run: Run) -> None:
    log = run("soft_email", split="private", variants=2, seed=7)
    assert by_condition(log) == {"floor": 1.0, "control": 0.0, "compaction": 1.0}
    for sample in samples(log)["control"]:
        facts = sample.metadata
        assert (facts["split"], facts["private_key"]) == ("private", private.fingerprint(ONE))
        assert facts["request"] == sampled(facts).request()
        assert ONE not in sample.model_dump_json()
    assert ONE not in log.model_dump_json()
    assert ONE not in repr(sampled(samples(log)["control"][0].metadata))


def test_another_key_scores_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"family": "soft_email", "locale": "en", "seed": 0, "split": "private"}
    facts["private_key"] = private.fingerprint(ONE)
    monkeypatch.setenv(private.KEY, OTHER)
    with pytest.raises(ParameterError, match=r"private key [0-9a-f]{8}\.\.\., and"):
        sampled(facts)
    monkeypatch.setenv(private.KEY, ONE)
    assert sampled(facts).values["org"]


def test_a_fingerprint_is_no_key() -> None:
    assert re.fullmatch("[0-9a-f]{8}", private.fingerprint(ONE))
    assert private.fingerprint(ONE) != private.fingerprint(OTHER)


@pytest.mark.usefixtures("keyed")
def test_the_split_ends_where_scripted_models_stop_to_look() -> None:
    assert load("soft_email").seeds("private") == range(private.SEEDS)
    with pytest.raises(ScenarioError, match="seed must be 0 or more"):
        load("soft_email").variant(-1, "private")


@pytest.mark.parametrize("locale", LOCALES)
def test_generators_say_what_there_is(locale: str) -> None:
    source = private.Source(ONE, "x")
    made = private.Generators(source.part("pool"), private.words(locale), {})
    other = private.Generators(source.part("other"), private.words(locale), {})
    assert made("person") == made("person") != made("person.2")
    assert made("person") != other("person")
    assert str(made("home")).partition(".")[0] != made("away")
    assert made("region") != made("other_region")
    with pytest.raises(ScenarioError, match="no generator is called 'colour'; known: away, day"):
        made("colour")
    assert ONE not in repr(source)
