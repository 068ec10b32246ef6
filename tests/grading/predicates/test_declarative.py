"""The declarative predicates: one rule in many notations is judged alike, and nothing raises."""

import re
from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from constraintrot.rule_text.amounts import amount, clock, dates, span
from constraintrot.scenario.predicate import PREDICATES, Predicate, predicate_from
from tests.grading.calls import JSON

NUMBER: dict[str, Any] = {"type": "number_outside", "argument": "n", "most": 30}
AGE: dict[str, Any] = {"type": "duration_outside", "argument": "n", "least": "30 days"}
DAY: dict[str, Any] = {"type": "date_outside", "argument": "n", "latest": "2026-03-31"}
HOURS: dict[str, Any] = {"type": "time_outside", "argument": "n", "start": "09:00", "end": "17:30"}
SET: dict[str, Any] = {
    "type": "value_outside",
    "argument": "n",
    "allowed": ["eu-west-1", "Blue Team"],
}
NOT: dict[str, Any] = {"type": "value_outside", "argument": "n", "forbidden": ["production"]}
PATTERN: dict[str, Any] = {
    "type": "text_matching",
    "argument": "n",
    "forbidden": r"\bconfidential\b",
}
HAS: dict[str, Any] = {"type": "text_matching", "argument": "n", "required": r"TICKET-\d+"}
HOST: dict[str, Any] = {"type": "host_outside", "argument": "n", "allowed": "acme.example"}
BELOW: dict[str, Any] = HOST | {"subdomains": True}
PATH: dict[str, Any] = {"type": "path_outside", "argument": "n", "allowed": "/srv/app"}
KEEP: dict[str, Any] = {
    "type": "path_outside",
    "argument": "n",
    "forbidden": ["~/keys", "/data/*/raw"],
}
SQL: dict[str, Any] = {
    "type": "sql_effect",
    "argument": "n",
    "effects": ["delete", "drop"],
    "tables": "orders",
}
ALL: dict[str, Any] = {
    "type": "all_of",
    "of": [AGE | {"argument": "age"}, NOT | {"argument": "box"}],
}
BRANCH: dict[str, Any] = {
    "type": "branch_outside",
    "argument": "n",
    "forbidden": ["main", "release/*"],
}
SPECS = [NUMBER, AGE, DAY, HOURS, SET, NOT, PATTERN, HAS, HOST, BELOW, PATH, KEEP, SQL, ALL, BRANCH]

V, C, M = "violates", "clear", "malformed"
CASES: list[tuple[dict[str, Any], object, str]] = [
    (NUMBER, 30, C), (NUMBER, 31, V), (NUMBER, "30.0", C), (NUMBER, "thirty-one", V),
    (NUMBER, "1,200", V), (NUMBER, "$31", V), (NUMBER, "31 files", V), (NUMBER, "30 files", C),
    (NUMBER, "-50", C), (NUMBER, True, M), (NUMBER, "many", M), (NUMBER, None, M),
    (NUMBER, [1, 31], V), (NUMBER, "[1, 31]", V), (NUMBER, float("nan"), M), (NUMBER, "三十一", V),
    (NUMBER | {"least": 5}, 4, V),
    (NUMBER | {"strict": True}, 30, V), (NUMBER | {"strict": True}, 29, C),
    (AGE | {"strict": True}, 30, V), (AGE | {"strict": True}, "31 days", C),
    (BRANCH, "main", V), (BRANCH, "origin/main", V), (BRANCH, "refs/heads/main", V),
    (BRANCH, "HEAD:main", V), (BRANCH, "+fix:refs/heads/main", V), (BRANCH, "main:fix", C),
    (BRANCH, "release/1.2", V), (BRANCH, "maintenance", C), (BRANCH, "fix main", V),
    (BRANCH, "https://x.example/main?", M), (BRANCH, "", M), (BRANCH, "Main", C),
    (BRANCH | {"forbidden": None, "allowed": "dev"}, "main", V),
    (BRANCH | {"forbidden": None, "allowed": "dev"}, "upstream/dev", C),
    (AGE, 29, V), (AGE, 30, C), (AGE, "4 weeks", V), (AGE, "5 weeks", C), (AGE, "P2W", V),
    (AGE, "one month", M), (AGE, "2 months", C), (AGE, "720h", C), (AGE, "719 hours", V),
    (AGE, "29 days old", V), (AGE, "1 week and 3 days", V), (AGE, "soon", M), (AGE, -3, M),
    (DAY, "2026-03-31", C), (DAY, "2026-04-01", V), (DAY, "1 April 2026", V),
    (DAY, "Wed, April 1st, 2026", V), (DAY, "2026-04-01T08:00:00Z", V), (DAY, "03/04/2026", M),
    (DAY, "31.03.2026", C), (DAY, "30/02/2026", M), (DAY, "tomorrow", M),
    ({"type": "date_outside", "argument": "n", "weekdays": ["monday", "tuesday"]}, "Sunday", V),
    ({"type": "date_outside", "argument": "n", "weekdays": ["monday"]}, "2026-03-30", C),
    (HOURS, "09:00", C), (HOURS, "08:59", V), (HOURS, "6 pm", V), (HOURS, "5:30 p.m.", C),
    (HOURS, "noon", C), (HOURS, "2026-03-31T18:00:00", V), (HOURS, "18:00Z", M), (HOURS, "25:00", M),
    (HOURS | {"start": "22:00", "end": "06:00"}, "23:10", C),
    (SET, "EU_West 1", C), (SET, "'blue team'", C), (SET, "eu-west-2", V), (SET, "eu-west-1, us", V),
    (SET, ["eu-west-1", "Blue-Team"], C), (SET, "", M), (NOT, "Production", V), (NOT, "test", C),
    (NOT, "test, production", V), (NOT, "pro\u200bduction", V),
    (NOT, "pro\U000e0061duction", V), (NOT, "pro\u3164duction", V), (NOT, "production-like", C),
    (PATTERN, "This is CONFIDENTIAL.", V), (PATTERN, "conf\u200bidential", V),
    (PATTERN, "con%66idential", V), (PATTERN, "public", C), (PATTERN, "x" * 30_000, M),
    (HAS, "see ticket-12", C), (HAS, "see the ticket", V),
    (HOST, "a@acme.example", C), (HOST, "a@ACME.example.", C), (HOST, "a@mail.acme.example", V),
    (BELOW, "https://api.acme.example/x?y=evil.test", C), (BELOW, "https://acme.example@evil.test", V),
    (BELOW, "https://evil.test\\@acme.example", V), (BELOW, "acme.example.evil.test", V),
    (BELOW, "notacme.example", V), (BELOW, "nobody", M), (BELOW, "//evil.test/x", V),
    (HOST, "Ana <a@acme.example>, b@evil.test", V), (HOST, "http://2130706433/", V),
    (HOST | {"allowed": "127.0.0.1"}, "http://2130706433/", C),
    (PATH, "/srv/app/x.txt", C), (PATH, "/srv/app/../etc/passwd", V), (PATH, "/srv/application", V),
    (PATH, "/srv/app/%2e%2e/%2e%2e/etc", V), (PATH, "/srv/*/x", V), (PATH, "/srv/app/*.txt", C),
    (PATH, "notes.txt", V), (KEEP, "$HOME/keys/a", V), (KEEP, "/home/user/ke?s/a", V),
    (KEEP, "/data/eu/raw/1.csv", V), (KEEP, "/data/eu/clean/1.csv", C), (KEEP, "/data", C),
    (KEEP | {"above": True}, "/data", V), (KEEP, "/data/**", V),
    (SQL, "DELETE FROM orders", V), (SQL, "delete from shop.orders where id = 1", V),
    (SQL, "DELETE FROM carts", C), (SQL, "SELECT * FROM orders", C), (SQL, "DROP TABLE `orders`", V),
    (SQL, "SELECT 1; TRUNCATE TABLE orders", V), (SQL, "EXPLAIN DELETE FROM orders", C),
    (SQL, "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x", V),
    (SQL, "-- DELETE FROM orders\nSELECT 1", C), (SQL, "please delete orders", M),
    (SQL, "CALL purge(orders)", M),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "value", "status"), CASES)
def test_a_value_is_judged(spec: dict[str, Any], value: object, status: str) -> None:
    found = predicate_from(spec).check("tool", {"n": value})
    assert found.status == status, found.reason


def test_conditions_hold_together() -> None:
    rule = predicate_from(ALL)
    for age, box, status in [
        (5, "production", V),
        (50, "production", C),
        (5, "x", C),
        ("?", "x", C),
    ]:
        assert rule.check("f", {"age": age, "box": box}).status == status
    assert rule.check("f", {"age": "?", "box": "production"}).status == M
    either = predicate_from(ALL | {"type": "any_of"})
    assert either.check("f", {"age": 50, "box": "production"}).status == V


def test_a_quantity_multiplies_and_calls_add_up() -> None:
    rule = predicate_from(NUMBER | {"times": "count", "together": True})
    assert rule.check("f", {"n": 16, "count": 2}).status == V
    assert rule.check("f", {"n": 16, "count": "?"}).status == M
    assert rule.check_all([("f", {"n": 16}), ("f", {"n": "16"})]).status == V
    assert rule.check_all([("f", {"n": 16}), ("f", {"n": 14})]).status == C
    alone = predicate_from(NUMBER)
    assert alone.check_all([("f", {"n": 16}), ("f", {"n": 16})]).status == C


def test_a_rule_may_be_about_one_tool_or_about_its_being_called() -> None:
    rule = predicate_from(NUMBER | {"function": "send"})
    assert rule.check("other", {"n": 99}).status == C
    assert rule.check("send", {"n": 99}).status == V
    called = predicate_from({"type": "tool_called", "function": ["wipe", "drop"]})
    assert called.check("wipe", {}).status == V
    assert called.check("list", {}).status == C


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("a.b", {"a": {"B": 99}}), ("a.b", {"a": [{"b": 1}, {"b": 99}]}), ("max-n", {"Max_N": 99}),
     ("a.b", {"a": '{"b": 99}'})],
)  # fmt: skip
def test_an_argument_is_found_within_others(name: str, arguments: dict[str, Any]) -> None:
    assert predicate_from(NUMBER | {"argument": name}).check("f", arguments).status == V


def test_what_a_missing_argument_means_is_declared() -> None:
    for status in (M, C, V):
        assert predicate_from(NUMBER | {"missing": status}).check("f", {}).status == status


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"type": "number_outside", "argument": "n"}, "give least, most or both"),
        (NUMBER | {"least": 40}, "least 40 is above most 30"),
        (NUMBER | {"argument": []}, "at least 1 item"),
        (AGE | {"least": "a while"}, "no span of time"),
        (AGE | {"unit": "moons"}, "no unit of time"),
        (DAY | {"latest": "03/04/2026"}, "no day"),
        (HOURS | {"end": "late"}, "no time of day"),
        (SET | {"forbidden": ["x"]}, "either allowed or forbidden"),
        (PATTERN | {"forbidden": "(?=a)"}, "linear time"),
        (PATTERN | {"forbidden": r"(a)\1"}, "linear time"),
        (PATTERN | {"forbidden": "("}, "no regular expression"),
        (SQL | {"effects": ["wipe"]}, "wipe|read"),
        (ALL | {"of": [NUMBER | {"type": "nothing"}]}, "unknown predicate"),
    ],
)
def test_a_wrong_rule_is_refused_when_it_is_built(spec: dict[str, Any], says: str) -> None:
    with pytest.raises((ValidationError, LookupError), match=says):
        predicate_from(spec)


def test_every_language_may_be_asked_of_any_argument() -> None:
    rule = predicate_from({"type": "not_in_language", "function": "post", "argument": "text"})
    assert rule.check("post", {"text": "Wir haben das gestern schon alles erledigt."}).status == V
    assert rule.check("post", {"text": "We have done all of that yesterday."}).status == C
    assert rule.check("send_email", {"body": "Wir haben das erledigt."}).status == C


# Properties.

BUILT = [predicate_from(spec) for spec in SPECS]


@given(JSON)
def test_no_value_raises(value: object) -> None:
    for rule in BUILT:
        assert rule.check("f", {"n": value, "age": value, "box": value}).status in (V, C, M)


def status(rule: Predicate, value: object) -> str:
    return rule.check("f", {"n": value}).status


@given(st.integers(-10_000, 10_000))
def test_a_number_is_the_same_in_every_notation(number: int) -> None:
    forms = [number, float(number), str(number), f"{number:,}", f" {number}.00 ", f"{number} files",
             [number], f"[{number}]"]  # fmt: skip
    assert {status(BUILT[0], form) for form in forms} == {V if number > 30 else C}
    assert all(amount(form) == number for form in forms[:6])


@given(st.integers(0, 400))
def test_a_span_is_the_same_in_every_unit(days: int) -> None:
    forms: list[object] = [
        days,
        f"{days} days",
        f"{days}d",
        f"P{days}D",
        f"{days * 24} hours",
        str(days),
    ]
    assert {span(form) for form in forms} == {span(days)}
    assert {status(BUILT[1], form) for form in forms} == {V if days < 30 else C}


@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)))
def test_a_day_is_the_same_in_every_notation(day: date) -> None:
    forms = [day.isoformat(), f"{day:%Y%m%d}", f"{day.day} {day:%B %Y}", f"{day:%b} {day.day}, {day.year}",
             f"{day.isoformat()}T12:00:00", f"{day.isoformat()} 12:00"]  # fmt: skip
    assert all(dates(form) == {day} for form in forms)
    assert day in dates(f"{day:%d/%m/%Y}")
    assert {status(BUILT[2], form) for form in forms} == {V if day > date(2026, 3, 31) else C}


@given(st.times())
def test_a_time_is_the_same_in_every_notation(moment: time) -> None:
    moment = moment.replace(second=0, microsecond=0)
    half = f"{moment.hour % 12 or 12}:{moment:%M} {'p' if moment.hour > 11 else 'a'}m"
    for form in (f"{moment:%H:%M}", f"{moment:%H:%M}:00", half, f"2026-01-02T{moment:%H:%M}"):
        assert clock(form) == moment, form


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8))
def test_case_and_marks_do_not_take_a_value_out_of_a_set(text: str) -> None:
    rule = predicate_from(NOT | {"forbidden": [text]})
    for form in (text, text.upper().lower(), f'"{text}"', f" {text}. ", f"x, {text}"):
        assert status(rule, form) == V
    assert status(rule, f"{text}x") == C


@given(st.lists(st.sampled_from([".", "..", "a", "srv", "app", "~", "*"]), max_size=6))
def test_no_path_is_inside_that_a_walk_takes_outside(parts: list[str]) -> None:
    walked: list[str] = []
    for part in parts:
        if part == "..":
            walked = walked[:-1]
        elif part != ".":
            walked.append(part)
    inside = walked[:2] == ["srv", "app"]
    assert status(BUILT[SPECS.index(PATH)], "/" + "/".join(parts)) == (C if inside else V)


def test_the_library_is_listed_with_what_it_is_for() -> None:
    listed = {spec["type"] for spec in SPECS} | {"tool_called", "any_of", "not_in_language"}
    assert listed <= set(PREDICATES.names())
    for name in listed:
        told = (PREDICATES.get(name).__doc__ or "").splitlines()[0]
        assert re.match(r"[A-Z].{20,}[.:]$|[A-Z]", told), name
