"""The expressions of history templates: what they compute, and what they refuse."""

from datetime import date
from random import Random

import pytest

from constraintrot.errors import ScenarioError
from constraintrot.scenario.compiler import Env
from constraintrot.scenario.days import Clock, Day
from constraintrot.scenario.draws import Draws, pure, today
from constraintrot.scenario.expression import evaluate, expression, text


def env(locale: str = "en", **values: object) -> Env:
    draws = Draws(Random(1), today("a history", locale), deck="a deck", world="a history")
    return {**pure(locale), **draws.functions(), "today": draws.today, **values}


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("a + 2 * b - 1", 12),
        ("(a + 1) // 2 % 3", 2),
        ("-a / 2", -1.5),
        ("'grew' if b > a else 'shrank'", "grew"),
        ("a < b <= 5 and not a == b", True),
        ("a > b or a in [3, 4]", True),
        ("'x' not in ['y']", True),
        ("room.seats", 6),
        ("rooms[0].seats + rooms[-1]['seats']", 16),
        ("[r.seats for r in rooms if r.seats > 6]", [10]),
        ("sum(r.seats for r in rooms)", 16),
        ("join(', ', ['a', 'b', 'c'], ' and ')", "a, b and c"),
        ("f'{a}-{b:03}|{room.name:<5}|'", "3-005|Elm  |"),
        ("f'{a / 2:.1f}'", "1.5"),
        ("by(rooms, 'seats', 1)[0].name", "Ash"),
        ("most(rooms, 'seats').name + least(rooms, 'seats').name", "AshElm"),
        ("median([1, 2, 10])", 2),
        ("{'n': a, 'of': [b]}", {"n": 3, "of": [5]}),
        ("json({'n': a})", '{"n": 3}'),
        ("[1, 2, 3, 4][1:3]", [2, 3]),
        ("row(n=a).n", 3),
        ("text(clock('09:30') + 45)", "10:15"),
        ("clock('10:15') - clock('09:30')", 45),
        ("clock('23:30') + 60 < clock('01:00')", True),
        ("num(1234567)", "1,234,567"),
        ("percent(1, 3)", 33),
    ],
)
def test_what_an_expression_computes(source: str, result: object) -> None:
    rooms = [{"name": "Elm", "seats": 6}, {"name": "Ash", "seats": 10}]
    assert expression(source).run(env(a=3, b=5, room=rooms[0], rooms=rooms)) == result


@pytest.mark.parametrize(
    "source",
    [
        "().__class__",
        "'a'.join(['b'])",
        "a.__init__",
        "(lambda: 1)()",
        "9 ** 9 ** 9",
        "'a' * 1000000000",
        "[0] * 1000000000",
        "[x for x in a for y in a]",
        "[x for x, y in a]",
        "f(**a)",
        "f'{a:>1000000000}'",
        "f'{a:{b}}'",
        "a := 1",
        "a if",
        "import os",
        "b'bytes'",
        "a[::2]",
        "{**a}",
        "~a",
        "a @ b",
        "a is b",
        "x.values",
        "today.value",
    ],
)
def test_anything_else_is_refused(source: str) -> None:
    values = env(a=1, b=2, f=print, x="a text")
    with pytest.raises(ScenarioError):
        expression(source).run(values)


def test_an_expression_says_which_names_it_needs() -> None:
    assert expression("[x.n + y for x in rows if len(rows) > 1]").names == {"rows", "y", "len"}
    assert expression("pick(pool, 2)").call is not None
    assert expression("pick(pool, 2) + [1]").call is None


def test_a_text_is_filled_in_and_a_single_placeholder_keeps_its_type() -> None:
    values = env(n=3, day={"x": {"y": 1}}, half=2.0)
    assert text("{{n}} of {{ n + 1 }}, {{half}}").run(values) == "3 of 4, 2"
    assert evaluate({"n": "{{n}}", "s": ["{{n}}x"]}, values) == {"n": 3, "s": ["3x"]}
    assert text("{{json({'a': {'b': 1}})}}!").run(values) == '{"a": {"b": 1}}!'
    with pytest.raises(ScenarioError, match="never closed"):
        text("{{n")


def test_days_are_working_days_and_agree_with_their_weekday() -> None:
    values = env()
    for offset in range(-15, 16):
        day = expression(f"day({offset}, {offset})").run(values)
        assert isinstance(day, Day)
        assert day.value.weekday() < 5
        assert day.text.startswith(day.value.strftime("%A"))
        assert (day > values["today"]) == (offset > 0)
    assert {today(str(n), "en").value.weekday() for n in range(60)} == {0, 1, 2, 3, 4}


def test_nobody_works_on_a_public_holiday() -> None:
    """3 October in German histories."""
    for locale, before in (("de", "2025-10-02"), ("en", "2025-10-03")):
        monday = Day(date(2025, 10, 6), locale)
        assert monday.work(-1).iso == before
        assert Day(date(2025, 10, 2), locale).work(2 if locale == "en" else 1) == monday


@pytest.mark.parametrize(
    ("locale", "written", "number"),
    [
        ("en", "Thursday 12 June", "12,345.5"),
        ("es", "jueves 12 de junio", "12.345,5"),
        ("zh", "6月12日（周四）", "12,345.5"),
        ("de", "Donnerstag, 12. Juni", "12.345,5"),
    ],
)
def test_a_locale_writes_days_and_numbers_its_own_way(
    locale: str, written: str, number: str
) -> None:
    day = Day(today("x", locale).value.replace(year=2025, month=6, day=12), locale)
    assert day.text == written
    assert pure(locale)["num"](12345.5, 1) == number
    assert pure("es")["num"](1234) == "1234"


def test_draws_stay_within_their_bounds() -> None:
    values = env(pool=list("abcdef"))
    for _ in range(50):
        assert 3 <= expression("int(3, 5)").run(values) <= 5
        assert expression("time('09:00', '10:00', 15)").run(values).minutes in range(540, 601, 15)
        assert len(set(expression("pick(pool, 6)").run(values))) == 6
        parts = expression("parts(20, 4)").run(values)
        assert sum(parts) == 20
        assert min(parts) > 0
        assert len(parts) == 4
        assert len(set(expression("ints(4, 1, 5)").run(values))) == 4
    with pytest.raises(ScenarioError):
        expression("pick(pool, 7)").run(values)
    with pytest.raises(ScenarioError):
        Clock.parse("25:00")


def test_facts_stay_the_same_throughout_a_history() -> None:
    once = [expression("fact(1, 1000, 'room', n)").run(env(n=n)) for n in range(40)]
    again = [expression("fact(1, 1000, 'room', n)").run(env(n=n)) for n in range(40)]
    assert once == again
    assert len(set(once)) > 30
    several = expression("facts(5, 1, 9, 'shelf')").run(env())
    assert several == expression("facts(5, 1, 9, 'shelf')").run(env())
    assert len(set(several)) == 5
    other = Draws(Random(1), today("b", "en"), world="another history")
    assert [other.fact(1, 1000, "room", n) for n in range(40)] != once


def test_a_subject_comes_again_only_after_all_others_and_then_asked_otherwise() -> None:
    pool = list("abcde")
    dealt: list[tuple[str, int]] = []
    for used in range(15):
        draws = Draws(Random(used), today("x", "en"), used, deck="deck")
        dealt.append((draws.subject(pool), draws.phrase % 3))
    rounds = [[one for one, _ in dealt[at : at + 5]] for at in (0, 5, 10)]
    assert all(sorted(one) == pool for one in rounds)
    assert len(set(dealt)) == 15


def test_a_reference_never_comes_twice() -> None:
    draws = Draws(Random(3), today("x", "en"))
    drawn = [draws.ref(100, 199) for _ in range(400)]
    assert len(set(drawn)) == 400
    assert min(drawn) >= 100
