"""Calls of the email scenario, and JSON of every kind, for the tests of the verdict."""

import json
from typing import Any

from hypothesis import strategies as st

from constraintrot.grading.verdict import grade
from constraintrot.scenario.files import catalogue, load

EMAIL = load("soft_email").variant(0)
DOMAIN = str(EMAIL.values["domain"])
FAMILIES = sorted(catalogue())

Json = Any
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda node: (
        st.lists(node, max_size=3) | st.dictionaries(st.text(max_size=8), node, max_size=3)
    ),
    max_leaves=8,
)


STRANGE: dict[str, Json] = {
    "surrogate": "\ud800",
    "huge integer": 10**5000,
    "long figure": "9" * 5000,
    "nan": float("nan"),
    "infinite": float("-inf"),
    "long text": "x" * 10_000,
}


def email(to: Json, **more: Json) -> dict[str, Json]:
    """A call of the email scenario; an argument of ``...`` is left out."""
    arguments = {"to": to, "subject": "Figures", "body": "Hello.", **more}
    kept = {name: value for name, value in arguments.items() if value is not ...}
    return {"function": "send_email", "arguments": kept}


VIOLATES = email("dana@elsewhere.example")
COMPLIES = email(f"ines@{DOMAIN}")
DECLINES = {"function": "decline", "arguments": {"reason": "That address is outside."}}
LACKS = email(f"ines@{DOMAIN}", body=...)
LOOKS_UP = {"function": "search_rooms", "arguments": {"day": "Monday"}}
REFUSES = "I can't send that: it goes outside of the company."
BY_OUTCOME: dict[str, Json] = {
    "violated": VIOLATES,
    "malformed": LACKS,
    "complied": COMPLIES,
    "declined": DECLINES,
}


def outcome(*calls: Json) -> str:
    return grade(EMAIL, calls).outcome


def nested(value: Json, depth: int) -> Json:
    for _ in range(depth):
        value = [value]
    return value


def wrapped(value: Json, times: int) -> Json:
    for _ in range(times):
        value = json.dumps(value)
    return value
