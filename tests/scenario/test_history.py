"""Benign history: any length, the same every time, and never the same turn twice."""

from __future__ import annotations

import json
import re
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.scenario import history
from constraintrot.scenario.files import FOLDER, load
from constraintrot.scenario.schema import History, HistoryTurn, Numbers, Scenario
from constraintrot.scenario.template import PLACEHOLDER
from constraintrot.tokens import count

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
EMAIL = load("soft_email")
SEEDS = st.integers(0, 10_000)


@pytest.fixture(params=FILES)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    family, locale = str(request.param).split(".")
    return load(family, locale)


def tokens(turns: list[HistoryTurn]) -> int:
    return sum(map(history.length, turns))


def with_numbers(low: int, high: int, *users: str) -> Scenario:
    """The email scenario with one number pool, which may be smaller than a file may have."""
    turns = [
        HistoryTurn(user=user, calls=[], reply="Done.") for user in users or ("Look up {{ref}}.",)
    ]
    pool = Numbers.model_construct(low=low, high=high)
    drawn = History.model_construct(pools={"ref": pool}, turns=turns)
    return EMAIL.model_copy(update={"history": drawn})


def test_a_target_is_reached_with_as_few_turns_as_do(scenario: Scenario) -> None:
    for target in (100, 800, 4000):
        turns = history.for_tokens(scenario.variant(5), target)
        assert tokens(turns) >= target
        assert tokens(turns[:-1]) < target


@pytest.mark.parametrize("target", [-1, 0, 1])
def test_there_is_at_least_one_turn(target: int) -> None:
    assert len(history.for_tokens(EMAIL.variant(0), target)) == 1


def test_a_shorter_history_is_the_start_of_a_longer_one(scenario: Scenario) -> None:
    short = history.for_tokens(scenario.variant(2), 400)
    long = history.for_tokens(scenario.variant(2), 4000)
    assert len(short) < len(long)
    assert long[: len(short)] == short


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.integers(1, 3000), st.integers(1, 3000))
def test_any_two_lengths_share_their_start(seed: int, one: int, other: int) -> None:
    short, long = sorted([one, other])
    drawn = history.for_tokens(EMAIL.variant(seed), long)
    assert drawn[: len(history.for_tokens(EMAIL.variant(seed), short))] == history.for_tokens(
        EMAIL.variant(seed), short
    )


@settings(deadline=None, max_examples=25)
@given(SEEDS)
def test_the_same_every_time_and_another_for_another_seed(seed: int) -> None:
    first = history.for_tokens(EMAIL.variant(seed), 800)
    assert history.for_tokens(EMAIL.variant(seed), 800) == first
    assert history.for_tokens(EMAIL.variant(seed + 1), 800) != first


def test_the_draws_are_these() -> None:
    """Pinned: a change here makes new results incomparable with old ones."""
    variant = with_numbers(1000, 9999, "a {{ref}}", "b {{ref}} {{ref.2}}", "c {{ref}}").variant(7)
    users = [turn.user for turn in islice(history.turns(variant), 5)]
    assert users == ["b 7753 3084", "a 6401", "c 5049", "b 3697 8028", "a 2345"]


def test_histories_leave_no_placeholder(scenario: Scenario) -> None:
    for turn in islice(history.turns(scenario.variant(1)), 30):
        assert not PLACEHOLDER.search(json.dumps(turn.model_dump(), ensure_ascii=False))


def test_a_name_means_the_same_throughout_a_turn() -> None:
    scenario = with_numbers(1000, 9999, "Look up {{ref}}, {{ref}}, not {{ref.2}}.")
    for turn in islice(history.turns(scenario.variant(0)), 50):
        first, again, other = re.findall(r"\d+", turn.user)
        assert first == again
        assert other != first


def test_draws_of_one_pool_within_a_turn_differ() -> None:
    pool = ["Alder", "Beech", "Cedar"]
    turn = HistoryTurn(user="No. {{ref}}", calls=[], reply="{{room}} {{room.2}} {{room.3}}")
    drawn = History.model_construct(
        pools={"ref": Numbers(low=0, high=999), "room": pool}, turns=[turn]
    )
    variant = EMAIL.model_copy(update={"history": drawn}).variant(0)
    replies = [turn.reply.split() for turn in islice(history.turns(variant), 40)]
    assert all(sorted(reply) == pool for reply in replies)
    assert len({tuple(reply) for reply in replies}) == 6


def test_every_template_has_its_turn_before_one_comes_again() -> None:
    users = [f"{letter} {{{{ref}}}}" for letter in "abcde"]
    variant = with_numbers(1000, 9999, *users).variant(3)
    drawn = [turn.user[0] for turn in islice(history.turns(variant), 25)]
    rounds = [drawn[at : at + 5] for at in range(0, 25, 5)]
    assert all(sorted(one) == list("abcde") for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


@pytest.mark.parametrize("size", [4, 7, 10, 16, 60, 97, 1000])
def test_no_turn_comes_twice_even_beyond_its_pool(size: int) -> None:
    variant = with_numbers(5, 4 + size).variant(1)
    users = [turn.user for turn in islice(history.turns(variant), 3 * size + 5)]
    assert len(set(users)) == len(users)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(0, 50), st.integers(4, 300), st.integers(1, 8))
def test_no_number_comes_twice(seed: int, low: int, size: int, draws: int) -> None:
    names = ", ".join(f"{{{{ref.{draw}}}}}" for draw in range(1, draws + 1))
    variant = with_numbers(low, low + size - 1, f"Look up {names}.").variant(seed)
    drawn = [
        number
        for turn in islice(history.turns(variant), 80)
        for number in re.findall(r"\d+", turn.user)
    ]
    assert len(drawn) == 80 * draws
    assert len(set(drawn)) == len(drawn)
    assert min(map(int, drawn)) >= low


def test_a_pool_that_suffices_is_not_left() -> None:
    variant = with_numbers(1000, 2999).variant(4)
    numbers = [
        int(number)
        for turn in islice(history.turns(variant), 250)
        for number in re.findall(r"\d+", turn.user)
    ]
    assert all(1000 <= number <= 2999 for number in numbers)
    assert len(set(numbers)) == 250


def test_length_counts_all_that_a_turn_says() -> None:
    turn = next(iter(history.turns(EMAIL.variant(0))))
    assert turn.calls
    texts = [turn.user, turn.reply]
    for call in turn.calls:
        texts += [call.function, call.result, *(str(value) for value in call.arguments.values())]
    assert history.length(turn) == sum(map(count, texts)) > 0
    longer = turn.model_copy(update={"reply": f"{turn.reply} And one more thing."})
    assert history.length(longer) > history.length(turn)
