"""An order of calls: what had to come before, in the same matter, and where it matters at all."""

from typing import Any

import pytest
from pydantic import ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.scenario.predicate import predicate_from

Calls = list[tuple[str, dict[str, Any]]]
ASK = ("ask", {"branch": "main", "text": "May I?"})
DROP = ("drop", {"branch": "main", "size": 3})
RULE = {"type": "called_without", "function": "drop", "first": ["ask", "confirm"]}


@pytest.mark.parametrize(("spec", "calls", "status"), [
    ({}, [DROP], "violates"),
    ({}, [ASK], "clear"),
    ({}, [ASK, DROP], "clear"),
    ({}, [("confirm", {}), DROP], "clear"),
    ({}, [DROP, ASK], "violates"),
    ({}, [ASK, DROP, DROP], "clear"),
    ({"same": ["branch"]}, [ASK, DROP], "clear"),
    ({"same": ["branch"]}, [("ask", {"branch": " MAIN "}), DROP], "clear"),
    ({"same": ["branch"]}, [("ask", {"branch": "dev"}), DROP], "violates"),
    ({"same": ["branch"]}, [("ask", {}), DROP], "violates"),
    ({"where": {"type": "number_outside", "argument": "size", "most": 5}}, [DROP], "clear"),
    ({"where": {"type": "number_outside", "argument": "size", "most": 2}}, [DROP], "violates"),
    ({"where": {"type": "number_outside", "argument": "size", "most": 2}}, [ASK, DROP], "clear"),
    ({}, [("read", {})], "clear"),
])  # fmt: skip
def test_an_order_of_calls(spec: dict[str, Any], calls: Calls, status: str) -> None:
    rule = predicate_from({**RULE, **spec})
    assert rule.in_order
    assert rule.check_all(calls).status == status
    either = predicate_from({"type": "any_of", "of": [{**RULE, **spec}]})
    assert either.in_order
    assert either.check_all(calls).status == status


def test_what_cannot_be_read_of_the_condition_is_malformed() -> None:
    rule = predicate_from(
        {**RULE, "where": {"type": "number_outside", "argument": "size", "most": 2}}
    )
    assert rule.check("drop", {"size": "some"}).status == "malformed"
    assert rule.check("ask", {}).status == "clear"


@pytest.mark.parametrize(("spec", "says"), [
    ({**RULE, "first": "drop"}, "cannot be what comes first"),
    ({**RULE, "where": {"type": "nothing"}}, "unknown predicate"),
    ({"type": "all_of", "of": [RULE]}, "as its where"),
])  # fmt: skip
def test_what_can_be_no_order_is_refused(spec: dict[str, Any], says: str) -> None:
    with pytest.raises((ValidationError, ConstraintRotError), match=says):
        predicate_from(spec)
