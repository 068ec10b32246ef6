"""The judge of the proxy's soak, and the table that is committed."""

import csv
from pathlib import Path
from typing import Any

import pytest

from results.tools.proxy_soak import KINDS, Row, body, judged, operators, soak
from tests.harnesses.litellm.proxy import POLICY

COMMITTED = Path(__file__).parents[2] / "results" / "proxy-soak.csv"
PINNED = {"role": "system", "content": POLICY}


def received(kind: str, number: int, *operator: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [*operator, *body(KINDS[kind], number)["messages"]]}


def test_what_reached_the_model_is_judged() -> None:
    kinds = ["chat", "chat", "chat", "extra_body"]
    good = received("chat", 0, PINNED)
    unpinned = received("chat", 1)
    doubled = received("chat", 2, PINNED, PINNED)
    changed = {"messages": [PINNED, {"role": "user", "content": "Request <2>.\nHell"}]}
    through = received("extra_body", 3, PINNED)
    chat, refused, total = judged(
        kinds, [200, 200, 500, 400], [good, unpinned, doubled, changed, through]
    )
    assert chat == Row("chat", 3, 2, 0, 1, 4, 1, 1, 1)
    assert refused == Row("extra_body", 1, 0, 1, 0, 1, 0, 0, 0)
    assert not chat.good
    assert not refused.good
    assert (total.requests, total.upstream, total.good) == (4, 5, False)
    assert all(row.good for row in judged(["chat"], [200], [good]))


def test_what_no_request_asked_for_is_judged_too() -> None:
    kind, total = judged([], [], [{"messages": [PINNED]}])
    assert (kind.kind, kind.changed, kind.good, total.good) == ("unknown", 1, False, False)


def test_the_operator_s_part_of_each_provider() -> None:
    gemini = {"system_instruction": {"parts": [{"text": POLICY}]}, "contents": []}
    item = {"role": "developer", "content": [{"type": "input_text", "text": POLICY}]}
    for sent in (gemini, {"instructions": POLICY}, {"system": POLICY}, {"input": [item]}):
        assert operators(sent).count(POLICY) == 1
    assert operators({"messages": [{"role": "user", "content": POLICY}]}) == ""


def test_the_committed_table() -> None:
    with COMMITTED.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == [*KINDS, "all"]
    made = [Row(row.pop("kind"), **{name: int(row[name]) for name in row}) for row in rows]
    assert all(row.good for row in made)
    assert made[-1].requests >= 1000
    assert made[-1].upstream >= 800


@pytest.mark.soak
def test_a_thousand_requests_at_once() -> None:
    assert all(row.good for row in soak(1000))
