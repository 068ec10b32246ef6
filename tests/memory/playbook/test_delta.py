"""A model's text is read as far as it can be, and its faults are listed, never raised."""

from __future__ import annotations

import json

import pytest

from constraintrot.memory.playbook import Add, Count, Delete, Delta, Merge, Update, read_delta
from constraintrot.memory.playbook.delta import MOST_OPERATIONS
from constraintrot.memory.playbook.roles import read_reflection


def test_all_operations_are_read_out_of_prose_and_by_the_papers_names() -> None:
    text = """Sure [1]. Here it is: ```json
    {"reasoning": "...", "operations": [
      {"type": "add", "section": "email", "content": "Attach a PDF.", "why": "asked for"},
      {"op": "UPDATE", "id": "ema-00001", "text": "Attach a file."},
      {"op": "MERGE", "ids": ["a", "b"], "text": "Both."},
      {"op": "DELETE", "bullet_id": "ema-00004"},
      {"op": "COUNT", "id": "ema-00001", "helpful": 2}]}``` Done."""
    assert read_delta(text) == Delta(
        (
            Add(text="Attach a PDF.", section="email"),
            Update(id="ema-00001", text="Attach a file."),
            Merge(ids=("a", "b"), text="Both."),
            Delete(id="ema-00004"),
            Count(id="ema-00001", helpful=2),
        )
    )


@pytest.mark.parametrize(
    ("text", "operations", "faults"),
    [
        ("", 0, 1),
        ("Nothing to do.", 0, 1),
        ('{"operations": "ADD"}', 0, 1),
        ('{"operations": []}', 0, 0),
        ('[{"op": "ADD", "text": "x"}, {"op": "DROP"}, 7]', 1, 2),
        ('{"operations": [{"op": "COUNT", "id": "a", "helpful": -1}]}', 0, 1),
        # A form that came back as it was asked.
        ('{"operations": [{"op": "ADD", "text": "..."}, {"op": "DELETE", "id": "a"}]}', 1, 1),
        ('{"operations": [{"op": "UPDATE", "id": "a", "text": ""}]}', 0, 1),
        # Read in time that grows with its length, and no faster.
        ("[" * 100_000, 0, 1),
        ('{"a":' * 50_000, 0, 1),
        (json.dumps([{"op": "DELETE", "id": "a"}] * (MOST_OPERATIONS + 5)), MOST_OPERATIONS, 1),
    ],
)
def test_faults_are_listed(text: str, operations: int, faults: int) -> None:
    delta = read_delta(text)
    assert (len(delta.operations), len(delta.unreadable)) == (operations, faults)


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("fact", "fact"),
        ("pin", "strategy"),
        ("strategy|fact|pitfall|constraint", "strategy"),
        ("rule", "constraint"),
        ("Prohibition", "constraint"),
        ("Constraint", "constraint"),
        ("hard constraints", "constraint"),
        ("fact|constraint", "constraint"),
        ("a fact, verified", "fact"),
        ("requirement", "constraint"),
        ("restricción", "constraint"),
        ("prohibición", "constraint"),
        ("约束", "constraint"),
        ("限制", "constraint"),
    ],
)
def test_what_is_to_be_added_is_not_lost_for_the_name_of_its_kind(kind: str, read: str) -> None:
    delta = read_delta(json.dumps([{"op": "ADD", "text": "x", "kind": kind}]))
    assert delta == Delta((Add(text="x", kind=read),))  # type: ignore[arg-type]


def test_a_kind_that_is_called_type_is_one() -> None:
    delta = read_delta('[{"op": "ADD", "type": "constraint", "text": "x"}]')
    assert delta == Delta((Add(text="x", kind="constraint"),))


def test_a_reflection_is_read_likewise() -> None:
    found = read_reflection(
        '{"insights": [{"text": "a", "kind": "rule"}, "b", {"kind": "fact"}, {"text": "..."}],'
        ' "used": [{"id": "x-1", "verdict": "harmful"}, {"id": 7}]}'
    )
    assert [one["text"] for one in found.insights] == ["a", "b"]
    assert [one["kind"] for one in found.insights] == ["constraint", "strategy"]
    assert found.counts == (Count(id="x-1", harmful=1),)
    assert len(found.faults) == 3
    assert read_reflection("I see.").faults == ("no insights: 'I see.'",)
