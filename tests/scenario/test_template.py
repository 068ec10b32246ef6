"""Placeholders in scenario texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.errors import ScenarioError
from constraintrot.scenario.template import Value, fill, names, show, unfillable

VALUES: dict[str, Value] = {"limit": 250, "rate": 99.5, "whole": 80.0, "org": "Calder", "ref.2": 7}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{limit}}", 250),
        ("{{ limit }}", 250),
        ("{{rate}}", 99.5),
        ("{{org}}", "Calder"),
        ("{{ref.2}}", 7),
        ("up to {{limit}}", "up to 250"),
        ("{{limit}} ", "250 "),
        ("{{limit}}{{ref.2}}", "2507"),
        ("{{whole}} or {{rate}}", "80 or 99.5"),
        ("{{org}}'s {{org}}", "Calder's Calder"),
        ("", ""),
        ("no {placeholder} {{ }} {{Upper}} {{a-b}} {{org.}}", ...),
        ("{{{limit}}}", "{250}"),
    ],
)
def test_a_placeholder_takes_its_value(text: str, filled: object) -> None:
    found = fill(text, VALUES)
    assert found == (text if filled is ... else filled)
    assert type(found) is type(text if filled is ... else filled)


def test_a_whole_float_keeps_its_type_only_by_itself() -> None:
    assert isinstance(fill("{{whole}}", VALUES), float)
    assert fill("{{whole}} dollars", VALUES) == "80 dollars"


def test_structures_are_filled_in_at_any_depth() -> None:
    node = {
        "to": "{{org}}",
        "lines": ["{{limit}}", {"text": "of {{org}}"}, ("{{rate}}", None)],
        "{{org}}": True,
        "seats": 4,
    }
    assert fill(node, VALUES) == {
        "to": "Calder",
        "lines": [250, {"text": "of Calder"}, [99.5, None]],
        "{{org}}": True,
        "seats": 4,
    }
    assert node["to"] == "{{org}}"


def test_a_value_is_not_filled_in_again() -> None:
    assert fill("{{a}} {{b}}", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}} {{a}}"


def test_values_may_come_from_a_function() -> None:
    asked: list[str] = []

    def lookup(name: str) -> Value:
        asked.append(name)
        return len(asked)

    assert fill(["{{a}}", "{{b.2}} and {{a}}"], lookup) == [1, "2 and 3"]
    assert asked == ["a", "b.2", "a"]


@pytest.mark.parametrize("node", ["{{colour}}", "a {{colour}}", ["x", {"y": ["{{colour}}"]}]])
def test_an_unknown_name_lists_the_known_ones(node: object) -> None:
    with pytest.raises(ScenarioError, match=r"\{\{colour\}\} has no value; known: limit, org, r"):
        fill(node, VALUES)


@pytest.mark.parametrize(
    ("node", "found"),
    [
        ("{{org}} and {{ref.2}} and {{org}}", {"org", "ref.2"}),
        ({"a": ["{{limit}}", ("{{rate}}",)], "{{key}}": 4}, {"limit", "rate"}),
        ({}, set()),
        ([], set()),
        (None, set()),
        (3, set()),
        ("none {here}", set()),
    ],
)
def test_names(node: object, found: set[str]) -> None:
    assert names(node) == found


@pytest.mark.parametrize(
    ("node", "found"),
    [
        ("{{Org}} and {{org}} and {{__import__('os')}}", ["{{Org}}", "{{__import__('os')}}"]),
        ({"a": ["{{ }}", ("{{a-b}}", "{{a\nb}}")], "{{Key}}": 4}, ["{{ }}", "{{a-b}}", "{{a\nb}}"]),
        ('{"a": {"b": {}}} {{{limit}}} {{ref.2}} {"a":{"b":{{limit}}}} {{', []),
        ({}, []),
        (3, []),
    ],
)
def test_what_cannot_be_filled_in(node: object, found: list[str]) -> None:
    assert list(unfillable(node)) == found


@pytest.mark.parametrize(
    ("value", "text"), [(80.0, "80"), (99.5, "99.5"), (-3.0, "-3"), (7, "7"), ("007", "007")]
)
def test_show(value: Value, text: str) -> None:
    assert show(value) == text


@given(st.text(), st.text())
def test_filling_in_changes_nothing_but_placeholders(before: str, value: str) -> None:
    plain = before.replace("{", "").replace("}", "")
    assert fill(f"{plain}|{{{{name}}}}|{plain}", {"name": value}) == f"{plain}|{value}|{plain}"


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), st.integers()))
def test_what_names_finds_is_all_that_filling_in_needs(values: dict[str, int]) -> None:
    node = [f"x {{{{{name}}}}}" for name in values]
    assert names(node) == set(values)
    assert fill(node, dict[str, Value](values)) == [f"x {value}" for value in values.values()]
