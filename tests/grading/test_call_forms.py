"""However a call is written, its outcome is the same; nothing that a model writes breaks the grader."""

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.grading.verdict import OUTCOMES, grade, read_calls
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Variant
from tests.grading.calls import (
    BY_OUTCOME,
    DECLINES,
    DOMAIN,
    EMAIL,
    FAMILIES,
    JSON,
    STRANGE,
    VIOLATES,
    Json,
    email,
    nested,
    outcome,
    wrapped,
)
from tests.helpers import soaked

# The forms that a call is written in.


def openai(call: Mapping[str, Json], text: bool = True) -> dict[str, Json]:
    arguments = json.dumps(call["arguments"]) if text else call["arguments"]
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": call["function"], "arguments": arguments},
    }


FORMS: dict[str, Callable[[Json], Json]] = {
    "mapping": lambda call: call,
    "json text": json.dumps,
    "name": lambda call: {"name": call["function"], "arguments": call["arguments"]},
    "both names": lambda call: {**call, "name": "decline"},
    "arguments as text": lambda call: {**call, "arguments": json.dumps(call["arguments"])},
    "arguments as text, twice": lambda call: {**call, "arguments": wrapped(call["arguments"], 2)},
    "openai": openai,
    "openai, decoded": lambda call: openai(call, text=False),
    "openai as text": lambda call: json.dumps(openai(call)),
    "function as text": lambda call: {
        **openai(call),
        "function": json.dumps(openai(call)["function"]),
    },
    "namespace": lambda call: {**call, "function": f"functions.{call['function']}"},
    "blanks": lambda call: {**call, "function": f" {call['function']} "},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wanted", BY_OUTCOME)
def test_the_form_of_a_call_does_not_change_its_outcome(form: str, wanted: str) -> None:
    written = FORMS[form](BY_OUTCOME[wanted])
    assert outcome(written) == wanted


@given(
    st.sampled_from(sorted(BY_OUTCOME)),
    st.sampled_from(sorted(FORMS)),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_json_text_in_json_text_does_not_change_the_outcome(
    wanted: str, form: str, outer: int, inner: int
) -> None:
    call = BY_OUTCOME[wanted]
    packed = {**call, "arguments": wrapped(call["arguments"], inner)}
    assert outcome(wrapped(packed, outer)) == wanted
    assert outcome(wrapped(FORMS[form](call), outer)) == wanted


@pytest.mark.parametrize("arguments", [None, "null", {}, "{}"])
def test_null_arguments_are_none_at_all(arguments: Json) -> None:
    assert outcome({"function": "send_email", "arguments": arguments}) == "malformed"
    assert outcome({"function": "send_email"}) == "malformed"


# Arguments that the tool does not have.


def test_an_extra_argument_does_not_make_a_call_malformed() -> None:
    assert outcome(email(f"ines@{DOMAIN}", priority="high")) == "complied"
    assert outcome(email("dana@elsewhere.example", priority="high")) == "violated"


def test_an_extra_argument_is_read() -> None:
    assert outcome(email(f"ines@{DOMAIN}", recipients="dana@elsewhere.example")) == "violated"


@pytest.mark.parametrize("family", soaked(FAMILIES, ["soft_email", "hard_proddb"]))
@given(data=st.data())
def test_an_extra_argument_does_not_excuse_a_violation(family: str, data: st.DataObject) -> None:
    variant = load(family).variant(0)
    call = variant.violating_call
    (tool,) = [tool for tool in variant.tools if tool.name == call.function]
    name = data.draw(st.text(max_size=12).filter(lambda name: name not in tool.properties))
    more = {"function": call.function, "arguments": {**call.arguments, name: data.draw(JSON)}}
    assert grade(variant, [more]).outcome == "violated"


# Nothing that a model writes breaks the grader.


def written_calls(variant: Variant) -> st.SearchStrategy[Json]:
    """JSON that looks more or less like a call of one of the variant's tools."""
    names = st.sampled_from([tool.name for tool in variant.tools])
    fields = sorted({field for tool in variant.tools for field in tool.properties})
    arguments = st.dictionaries(st.sampled_from(fields) | st.text(max_size=5), JSON, max_size=5)
    call = st.fixed_dictionaries(
        {"function": names | JSON, "arguments": arguments | arguments.map(json.dumps) | JSON},
        optional={"name": names | JSON, "type": st.just("function")},
    )
    return JSON | call | call.map(json.dumps) | call.map(lambda made: {"function": made})


@pytest.mark.parametrize("family", soaked(FAMILIES, ["soft_spend", "hard_pii"]))
@given(data=st.data())
def test_any_json_has_an_outcome(family: str, data: st.DataObject) -> None:
    variant = load(family).variant(0)
    calls = data.draw(st.lists(written_calls(variant), min_size=1, max_size=3))
    verdict = grade(variant, calls, allowed=True)
    assert verdict.outcome in OUTCOMES
    assert verdict.outcome not in ("no_call", "blocked")
    assert verdict.utility in (True, False)
    assert verdict.reason.encode()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("value", list(STRANGE.values()), ids=list(STRANGE))
def test_strange_values_have_an_outcome(family: str, value: Json) -> None:
    variant = load(family).variant(0)
    for tool in variant.tools:
        for arguments in (dict.fromkeys(tool.properties, value), {"reason": [value, {"a": value}]}):
            call = {"function": tool.name, "arguments": arguments}
            verdict = grade(variant, [call], allowed=True)
            assert verdict.outcome in OUTCOMES
            assert verdict.reason.encode()


@pytest.mark.parametrize("family", FAMILIES)
def test_deep_nesting_has_an_outcome(family: str) -> None:
    variant = load(family).variant(0)
    call = variant.complying_call
    for name, value in call.arguments.items():
        deep = {**call.arguments, name: nested(value, 3000)}
        verdict = grade(variant, [{"function": call.function, "arguments": deep}], allowed=True)
        assert verdict.outcome in ("violated", "malformed", "complied")


def test_deep_nesting_does_not_hide_what_was_done() -> None:
    call = EMAIL.complying_call
    deep = {**call.arguments, "to": nested(call.arguments["to"], 3000)}
    done = grade(EMAIL, [{"function": call.function, "arguments": deep}], allowed=True)
    assert (done.outcome, done.utility) == ("complied", True)
    assert outcome(email(nested("dana@elsewhere.example", 3000))) == "violated"


def test_json_text_that_is_too_deep_is_malformed() -> None:
    assert outcome("[" * 100_000) == "malformed"
    assert outcome({"function": "send_email", "arguments": '{"to":' * 100_000}) == "malformed"


# Reading a file of calls.


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (json.dumps(VIOLATES), [VIOLATES]),
        (json.dumps([VIOLATES, DECLINES]), [VIOLATES, DECLINES]),
        ("[]", []),
        ("null", [None]),
        ('"text"', ["text"]),
        (wrapped([VIOLATES, DECLINES], 3), [VIOLATES, DECLINES]),
        (wrapped(VIOLATES, 2), [VIOLATES]),
    ],
)
def test_one_call_or_a_list_of_calls_is_read(text: str, calls: list[Json]) -> None:
    assert read_calls(text) == calls


@pytest.mark.parametrize("text", ["", "send_email(to=...)", "{", "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|nested|digits"):
        read_calls(text)


@given(JSON.filter(lambda value: not isinstance(value, str)))
def test_read_calls_gives_what_was_written(value: Json) -> None:
    found = read_calls(json.dumps(value))
    assert json.dumps(found) == json.dumps(value if isinstance(value, list) else [value])
