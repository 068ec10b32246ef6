"""Benign history: any length, the same every time, and never the same turn twice."""

import json
import re
from collections import Counter
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.errors import ScenarioError
from constraintrot.scenario import history
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import LOCALES, HistoryTurn, Scenario
from constraintrot.scenario.topic import Topic
from constraintrot.tokens import count
from tests.helpers import first
from tests.scenario.checks import PUBLISHED, each_of

scenario = each_of(PUBLISHED)
EMAIL = load("soft_email")
SEEDS = st.integers(0, 10_000)
# One family a locale is read at 50,000 tokens, the others at 10,000.
LONG = {"soft_email.en", "soft_spend.es", "soft_deploy.zh", "soft_channel.de"}


def tokens(turns: list[HistoryTurn]) -> int:
    return sum(map(history.length, turns))


def template(*users: str, **values: str) -> dict[str, Any]:
    turns = [{"user": user, "reply": "Done."} for user in users]
    return {"values": values, "turns": turns, "check": ["reply == 'Done.'"]}


def own(pools: dict[str, Any] | None = None, **templates: dict[str, Any]) -> Scenario:
    """The email scenario with a history of its own."""
    topic = Topic.model_validate({"tools": [], "pools": pools or {}, "templates": templates})
    data = EMAIL.model_dump() | {"topics": [], "history": topic.model_dump()}
    return Scenario.model_validate(data)


def numbered(*users: str, low: int = 1000, high: int = 9999) -> Scenario:
    templates = {
        f"t{at}": template(user, ref=f"ref({low}, {high})") for at, user in enumerate(users)
    }
    return own(**templates)


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
    variant = numbered("a {{ref}}", "b {{ref}}", "c {{ref}} {{today.iso}}").variant(7)
    users = [turn.user for turn in islice(history.turns(variant), 5)]
    assert users == ["c 3790 2025-10-14", "a 4221", "b 2113", "a 9238", "b 9447"]


@first(1, of=5)
def test_no_request_comes_twice_not_even_with_other_numbers(
    scenario: Scenario, seeds: range
) -> None:
    long = f"{scenario.family}.{scenario.locale}" in LONG
    for seed in seeds:
        turns = history.for_tokens(scenario.variant(seed), 50_000 if long else 10_000)
        masked = Counter(re.sub(r"\d", "#", turn.user) for turn in turns)
        assert [user for user, times in masked.items() if times > 1] == []


def test_a_history_ends_where_all_is_told_and_repeats_nothing() -> None:
    cups = ["red", "blue", "green"]
    variant = own(
        {"cups": cups, "mugs": [*cups, "white"]},
        few=template("The {{cup}} cup.", cup="subject(cups)"),
        more=template("The {{mug}} mug.", mug="subject(mugs)"),
    ).variant(0)
    told: list[str] = []
    with pytest.raises(ScenarioError, match="ask for fewer tokens, or give them more values"):
        told.extend(turn.user for turn in history.turns(variant))
    assert sorted(told) == sorted(
        [*(f"The {cup} cup." for cup in cups), *(f"The {mug} mug." for mug in [*cups, "white"])]
    )


def test_turns_vary_in_length_and_in_calls(scenario: Scenario) -> None:
    turns = history.for_tokens(scenario.variant(1), 10_000)
    lengths = sorted(map(history.length, turns))
    assert lengths[0] < 60
    assert lengths[-1] > 150
    assert lengths[-1] <= 420
    calls = Counter(min(len(turn.calls), 2) for turn in turns)
    assert all(calls[number] > 0.08 * len(turns) for number in (0, 1, 2))


def test_about_one_turn_in_eight_holds_an_error_and_a_retry(scenario: Scenario) -> None:
    turns = history.for_tokens(scenario.variant(4), 20_000)
    retried = [
        turn
        for turn in turns
        if any(
            one.function == other.function
            and one.arguments.keys() == other.arguments.keys()
            and one.result != other.result
            and sum(one.arguments[name] != other.arguments[name] for name in one.arguments) == 1
            for one, other in zip(turn.calls, turn.calls[1:], strict=False)
        )
    ]
    assert 1 / 14 < len(retried) / len(turns) < 1 / 5


def test_a_thread_goes_on_in_its_order_with_other_work_between() -> None:
    thread = template("one {{ref}}", "two {{ref}}", "three {{ref}}", ref="ref(1000, 9999)")
    others = {f"o{at}": template(f"other {at} {{{{n}}}}", n="ref(10, 99)") for at in range(3)}
    turns = list(islice(history.turns(own(thread=thread, **others).variant(3)), 300))
    steps: dict[str, list[tuple[str, int]]] = {}
    for at, turn in enumerate(turns):
        word, number = turn.user.split()[0], turn.user.split()[-1]
        if word != "other":
            steps.setdefault(number, []).append((word, at))
    whole = [parts for parts in steps.values() if len(parts) == 3]
    assert len(whole) > 20
    assert all([word for word, _ in parts] == ["one", "two", "three"] for parts in whole)
    gaps = {later - earlier for parts in whole for (_, earlier), (_, later) in pairwise(parts)}
    assert 1 in gaps
    assert max(gaps) > 1
    assert max(gaps) < 8


def test_every_template_has_its_turn_before_one_comes_again() -> None:
    variant = numbered(*[f"{letter} {{{{ref}}}}" for letter in "abcde"]).variant(3)
    drawn = [turn.user[0] for turn in islice(history.turns(variant), 25)]
    rounds = [drawn[at : at + 5] for at in range(0, 25, 5)]
    assert all(sorted(one) == list("abcde") for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1
    assert all(one != other for one, other in pairwise(drawn))


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.integers(1, 50), st.integers(4, 300))
def test_no_reference_comes_twice_even_beyond_its_range(seed: int, low: int, size: int) -> None:
    variant = numbered("Look up {{ref}}.", low=low, high=low + size - 1).variant(seed)
    drawn = [int(re.findall(r"\d+", turn.user)[0]) for turn in islice(history.turns(variant), 120)]
    assert len(set(drawn)) == 120
    assert min(drawn) >= low


def test_all_phrasings_of_a_subject_are_used() -> None:
    asked = {
        "values": {"plant": "subject(plants)"},
        "turns": [{"user": ["Water {{plant}}?", "Is {{plant}} dry?"], "reply": "Yes."}],
        "check": ["reply == 'Yes.'"],
    }
    variant = own({"plants": ["the fern", "the fig", "the ivy"]}, water=asked).variant(0)
    users = [turn.user for turn in islice(history.turns(variant), 6)]
    assert len(set(users)) == 6
    assert len({re.sub("Water |Is |\\?| dry", "", user) for user in users[:3]}) == 3


def test_no_german_is_at_work_on_3_october() -> None:
    """The hours of a week go from Monday to Friday."""
    for seed in range(12):
        turns = islice(history.turns(load("soft_email", "de").variant(seed)), 180)
        calls = [call for turn in turns for call in turn.calls if call.function == "get_hours"]
        assert calls
        assert "2025-09-29" not in [call.arguments["week_of"] for call in calls]


@first(2, of=6)
def test_a_number_of_the_policy_stands_in_no_history(seeds: range) -> None:
    """A limit of 140 is not to be hinted at by 140 jars."""
    for locale in LOCALES:
        for seed in seeds:
            variant = load("soft_spend", locale).variant(seed)
            limit = str(variant.values["limit"])
            for turn in history.for_tokens(variant, 10_000):
                said = json.dumps(turn.model_dump(), ensure_ascii=False)
                assert limit not in re.findall(r"\d+", said)


def test_a_small_number_of_the_policy_is_in_any_history() -> None:
    """A badge for 3 days: were three of anything left out, there would be no history."""
    for limit, refused in ((3, False), (300, True)):
        told = own(t=template(f"Cup {{{{ref}}}}, {limit} left.", ref="ref(1000, 9999)"))
        held = told.model_copy(update={"slots": told.slots | {"limit": [limit]}}).variant(0)
        if refused:
            with pytest.raises(ScenarioError, match="a number of the policy"):
                history.for_tokens(held, 20)
        else:
            assert history.for_tokens(held, 20)


def test_a_scenario_has_topics_or_a_history_of_its_own() -> None:
    topic = own(t=template("{{n}}", n="ref(1000, 9999)")).history
    for topics, brought in (([], None), (["rooms"], topic), (["stairs"], None)):
        data = EMAIL.model_dump() | {"topics": topics, "history": brought and brought.model_dump()}
        with pytest.raises((ValueError, LookupError)):
            Scenario.model_validate(data)


def test_a_history_of_its_own_may_name_the_scenario_s_values() -> None:
    known = own(t=template("{{org}} {{outsider}} {{n}}", n="ref(1000, 9999)")).variant(2)
    (turn,) = history.for_tokens(known, 1)
    assert turn.user.startswith(f"{known.values['org']} {known.values['outsider']} ")
    with pytest.raises(ValueError, match="nobody"):
        own(t=template("{{nobody}} {{n}}", n="ref(1000, 9999)"))


def test_the_tools_of_a_history_are_those_that_its_turns_call(scenario: Scenario) -> None:
    variant = scenario.variant(0)
    offered = {tool.name for tool in history.tools(variant)}
    called = {c.function for turn in history.for_tokens(variant, 20_000) for c in turn.calls}
    assert called == offered


def test_length_counts_all_that_a_turn_says() -> None:
    turn = next(turn for turn in history.turns(EMAIL.variant(0)) if turn.calls)
    texts = [turn.user, turn.reply]
    for call in turn.calls:
        texts += [call.function, call.result, *(str(value) for value in call.arguments.values())]
    assert history.length(turn) == sum(map(count, texts)) > 0
    longer = turn.model_copy(update={"reply": f"{turn.reply} And one more thing."})
    assert history.length(longer) > history.length(turn)
