"""The whole chain on scripted models: what each condition and compactor must show."""

import pytest

from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import LOCALES, WORDINGS
from tests.conftest import Run
from tests.helpers import A_FAMILY_OR_ALL, by_condition, samples, shares

ALL = {"floor": 1.0, "control": 0.0, "compaction": 1.0}


@A_FAMILY_OR_ALL
@pytest.mark.parametrize(
    ("compactor", "expected"),
    [
        ("truncate", ALL),
        ("summarize", ALL),
        ("hierarchical", ALL),
        ("head_tail", {**ALL, "compaction": 0.0}),
    ],
)
def test_obedient_loses_the_policy_as_the_compactor_does(
    run: Run, task: str, compactor: str, expected: dict[str, float]
) -> None:
    log = run(task, compactor=compactor, variants=1)
    assert log.status == "success"
    assert by_condition(log) == expected
    kept = by_condition(log, "survival")
    assert kept["compaction survived"] == 1.0 - expected["compaction"]


def test_each_seed_states_its_policy_in_the_next_wording(run: Run) -> None:
    log = run("soft_email", variants=4, wording="all")
    assert by_condition(log) == ALL
    family = load("soft_email")
    told = [sample for sample in log.samples or [] if sample.metadata["condition"] == "control"]
    assert [sample.metadata["wording"] for sample in told] == [*WORDINGS]
    for sample in told:
        variant, wording = family.variant(sample.metadata["seed"]), sample.metadata["wording"]
        assert sample.metadata["policy_phrasing"] == variant.policy_phrasing(wording)
        assert any(variant.policy(wording) in message.text for message in sample.messages)


@A_FAMILY_OR_ALL
@pytest.mark.parametrize(("script", "rate"), [("reckless", 1.0), ("refuser", 0.0)])
def test_reckless_always_violates_and_refuser_never(
    run: Run, task: str, script: str, rate: float
) -> None:
    log = run(task, model=f"scripted/{script}", variants=1)
    assert log.status == "success"
    assert by_condition(log) == dict.fromkeys(ALL, rate)


def test_refusal_is_no_silence(run: Run) -> None:
    def refused(**given: bool) -> dict[str, float]:
        log = run("soft_email", model="scripted/refuser", variants=1, **given)
        return by_condition(log, "outcome")

    conditions = ("floor", "control", "compaction")
    in_words = {f"{name} refused_text": 1.0 for name in conditions}
    assert refused() == refused(decline_tool=False) == in_words
    assert refused(decline_tool=True) == {f"{name} declined": 1.0 for name in conditions}


@pytest.mark.parametrize("locale", LOCALES)
def test_the_deliberate_scaffold_takes_a_refusal_in_words_too(run: Run, locale: str) -> None:
    given = {"variants": 1, "conditions": "control", "scaffold": "deliberate", "locale": locale}
    log = run("soft_email", decline_tool=False, **given)
    assert by_condition(log, "outcome") == {"control refused_text": 1.0}
    assert by_condition(log, "recalled") == {"control": 1.0}
    (sample,) = log.samples or []
    assert "decline" not in sample.messages[-2].text
    assert by_condition(run("soft_email", **given), "outcome") == {"control declined": 1.0}


@pytest.mark.parametrize("locale", LOCALES)
def test_every_family_in_every_locale_shows_the_same(run: Run, locale: str) -> None:
    log = run("suite", locale=locale, variants=1)
    assert log.status == "success"
    played = {sample.metadata["family"] for sample in log.samples or []}
    assert played == {family for family, locales in catalogue().items() if locale in locales}
    assert by_condition(log) == ALL


@A_FAMILY_OR_ALL
@pytest.mark.parametrize("channel", ["user", "memory", "tool"])
def test_channels_that_are_compacted_decay(run: Run, task: str, channel: str) -> None:
    log = run(task, channel=channel, variants=1, compactor="summarize")
    assert by_condition(log) == ALL


@A_FAMILY_OR_ALL
def test_the_system_message_does_not_decay(run: Run, task: str) -> None:
    log = run(task, channel="system", variants=1)
    assert by_condition(log) == {**ALL, "compaction": 0.0}


@A_FAMILY_OR_ALL
@pytest.mark.parametrize("wording", ["imperative", "consequence", "reminder"])
def test_wordings_show_the_same(run: Run, task: str, wording: str) -> None:
    assert by_condition(run(task, wording=wording, variants=1)) == ALL


@pytest.mark.parametrize("rounds", [2, 5])
def test_rounds_compact_that_often(run: Run, rounds: int) -> None:
    log = run("soft_deploy", rounds=rounds, variants=2, conditions="control,compaction")
    for sample in samples(log)["compaction"]:
        found = sample.metadata["rounds_run"]
        assert [entry["number"] for entry in found] == list(range(1, rounds + 1))
        assert [entry["shown_verbatim"] for entry in found] == [True] + [False] * (rounds - 1)
    assert by_condition(log) == {"control": 0.0, "compaction": 1.0}


@A_FAMILY_OR_ALL
def test_a_summarizer_that_keeps_the_policy_keeps_the_agent_obedient(run: Run, task: str) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    log = run(task, variants=1, model_roles=roles)
    assert by_condition(log) == {**ALL, "compaction": 0.0}
    sample = samples(log)["compaction"][0]
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"
    assert sample.metadata["agent"] == "scripted/obedient"


@A_FAMILY_OR_ALL
def test_a_weakened_policy_is_no_policy(run: Run, task: str) -> None:
    roles = {"summarizer": "scripted/summarizer-weaken"}
    log = run(task, variants=1, model_roles=roles)
    assert by_condition(log)["compaction"] == 1.0
    weakened = shares(log)
    assert weakened["compaction survived"] == 0.0
    assert (
        weakened["compaction mentions_share"]
        > shares(run(task, variants=1))["compaction mentions_share"]
    )


def test_every_model_of_ours_summarises_as_it_is_told(run: Run) -> None:
    from inspect_ai.model import get_model

    log = run("soft_spend", model=get_model("scripted/obedient", summarizer="keep"), variants=2)
    assert by_condition(log) == {**ALL, "compaction": 0.0}


@A_FAMILY_OR_ALL
def test_the_counterfactuals_isolate_the_policy(run: Run, task: str) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    log = run(
        task,
        variants=1,
        conditions="compaction,summary_removed,sham,summary_restored",
        model_roles=roles,
    )
    assert by_condition(log) == {
        "compaction": 0.0,
        "summary_removed": 1.0,
        "sham": 0.0,
        "summary_restored": 0.0,
    }
    assert not any(sample.metadata["degenerate"] for sample in log.samples or [])


def test_nothing_to_remove_is_marked_degenerate(run: Run) -> None:
    log = run("soft_email", variants=2, conditions="compaction,summary_removed,summary_restored")
    found = samples(log)
    assert all(sample.metadata["degenerate"] for group in found.values() for sample in group)
    assert not any(sample.metadata["removed"] for sample in found["summary_removed"])
    for whole, removed in zip(found["compaction"], found["summary_removed"], strict=True):
        assert [m.text for m in whole.messages] == [m.text for m in removed.messages]
    assert by_condition(log)["summary_restored"] == 0.0


def test_utility_does_the_allowed_task_under_every_condition(run: Run) -> None:
    log = run("utility", variants=1)
    assert by_condition(log, "utility") == {"floor": 1.0, "control": 1.0, "compaction": 1.0}
    assert by_condition(log) == {"floor": 0.0, "control": 0.0, "compaction": 0.0}
    refused = run("utility", model="scripted/refuser", variants=1)
    assert set(by_condition(refused, "utility").values()) == {0.0}
    for sample in refused.samples or []:
        assert sample.scores is not None
        assert (sample.scores["utility"].metadata or {})["over_refusal"]


def test_deliberate_scaffold_records_what_was_recalled(run: Run) -> None:
    log = run("soft_email", variants=2, scaffold="deliberate")
    assert by_condition(log, "recalled") == {"floor": 0.0, "control": 1.0, "compaction": 0.0}
    for sample in samples(log)["control"]:
        domain = load("soft_email").variant(sample.metadata["seed"]).values["domain"]
        assert str(domain) in sample.metadata["recalled"]


@pytest.mark.parametrize("compactor", ["inspect_summary", "inspect_trim", "inspect_auto"])
def test_inspects_own_strategies_lose_the_policy(run: Run, compactor: str) -> None:
    log = run("soft_channel", compactor=compactor, variants=2)
    assert log.status == "success"
    assert by_condition(log)["compaction"] == 1.0


def test_inspects_edit_clears_tool_results_only(run: Run) -> None:
    told = run("soft_channel", compactor="inspect_edit", channel="user", variants=2)
    assert by_condition(told)["compaction"] == 0.0
    read = run("soft_channel", compactor="inspect_edit", channel="tool", variants=2)
    assert by_condition(read)["compaction"] == 1.0
