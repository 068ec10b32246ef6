import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.episode.scaffold import answer_format
from constraintrot.episode.scaffold.answer_format import ToolSpec
from constraintrot.episode.scaffold.instructions import SCAFFOLDS, Scaffold, instructions
from constraintrot.errors import ParameterError
from constraintrot.scenario.schema import LOCALES

TOOLS = [
    ToolSpec(
        "send_email",
        "Send an email.",
        {
            "type": "object",
            "properties": {"to": {"type": "string"}, "urgent": {"type": "boolean"}},
            "required": ["to"],
        },
    ),
    ToolSpec("decline", "Decline the request without acting.", {"type": "object"}),
]
CALL = {"name": "send_email", "arguments": {"to": "bob@example.com"}}
READ = {"function": "send_email", "arguments": {"to": "bob@example.com"}}

# No surrogates: JSON text of a lone one cannot be stored, and is refused.
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)
arguments = st.dictionaries(texts, values)
names = st.sampled_from([tool.name for tool in TOOLS])


@given(names, arguments)
def test_a_rendered_call_reads_back(name: str, given_arguments: dict[str, Any]) -> None:
    reading = answer_format.read(answer_format.render_call(name, given_arguments), TOOLS)
    assert reading.error is None
    assert reading.calls == [{"function": name, "arguments": given_arguments}]
    assert (reading.policy, reading.breaks) == (None, None)


@given(texts, st.sampled_from(["yes", "no"]), names, arguments)
def test_a_deliberate_answer_reads_back(
    policy: str, breaks: str, name: str, given_arguments: dict[str, Any]
) -> None:
    kept = answer_format.deliberation(policy, breaks)
    assert answer_format.read_deliberation(kept) == (policy, breaks)
    reading = answer_format.read(
        answer_format.render_answer(kept, [(name, given_arguments)]), TOOLS
    )
    assert (reading.policy, reading.breaks) == (policy, breaks)
    assert reading.calls == [{"function": name, "arguments": given_arguments}]


@given(st.lists(st.tuples(names, arguments), min_size=2, max_size=3))
def test_several_calls_read_back_as_a_list(calls: list[tuple[str, dict[str, Any]]]) -> None:
    reading = answer_format.read(answer_format.render_answer("", calls), TOOLS)
    assert [(call["function"], call["arguments"]) for call in reading.calls] == calls


@given(texts)
def test_reading_never_raises(text: str) -> None:
    reading = answer_format.read(text, TOOLS)
    assert bool(reading.calls) != bool(reading.error)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALL),
        f"\n  {json.dumps(CALL, indent=2)}\n",
        f"```json\n{json.dumps(CALL)}\n```",
        json.dumps([CALL]),
    ],
)
def test_accepted(text: str) -> None:
    assert answer_format.read(text, TOOLS).calls == [READ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '"send_email"',
        "Sure! " + json.dumps(CALL),
        json.dumps(CALL) + " Done.",
        json.dumps(CALL) * 2,
        "{" + json.dumps(CALL) + "}",
        json.dumps(CALL)[:-1],
        json.dumps({**CALL, "id": 1}),
        json.dumps({"name": "send_email"}),
        json.dumps({"name": "send_email", "arguments": "{}"}),
        json.dumps({"name": "delete_all", "arguments": {}}),
        json.dumps({"name": ["send_email"], "arguments": {}}),
        json.dumps([CALL, "decline"]),
        '{"name": "decline", "name": "send_email", "arguments": {}}',
        '{"name": "decline", "arguments": {"x": NaN}}',
        '{"name": "decline", "arguments": {"x": -Infinity}}',
        '{"name": "decline", "arguments": {"x": 1e999}}',
        '{"name": "decline", "arguments": {"x": "\\ud800"}}',
        '{"name": "decline", "arguments": {"x": ' + "9" * 5000 + "}}",
        "[" * 100_000,
        f"```python\n{json.dumps(CALL)}\n```",
        f"```json\n{json.dumps(CALL)}\n``` and so",
        json.dumps({"policy": "none", "breaks_policy": "no"}),
        json.dumps({"policy": "none", "breaks_policy": "maybe", "call": CALL}),
        json.dumps({"policy": None, "breaks_policy": "no", "call": CALL}),
        json.dumps({"policy": "none", "breaks_policy": "no", "call": [CALL]}),
        json.dumps([{"policy": "none", "breaks_policy": "no", "call": CALL}]),
    ],
)
def test_refused(text: str) -> None:
    reading = answer_format.read(text, TOOLS)
    assert reading.error
    assert reading.calls == []


@pytest.mark.parametrize("text", ["none", "None.", " none ", "无", "无。", "ninguna", ""])
def test_no_policy_recalled(text: str) -> None:
    assert answer_format.Reading(policy=text).recalled is None


def test_policy_recalled() -> None:
    assert answer_format.Reading(policy=" None of the emails go out. ").recalled == (
        "None of the emails go out."
    )


def test_tools_render_alike_whatever_holds_them() -> None:
    class Other:
        name, description, parameters = TOOLS[1].name, TOOLS[1].description, TOOLS[1].parameters

    assert answer_format.render_tools([TOOLS[1]]) == answer_format.render_tools([Other()])
    assert "拒绝" in answer_format.render_tools([ToolSpec("decline", "拒绝该请求", {})])


def test_schema_has_one_alternative_a_tool_in_their_order() -> None:
    schema = answer_format.call_schema(TOOLS)
    constants = [each["properties"]["name"]["const"] for each in schema["anyOf"]]
    assert constants == ["send_email", "decline"]
    first = schema["anyOf"][0]
    assert first["properties"]["arguments"]["required"] == ["to"]
    assert first["properties"]["arguments"]["additionalProperties"] is False


def test_deliberate_schema_asks_for_the_policy_first() -> None:
    schema = answer_format.call_schema(TOOLS, "deliberate")
    assert list(schema["properties"]) == ["policy", "breaks_policy", "call"]
    assert schema["properties"]["call"] == answer_format.call_schema(TOOLS)


def test_schema_needs_tools_and_a_known_scaffold() -> None:
    with pytest.raises(ParameterError, match="at least one tool"):
        answer_format.call_schema([])
    with pytest.raises(ParameterError, match="deliberate"):
        answer_format.call_schema(TOOLS, "guess")  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_instructions_name_the_format_and_no_policy(scaffold: Scaffold, locale: str) -> None:
    text = instructions(scaffold, locale)
    assert '"name"' in text
    assert '"arguments"' in text
    assert ("decline" in text) == (scaffold == "deliberate")
    for field in ("policy", "breaks_policy", "call"):
        assert (f'"{field}"' in text) == (scaffold == "deliberate")


def test_instructions_of_an_unknown_locale() -> None:
    with pytest.raises(ParameterError, match="zh"):
        instructions("direct", "fr")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("scaffold", SCAFFOLDS)
@pytest.mark.parametrize("native", [True, False])
def test_without_a_tool_to_decline_by_none_is_named(
    scaffold: Scaffold, locale: str, native: bool
) -> None:
    text = instructions(scaffold, locale, native=native, decline_tool=False)
    assert "decline" not in text
    assert text != instructions(scaffold, locale, native=native)


def test_words_stand_in_place_of_a_call_where_no_tool_declines() -> None:
    acting = TOOLS[:1]
    assert answer_format.read('"I cannot."', acting).prose == "I cannot."
    deliberate = '{"policy": "none", "breaks_policy": "no", "call": "Which one?"}'
    reading = answer_format.read(deliberate, acting)
    assert (reading.prose, reading.policy, reading.calls, reading.error) == (
        "Which one?", "none", [], None
    )  # fmt: skip
    assert answer_format.read('"I cannot."', TOOLS).error
    assert answer_format.read(deliberate, TOOLS).error


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_the_schema_takes_words_where_it_is_asked_to(scaffold: Scaffold) -> None:
    schema = answer_format.call_schema(TOOLS[:1], scaffold, words=True)
    calls = schema if scaffold == "direct" else schema["properties"]["call"]
    assert [one["type"] for one in calls["anyOf"]] == ["object", "string"]
