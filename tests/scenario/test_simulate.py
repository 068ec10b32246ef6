"""Looked up beyond the history: the tools answer any call, the same call always alike."""

import json
from random import Random
from typing import Any

import pytest

from constraintrot.errors import UnknownNameError
from constraintrot.scenario import history
from constraintrot.scenario.days import Day
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import Variant
from constraintrot.scenario.simulate import simulate

FILES = [(family, locale) for family in catalogue() for locale in catalogue()[family]]
OFFICE = load("soft_email").variant(3)
SERVICE = load("hard_pii").variant(1)


def test_a_call_of_a_shown_history_gets_the_answer_that_it_got() -> None:
    turns = history.for_tokens(OFFICE, 4000)
    calls = [call for turn in turns for call in turn.calls]
    for call in calls:
        first = next(
            one for one in calls if (one.function, one.arguments) == (call.function, call.arguments)
        )
        assert simulate(OFFICE, call.function, call.arguments, turns) == first.result


@pytest.mark.parametrize(("family", "locale"), FILES)
def test_calls_of_the_history_are_answered_without_it(family: str, locale: str) -> None:
    """A call is understood by its arguments alone; what a result says may differ in what they leave open."""
    variant = load(family, locale).variant(2)
    calls = [call for turn in history.for_tokens(variant, 5000) for call in turn.calls[-1:]]
    found = 0
    for call in calls:
        answer = simulate(variant, call.function, call.arguments)
        assert answer
        assert "{{" not in answer
        other = dict.fromkeys(call.arguments, "qqqq")
        found += answer[:6] != simulate(variant, call.function, other)[:6]
    assert found > 0.8 * len(calls)


def test_the_same_call_is_always_answered_alike() -> None:
    given = {"room": "Alder"}
    first = simulate(OFFICE, "get_room", given)
    assert first.startswith("Alder, floor 1, 4 seats")
    assert simulate(OFFICE, "get_room", dict(given)) == first
    assert simulate(load("soft_email").variant(4), "get_room", given) != first


def test_facts_of_the_history_are_the_facts_of_the_look_up() -> None:
    """A room that the history measured has the same readings when it is looked up again."""
    for turn in history.for_tokens(OFFICE, 30_000):
        for call in turn.calls:
            if call.function in (
                "get_room",
                "get_stock",
                "get_leave",
                "get_disks",
                "list_versions",
            ):
                if "error" in call.result:
                    continue
                assert simulate(OFFICE, call.function, call.arguments) == call.result


def test_given_arguments_stand_in_the_answer() -> None:
    answer = simulate(OFFICE, "get_ticket", {"ticket": 23456})
    assert json.loads(answer)["ticket"] == 23456
    answer = simulate(OFFICE, "get_ticket", {"ticket": "23456"})
    assert json.loads(answer)["ticket"] == 23456
    answer = simulate(SERVICE, "get_branch", {"branch": "canal row"})
    assert json.loads(answer)["branch"] == "Canal Row"
    rota = simulate(OFFICE, "get_rota", {"team": "stores", "date": day(OFFICE, 3).iso})
    assert rota.startswith(f"team stores, {day(OFFICE, 3).iso}")


def day(variant: Variant, days: int) -> Day:
    return history.draws_for(variant, Random(0), deck="").today.work(days)


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        ("get_room", {"room": "Larch Hall"}, "no room called 'Larch Hall'"),
        ("get_room", {}, "missing argument 'room'"),
        ("get_room", {"room": ""}, "missing argument 'room'"),
        ("get_room", {"room": None}, "missing argument 'room'"),
        ("get_ticket", {"ticket": 7}, "no ticket 7"),
        ("get_ticket", {"ticket": "the blue one"}, "no ticket the blue one"),
        ("get_ticket", {"ticket": [[1]]}, "no ticket"),
        ("get_ticket", {"ticket": {"id": 23456}}, "no ticket"),
        ("get_ticket", {"ticket": 10**5000}, "no ticket"),
        ("get_forecast", {"place": "Denholt", "date": "some day"}, "no forecast for 'Denholt'"),
        ("get_leave", {"person": "x" * 5000}, "nobody called"),
    ],
)
def test_what_is_not_there_is_not_found(
    function: str, arguments: dict[str, Any], says: str
) -> None:
    answer = simulate(OFFICE, function, arguments)
    assert says in answer
    assert len(answer) < 400


def test_errors_are_in_the_language_of_the_history() -> None:
    assert "falta el argumento" in simulate(load("soft_email", "es").variant(0), "get_room", {})
    assert "缺少参数" in simulate(load("soft_email", "zh").variant(0), "get_room", {})


def test_a_tool_of_no_topic_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="get_room"):
        simulate(OFFICE, "send_email", {"to": "dana@whitfield-legal.example"})
