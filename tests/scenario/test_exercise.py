"""Turns that follow the policy at work: benign, evenly placed, and silent about the policy."""

import pytest
from inspect_ai._util.error import PrerequisiteError

from constraintrot.authoring.check_requests import exercises_follow_the_policy
from constraintrot.episode.episode import Episode, Turn
from constraintrot.episode.staging import stage
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.scenario import history, private
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.splits import SPLITS
from constraintrot.tasks.catalogue import FAMILIES
from tests.conftest import Run
from tests.helpers import A_FAMILY_OR_ALL, by_condition, first, samples, shares
from tests.scenario.checks import FILES, each_of

EACH = first(2, of=12)
scenario = each_of(FILES)
EMAIL = load("soft_email").variant(3)


@pytest.fixture(autouse=True)
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, "exercises in the tests")


def variants(scenario: Scenario, seeds: range) -> list[Variant]:
    return [scenario.variant(seed, split) for split in SPLITS for seed in seeds]


@EACH
def test_they_follow_the_policy_and_tell_nothing_in_any_split(
    scenario: Scenario, seeds: range
) -> None:
    assert len(scenario.exercise) >= (12 if scenario.family in FAMILIES else 4)
    assert list(exercises_follow_the_policy(scenario, variants(scenario, seeds))) == []


def test_seeds_meet_all_of_them_and_no_one_twice(scenario: Scenario) -> None:
    found = [tuple(turn.user for turn in scenario.variant(seed).exercise(2)) for seed in range(24)]
    assert all(len(set(pair)) == 2 for pair in found)
    assert len({pair[0] for pair in found}) > 2


# Where they stand.


def staged(count: int, **more: object) -> Episode:
    return stage(EMAIL, policy=True, exercised=count, **more)  # type: ignore[arg-type]


def exercised(episode: Episode) -> list[list[int]]:
    """By segment, the places of the turns that call a tool on offer."""
    offered = {tool.name for tool in EMAIL.tools}

    def calls(turn: Turn) -> bool:
        return any(m.call is not None and m.call.function in offered for m in turn.messages)

    return [[at for at, turn in enumerate(one) if calls(turn)] for one in episode.segments]


def test_none_are_played_where_none_are_asked_for() -> None:
    assert exercised(staged(0)) == [[]]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_they_stand_evenly_among_the_turns_of_the_first_stretch(count: int) -> None:
    episode = staged(count, context_tokens=3000, rounds=2)
    places, later = exercised(episode)
    assert len(places) == count
    assert later == []
    turns = len(episode.segments[0])
    gaps = [b - a for a, b in zip([-1, *places], [*places, turns], strict=True)]
    assert max(gaps) - min(gaps) <= 1
    assert all(turn.part == "history" for turn in episode.segments[0])


def test_they_are_part_of_the_history_s_length() -> None:
    target = 1500
    longest = max(history.length(turn) for turn in history.for_tokens(EMAIL, 6000))
    for count in (0, 2, 4):
        drawn = EMAIL.exercise(count)
        (segment,) = staged(count, context_tokens=target).segments
        turns = len(segment) - count
        worked = history.for_tokens(EMAIL, target - sum(map(history.length, drawn)))
        assert turns == len(worked)
        total = sum(map(history.length, [*drawn, *worked]))
        assert target <= total < target + longest


def test_floor_and_control_exercise_alike() -> None:
    floor = stage(EMAIL, policy=False, exercised=2)
    assert floor.segments == staged(2).segments


def test_an_approval_still_opens_the_history() -> None:
    variant = load("laundering").variant(1)
    episode = stage(variant, policy=True, allowed=True, exercised=4, context_tokens=100)
    assert variant.approval is not None
    assert episode.segments[0][0].messages[0].text == variant.approval.user


# Runs.


def test_two_by_default_and_a_fact_of_the_sample(run: Run) -> None:
    assert read({}).exercised == 2
    log = run("soft_spend", variants=1, conditions="floor,control")
    assert by_condition(log) == {"floor": 1.0, "control": 0.0}
    for group in samples(log).values():
        for sample in group:
            assert sample.metadata["exercised"] == 2
            calls = [
                c.function
                for m in sample.messages[:-1]
                for c in getattr(m, "tool_calls", None) or []
            ]
            assert calls.count("purchase") == 2


def test_switched_off_the_policy_is_not_exercised(run: Run) -> None:
    (sample,) = samples(run("soft_spend", variants=1, conditions="control", exercised=0))["control"]
    texts = [str(message.model_dump()) for message in sample.messages[:-1]]
    assert not any(
        "purchase" in text and "tool_calls" in text and "amount_usd" in text for text in texts
    )
    assert sample.metadata["exercised"] == 0


@A_FAMILY_OR_ALL
def test_the_policy_still_decays_and_is_kept_as_the_summarizer_does(run: Run, task: str) -> None:
    log = run(task, variants=1, exercised=4, conditions="compaction")
    assert by_condition(log) == {"compaction": 1.0}
    assert shares(log)["compaction mentions"] == 0.0


def test_more_than_there_are_is_refused(run: Run) -> None:
    with pytest.raises(PrerequisiteError, match=r"soft_email\.en has 12 turns that follow"):
        run("soft_email", exercised=13)
    with pytest.raises(ParameterError, match="exercised must be a whole number of 0 or more"):
        read({"exercised": -1})
