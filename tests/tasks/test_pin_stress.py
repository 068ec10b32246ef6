"""``constraintrot/pin_stress``: cases against arms, on the same episodes."""

from collections import defaultdict
from typing import Any

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.scorer import SampleScore, Score

from constraintrot.defenses import DEFENSES, Defense, DefenseSpec
from constraintrot.evaluation.metrics import by_condition as metric
from constraintrot.harnesses import HARNESSES, HarnessSpec
from constraintrot.scenario.files import load
from constraintrot.tasks.pin_stress import CASES, DEFAULT_DEFENSES, SOFT
from tests.conftest import Run
from tests.helpers import by_condition, defended, register, samples, shares


class Shut(Defense):
    """Stops every call."""

    async def approve(self, function: str, arguments: Any) -> str | None:
        return "the gate is shut"


@pytest.fixture(autouse=True)
def _shut(monkeypatch: pytest.MonkeyPatch) -> None:
    defended(monkeypatch, "shut", Shut)


def grid(arms: dict[str, float]) -> dict[str, float]:
    return {f"{case}/{arm}": rate for case in CASES for arm, rate in arms.items()}


@pytest.mark.parametrize(
    "families",
    [["soft_email"], pytest.param(["soft_email", "soft_language"], marks=pytest.mark.soak)],
)
def test_every_case_is_played_under_every_arm(run: Run, families: list[str]) -> None:
    log = run("pin_stress", variants=1, defenses="none,pin,shut", families=families)
    assert log.status == "success"
    assert by_condition(log) == grid({"none": 1.0, "pin": 0.0, "shut": 0.0})
    found = samples(log)
    assert set(found) == set(CASES)
    assert all(len(group) == len(families) * 3 for group in found.values())
    ids = [str(sample.id) for sample in log.samples or []]
    assert len(set(ids)) == len(ids)
    assert "soft_email.en-0-stress_overload_50-pin" in ids
    for sample in log.samples or []:
        assert str(sample.id).endswith(f"-{sample.metadata['defense']}")
    outcomes = by_condition(log, "outcome")
    assert outcomes["compaction/shut blocked"] == 1.0
    assert outcomes["compaction/none violated"] == 1.0
    assert shares(log)["compaction/pin verbatim"] == 1.0


def test_arms_see_the_same_episodes(run: Run) -> None:
    inputs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sample in (
        run("pin_stress", variants=2, defenses="none,shut", families=["soft_spend"]).samples or []
    ):
        facts = sample.metadata
        texts = [message.text for message in sample.messages[:-1]]
        inputs[facts["condition"], str(facts["seed"])].add("\x1f".join(texts))
    assert len(inputs) == 2 * len(CASES)
    assert {len(seen) for seen in inputs.values()} == {1}


def test_cases_are_what_their_names_say(run: Run) -> None:
    found = samples(run("pin_stress", variants=1, defenses="none", families="soft_email"))
    facts = {
        name: (group[0].metadata["attack"].split(":")[0], group[0].metadata["distractors"])
        for name, group in found.items()
    }
    assert facts == {
        "compaction": ("none", 0),
        "stress_rescind": ("rescind_notice", 0),
        "stress_overload": ("none", 15),
        "stress_overload_50": ("none", 50),
        "stress_impersonate": ("impersonate_rescind", 0),
    }
    assert all(group[0].metadata["compaction_ran"] for group in found.values())


def test_the_allowed_counterparts_show_utility_and_over_refusal(run: Run) -> None:
    log = run("pin_stress", variants=1, defenses="pin,shut", families="soft_deploy", allowed=True)
    assert by_condition(log, "utility") == grid({"pin": 1.0, "shut": 0.0})
    for sample in log.samples or []:
        assert sample.scores is not None
        over = (sample.scores["utility"].metadata or {})["over_refusal"]
        assert over == (sample.metadata["defense"] == "shut")


def test_the_default_defenses_and_families(run: Run) -> None:
    log = run("pin_stress", variants=1, conditions="compaction")
    assert by_condition(log) == {
        f"compaction/{defense}": float(defense == "none") for defense in DEFAULT_DEFENSES
    }
    assert {sample.metadata["family"] for sample in log.samples or []} == set(SOFT)


def test_all_other_parameters_work_as_everywhere(run: Run) -> None:
    log = run(
        "pin_stress",
        variants=1,
        seed=3,
        locale="zh",
        rounds=2,
        wording="reminder",
        channel="memory",
        defenses="none,pin",
        conditions=["stress_overload"],
    )
    assert by_condition(log) == {"stress_overload/none": 1.0, "stress_overload/pin": 0.0}
    for sample in log.samples or []:
        facts = sample.metadata
        assert (facts["seed"], facts["locale"], facts["rounds"]) == (3, "zh", 2)
        policy = load(facts["family"], "zh").variant(3).policy("reminder")
        held = any(policy in message.text for message in sample.messages)
        assert held == (facts["defense"] == "pin")


def test_one_arm_needs_no_name_in_the_metrics(run: Run) -> None:
    log = run(
        "pin_stress", variants=1, defenses="none", families="soft_email", conditions="control"
    )
    assert by_condition(log) == {"control": 0.0}


def test_an_arm_that_the_harness_has_no_place_for_is_refused_at_start(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = frozenset({"assemble"})
    whole = HARNESSES.get("replay")
    narrow = HarnessSpec(whole.factory, hooks)  # type: ignore[arg-type]  # one of HOOKS
    register(monkeypatch, HARNESSES, "narrow", narrow)
    entry = DefenseSpec(lambda _: Defense(), frozenset({"assemble"}), False)
    register(monkeypatch, DEFENSES, "fits", entry)
    with pytest.raises(PrerequisiteError) as raised:
        run("pin_stress", defenses="fits,shut", harness="narrow")
    assert "defense shut needs approve, wrap, which harness narrow does not have" in str(
        raised.value
    )
    assert "fits" in str(raised.value).split("supported there: ")[1]


def scored(*cells: tuple[str, str, float]) -> dict[str, float]:
    scores = [
        SampleScore(
            score=Score(value=value),
            sample_metadata={"condition": condition, "defense": defense},
        )
        for condition, defense, value in cells
    ]
    return metric()(scores)  # type: ignore[return-value, arg-type]


def test_metrics_part_by_defense_only_where_a_condition_had_several() -> None:
    assert scored(("compaction", "none", 1), ("defense_pin", "pin", 0)) == {
        "compaction": 1.0,
        "defense_pin": 0.0,
    }
    assert scored(("compaction", "none", 1), ("compaction", "pin", 0), ("floor", "none", 1)) == {
        "compaction/none": 1.0,
        "compaction/pin": 0.0,
        "floor/none": 1.0,
    }
