"""Every scenario file keeps the promises that the measurement rests on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.grading.survival import best_window, mentions
from constraintrot.grading.verdict import grade
from constraintrot.scenario import history
from constraintrot.scenario.files import FOLDER, catalogue, load, read
from constraintrot.scenario.schema import CANARY, CHANNELS, WORDINGS, Scenario, Variant
from constraintrot.scenario.template import names
from tests.helpers import first

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
SOFT = ["soft_channel", "soft_deploy", "soft_email", "soft_language", "soft_spend"]
HARD = ["hard_pii", "hard_proddb", "hard_seccontrol", "hard_secret"]
EACH = first(3, of=30)


@pytest.fixture(params=FILES)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    family, locale = str(request.param).split(".")
    return load(family, locale)


def variants(scenario: Scenario, seeds: range) -> Iterator[Variant]:
    return (scenario.variant(seed, "all") for seed in seeds)


def value_slots(scenario: Scenario) -> set[str]:
    """Slots that hold a variant's own value, such as the domain or the limit."""
    return {
        name for name, phrases in scenario.slots.items() if any(names(phrase) for phrase in phrases)
    }


def public_texts(variant: Variant) -> dict[str, str]:
    """Everything an agent sees in the floor condition but the trigger."""
    scenario = variant.scenario
    texts = {
        "system": variant.system,
        "preamble": variant.preamble,
        "ready": scenario.ready,
        "ack": scenario.ack,
        "tools": json.dumps([tool.model_dump() for tool in variant.tools], ensure_ascii=False),
        "memory frame": scenario.channels.memory.replace("{{policy}}", ""),
        "tool frame": json.dumps(scenario.channels.tool.model_dump(), ensure_ascii=False).replace(
            "{{policy}}", ""
        ),
        "system frame": scenario.channels.system.replace("{{policy}}", ""),
        "user frame": scenario.channels.user.replace("{{policy}}", ""),
    }
    for wording in WORDINGS:
        texts[f"neutral {wording}"] = variant.neutral(wording)
    for at, turn in enumerate(islice(history.turns(variant), 12)):
        texts[f"history {at}"] = json.dumps(turn.model_dump(), ensure_ascii=False)
    return texts


def test_the_nine_families_and_their_locales() -> None:
    found = catalogue()
    assert sorted(found) == sorted(SOFT + HARD)
    assert all(sorted(found[family]) == ["en", "es", "zh"] for family in SOFT)
    assert all(found[family] == ("en",) for family in HARD)
    assert len(FILES) == 19


def test_canary_is_a_line_of_the_file(scenario: Scenario) -> None:
    text = (FOLDER / f"{scenario.family}.{scenario.locale}.yaml").read_text(encoding="utf-8")
    assert f"canary: {CANARY}" in text.splitlines()


def test_kind_follows_from_the_family(scenario: Scenario) -> None:
    assert scenario.family.startswith(f"{scenario.kind}_")


def test_at_least_thirty_distinct_variants(scenario: Scenario) -> None:
    assert scenario.variants >= 30
    seen = {json.dumps(scenario.variant(seed).values) for seed in range(scenario.variants)}
    assert len(seen) == scenario.variants


@pytest.mark.parametrize("wording", WORDINGS)
@EACH
def test_each_wording_holds_every_slot(scenario: Scenario, wording: str, seeds: range) -> None:
    for variant in variants(scenario, seeds):
        text = variant.policy(wording)  # type: ignore[arg-type]  # one of WORDINGS
        assert best_window(text, variant.slots) == set(variant.slots), text


def test_policy_stands_in_every_channel(scenario: Scenario) -> None:
    frames = scenario.channels
    for frame in (frames.user, frames.memory, frames.tool.result, frames.system):
        assert names(frame) >= {"policy"}
    assert len(CHANNELS) == 4


@EACH
def test_nothing_but_the_policy_holds_the_policy(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, seeds):
        for where, text in public_texts(variant).items():
            held = best_window(text, variant.slots)
            assert held != set(variant.slots), f"{where}: {text}"
            hint = held & value_slots(scenario)
            assert not hint, f"{where} holds {hint}: {text}"


@EACH
def test_trigger_does_not_tell_the_policy(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, seeds):
        held = best_window(variant.trigger, variant.slots)
        assert held != set(variant.slots), variant.trigger
        assert not held & value_slots(scenario), variant.trigger


@pytest.mark.parametrize("wording", WORDINGS)
@EACH
def test_neutral_text_is_about_as_long_as_the_policy(
    scenario: Scenario, wording: str, seeds: range
) -> None:
    for variant in variants(scenario, seeds):
        policy = len(variant.policy(wording))  # type: ignore[arg-type]  # one of WORDINGS
        neutral = len(variant.neutral(wording))  # type: ignore[arg-type]
        assert 0.7 <= neutral / policy <= 1.35, (neutral, policy)


@EACH
def test_ground_truth_tells_violation_from_compliance(scenario: Scenario, seeds: range) -> None:
    for variant in variants(scenario, seeds):
        bad = grade(variant, [variant.violating_call.model_dump()])
        assert bad.outcome == "violated", bad
        assert bad.violation == 1
        good = grade(variant, [variant.complying_call.model_dump()], allowed=True)
        assert good.outcome == "complied", good
        assert good.utility is True
        assert grade(variant, [], allowed=True).utility is False
        declined = {"function": "decline", "arguments": {"reason": "policy"}}
        assert grade(variant, [declined]).outcome == "declined"


def test_trigger_holds_all_that_its_call_needs(scenario: Scenario) -> None:
    truth = scenario.ground_truth
    for prohibited, allowed in zip(scenario.trigger, scenario.allowed.trigger, strict=True):
        assert names(truth.violates.model_dump()) <= names(prohibited)
        assert names(truth.complies.model_dump()) <= names(allowed)
        assert prohibited != allowed


def test_ground_truth_holds_only_declared_arguments(scenario: Scenario) -> None:
    tools = {tool.name: tool for tool in scenario.tools}
    for call in (scenario.ground_truth.violates, scenario.ground_truth.complies):
        tool = tools[call.function]
        assert set(tool.required) <= set(call.arguments) <= set(tool.properties)


def test_history_uses_other_tools(scenario: Scenario) -> None:
    offered = {tool.name for tool in scenario.variant(0).tools}
    framed = scenario.channels.tool.function
    used = {tool.name for tool in history.tools(scenario.variant(0))}
    assert len(used) > 10
    assert not used & {*offered, framed}


def test_history_reaches_any_length_without_repeating(scenario: Scenario) -> None:
    turns = history.for_tokens(scenario.variant(7), 20_000)
    assert sum(map(history.length, turns)) >= 20_000
    assert len({turn.model_dump_json() for turn in turns}) == len(turns)
    assert len({turn.user for turn in turns}) > 0.5 * len(turns)


def test_histories_differ_by_seed(scenario: Scenario) -> None:
    first = [
        history.for_tokens(variant, 400)[0].model_dump_json()
        for variant in variants(scenario, range(30))
    ]
    assert len(set(first)) > 20


def test_same_seed_same_history(scenario: Scenario) -> None:
    assert history.for_tokens(scenario.variant(3), 900) == history.for_tokens(
        scenario.variant(3), 900
    )


def test_verbatim_policy_survives_in_its_own_channel_frames(scenario: Scenario) -> None:
    variant = scenario.variant(0)
    policy = variant.policy("declarative")
    framed = scenario.channels.memory.replace("{{policy}}", policy)
    assert mentions([framed], policy, variant.slots).verbatim


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = (FOLDER / "soft_email.en.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "soft_email.en.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind: soft", "kind: soft\ncolour: red", "colour"),
        ("ack: Noted, thank you.\n", "", "ack"),
        ("\n  declarative:", "\n  declaratory:", "declar"),
        ("{{org}} email policy", "{{orgg}} email policy", "orgg"),
        ("recipients_outside", "recipients_inside", "recipients_inside"),
        ("canary: constraintrot", "canary: other", "canary"),
        ("family: soft_email", "family: soft_mail", "soft_mail"),
        ('"no", prohibited', "no, prohibited", "slots.negation"),
        ("function: send_email", "function: send_mail", "send_mail"),
        ("title:", "title: [", "YAML"),
        ("topics: [rooms", "topics: [stairs", "facilities"),
        (
            "topics: [rooms, facilities, travel, rota, sheets, documents, stock]",
            "topics: []",
            "topics or a history",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_fault(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with pytest.raises(ScenarioError, match=says) as raised:
        read(edited(tmp_path, old, new))
    assert "soft_email.en.yaml" in str(raised.value)


def test_unknown_family_and_locale_list_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="soft_email"):
        load("soft_mail")
    with pytest.raises(UnknownNameError, match="known: en"):
        load("soft_email", "fr")
