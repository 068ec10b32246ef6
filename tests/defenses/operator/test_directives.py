"""How directives are written and read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from constraintrot.defenses.operator import DirectiveError, Exempt, Rescind, draft, opened
from constraintrot.defenses.operator.directive import FORMAT, LARGEST, read, render, signed_bytes
from tests.defenses.operator.desk import FIELDS, KEY, NOW, fields, signed

ARGUMENTS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    max_size=4,
)


@pytest.mark.parametrize("kind", FIELDS)
def test_what_is_signed_is_what_is_read(kind: str) -> None:
    directive = draft(fields(kind))
    assert directive.kind == kind
    assert opened(KEY.sign(directive), [KEY.public]) == directive


@given(ARGUMENTS)
def test_any_arguments_are_written_in_one_way(arguments: dict[str, Any]) -> None:
    text = signed("exempt", function="buy", arguments=arguments)
    envelope = read(text)
    assert render(envelope) == text
    assert text.isascii()
    found = envelope.directive
    assert isinstance(found, Exempt)
    assert found.arguments == arguments


def test_a_signed_directive_in_full() -> None:
    text = signed("rescind", 7)
    assert text.partition(',"signature":')[0] == (
        '{"directive":{"constraint":"limit","expires":1800000600,'
        '"format":"constraintrot-directive/1","issued":1800000000,'
        f'"key":"{KEY.id}","kind":"rescind",'
        '"scope":{"deployment":"shop","session":"s-1"},"sequence":7}'
    )
    assert signed_bytes(draft(fields("rescind", 7))).startswith(b"constraintrot directive\0{")
    # Deterministic, as Ed25519 is.
    assert text == signed("rescind", 7)


def test_a_directive_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        draft(fields()).sequence = 9


@pytest.mark.parametrize(
    ("kind", "more", "says"),
    [
        ("rescind", {"sequence": 0}, "sequence"),
        ("rescind", {"sequence": "1"}, "sequence"),
        ("rescind", {"sequence": 1.0}, "sequence"),
        ("rescind", {"sequence": True}, "sequence"),
        ("rescind", {"sequence": 2**53}, "sequence"),
        ("rescind", {"expires": NOW}, "expires before"),
        ("rescind", {"expires": NOW * 1000}, "expires"),
        ("exempt", {"until": NOW * 1000}, "until"),
        ("exempt", {"until": 253_402_300_800}, "until"),
        ("rescind", {"key": "k"}, "key"),
        ("rescind", {"constraint": ""}, "1 to 200 printable"),
        ("rescind", {"constraint": "a\nb"}, "1 to 200 printable"),
        ("rescind", {"scope": {"deployment": ""}}, "1 to 200 printable"),
        ("rescind", {"scope": {"deployment": "shop", "user": "x"}}, "user"),
        ("rescind", {"content": "Buy all."}, "content"),
        ("rescind", {"format": "constraintrot-directive/2"}, "format"),
        ("amend", {"content": "  "}, "a pin's content is empty"),
        ("exempt", {"calls": None}, "bounded by calls, by until, or by both"),
        ("exempt", {"calls": 0}, "calls"),
        ("exempt", {"until": NOW}, "ends after it is issued"),
        ("exempt", {"arguments": {"a": 1}}, "names their function"),
        ("exempt", {"function": "buy", "arguments": {"a": float("inf")}}, "directive"),
    ],
)
def test_wrong_fields_are_refused(kind: str, more: dict[str, Any], says: str) -> None:
    with pytest.raises(DirectiveError, match=says):
        KEY.sign(draft(fields(kind, **more)))


@pytest.mark.parametrize("missing", sorted(set(fields())))
def test_nothing_is_left_out(missing: str) -> None:
    given = fields()
    del given[missing]
    with pytest.raises(DirectiveError):
        draft(given)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(DirectiveError, match="kind"):
        draft({**fields(), "kind": "obey"})


def rewritten(text: str, **options: Any) -> str:
    return json.dumps(json.loads(text), **options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        "[" * 5000,
        "{" + " " * LARGEST + "}",
        signed()[:-1],
        signed() + "}",
        signed().replace(FORMAT, "constraintrot-directive/2"),
        rewritten(signed()),
        rewritten(signed(), indent=1),
        signed().replace('"sequence":1', '"sequence":1,"sequence":1'),
        signed().replace('"session":"s-1"', '"session":"s-\\u0031"'),
        signed().replace("limit", "l\u00edmit"),
        signed().replace('"signature"', '"hint":1,"signature"'),
        signed()[:-10] + signed()[-10:].upper() if signed()[-10:].upper() != signed()[-10:] else "",
    ],
)
def test_there_is_one_text_for_a_directive(text: str) -> None:
    with pytest.raises(DirectiveError):
        read(text)
    with pytest.raises(DirectiveError):
        read(text.encode())


def test_blanks_around_a_text_and_bytes_are_fine() -> None:
    assert read(f"\n {signed()} \n") == read(signed().encode())
    assert isinstance(read(signed()).directive, Rescind)
    with pytest.raises(DirectiveError):
        read(b"\xff" + signed().encode())
    with pytest.raises(DirectiveError):
        read("\ud800")
