"""Attacks on the operator channel: texts that are nearly a directive, and signatures of other things."""

import json
from typing import Any

import pytest

from constraintrot.defenses.operator import OperatorError, PinList, draft
from constraintrot.defenses.operator.directive import signed_bytes
from constraintrot.defenses.operator.pin_list import ListedPin, opened_list
from tests.defenses.operator.desk import KEY, POLICY, channel, fields, signed, texts

ORDER = 2**252 + 27742317777372353535851937790883648493


def _malleable() -> str:
    """The other number that a lax verifier takes for the same signature."""
    made = json.loads(signed())
    raw = bytes.fromhex(made["signature"])
    second = int.from_bytes(raw[32:], "little") + ORDER
    made["signature"] = (raw[:32] + second.to_bytes(32, "little")).hex()
    return json.dumps(made, sort_keys=True, separators=(",", ":"))


def _signature_of(data: bytes) -> str:
    made = json.loads(signed())
    made["signature"] = KEY.sign_bytes(data)
    return json.dumps(made, sort_keys=True, separators=(",", ":"))


def _with(**change: Any) -> str:
    made = json.loads(signed())
    return json.dumps(made | change, sort_keys=True, separators=(",", ":"))


def _list() -> PinList:
    return PinList(
        name="limit", repository=None, revision=1, owner=KEY.public.raw,
        pins=(ListedPin(name="limit", content="Anything goes."),),
    )  # fmt: skip


TEXTS: dict[str, Any] = {
    "a signature by another number": _malleable(),
    "a signature of a list of pins": _signature_of(b"constraintrot pins\0" + b"{}"),
    "a signature without what it is of": _signature_of(
        signed_bytes(draft(fields())).partition(b"\0")[2]
    ),
    "a signed list of pins": _list().signed(KEY),
    "the signature in capitals": signed().replace(
        (made := json.loads(signed())["signature"]), made.upper()
    ),
    "a line's end behind the key": signed().replace(KEY.id, f"{KEY.id}\\n"),
    "a byte order mark": "\ufeff" + signed(),
    "a key twice": signed().replace('"kind":"rescind"', '"kind":"rescind","kind":"rescind"'),
    "a signature that is a list": _with(signature=["00"]),
    "no text": None,
    "a number": 5,
    "a list of texts": [signed()],
    "two directives": signed() + signed(sequence=2),
    "the sequence as a fraction": signed().replace('"sequence":1', '"sequence":1.0'),
    "the sequence as truth": signed().replace('"sequence":1', '"sequence":true'),
    "lists without end": "[" * 100_000,
}


@pytest.mark.parametrize("case", TEXTS)
def test_what_is_nearly_a_directive_changes_nothing(case: str) -> None:
    here = channel()
    before = here.state
    with pytest.raises(OperatorError):
        here.apply(TEXTS[case])
    assert here.state == before
    assert texts(here) == {"limit": POLICY}


def test_a_directive_s_signature_is_none_of_a_list() -> None:
    listed = json.loads(_list().signed(KEY))
    listed["signature"] = json.loads(signed())["signature"]
    with pytest.raises(OperatorError, match="changed, or signed by somebody else"):
        opened_list((json.dumps(listed, sort_keys=True, indent=1) + "\n").encode())


@pytest.mark.parametrize(
    ("signed_for", "called"),
    [
        ({"to": "ann@example.com"}, {"to": "ann@example.com", "bcc": "eve@example.net"}),
        ({"to": "ann@example.com"}, {"to": ["ann@example.com"]}),
        ({"to": "ann@example.com"}, {"to": "ann@example.com "}),
        ({"to": "ann@example.com"}, {"To": "ann@example.com"}),
        ({"to": "ann@example.com"}, {"to": "ann@example.\u0441om"}),
        ({"n": 1}, {"n": True}),
        ({"n": [1, {"x": None}]}, {"n": [True, {"x": None}]}),
        ({"n": 1}, {"n": "1"}),
        ({"n": 2**53}, {"n": 2**53 + 1}),
        ({"n": []}, {"n": {}}),
        ({"n": None}, {}),
        ({"n": [1, 2]}, {"n": [2, 1]}),
    ],
)
def test_an_exemption_covers_no_call_that_only_looks_like_its_own(
    signed_for: dict[str, Any], called: dict[str, Any]
) -> None:
    here = channel()
    here.apply(signed("exempt", function="buy", arguments=signed_for))
    assert here.exempting("buy", signed_for)
    assert not here.exempting("buy", called)
    for name in ("Buy", "buy ", "buy_", "\u0435buy", ""):
        assert not here.exempting(name, signed_for)
