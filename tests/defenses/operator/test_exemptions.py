"""What an exemption lets through, how often and how long."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.defenses.operator.desk import CALL, NOW, Clock, channel, signed


def test_an_exemption_ends_with_its_calls() -> None:
    made = channel()
    made.apply(signed("exempt", calls=2))
    for left in (1, 0):
        (one,) = made.exempting(*CALL)
        assert made.use([one], made.constraints)
        assert sum(found.calls or 0 for found in made.exemptions) == left
    assert made.exempting(*CALL) == ()
    assert not any(not block.pinned for block in made.registry.blocks())
    assert made.revision == 3


def test_an_exemption_ends_with_its_time() -> None:
    clock = Clock()
    made = channel(clock=clock)
    made.apply(signed("exempt", calls=None, until=NOW + 100))
    (one,) = made.exempting(*CALL)
    assert made.use([one], made.constraints)
    assert made.exempting(*CALL) == (one,)
    clock.now = NOW + 100
    assert made.exempting(*CALL) == ()
    assert not made.use([one], made.constraints)


@pytest.mark.parametrize(
    ("more", "covered"),
    [
        ({}, True),
        ({"function": "buy"}, True),
        ({"function": "sell"}, False),
        ({"function": "buy", "arguments": {"price": 500.0, "item": "desk"}}, True),
        ({"function": "buy", "arguments": {"price": 501, "item": "desk"}}, False),
        ({"function": "buy", "arguments": {"item": "desk"}}, False),
        ({"function": "buy", "arguments": {}}, False),
    ],
)
def test_an_exemption_is_of_what_it_names(more: dict[str, Any], covered: bool) -> None:
    made = channel()
    made.apply(signed("exempt", **more))
    assert bool(made.exempting(*CALL)) == covered


def test_several_exemptions_are_used_together_or_not_at_all() -> None:
    made = channel()
    made.apply(signed("pin", 1))
    made.apply(signed("exempt", 2))
    made.apply(signed("exempt", 3, constraint="notes"))
    one, two = made.exempting(*CALL)
    before = made.constraints[:1]
    assert not made.use([one, two], before)
    assert made.use([one], made.constraints)
    assert not made.use([one, two], made.constraints)
    assert made.exempting(*CALL) == (two,)


def test_one_call_is_one_call_for_many_threads() -> None:
    made = channel()
    made.apply(signed("exempt", calls=3))
    (one,) = made.exempting(*CALL)

    def use(_: int) -> bool:
        return made.use([one], made.constraints)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(use, range(16))) == 3


def test_an_amendment_ends_exemptions_from_the_old_text() -> None:
    made = channel()
    made.apply(signed("exempt", 1))
    made.apply(signed("amend", 2))
    assert made.exempting(*CALL) == ()


def test_arguments_deeper_than_any_directive_are_not_exempt() -> None:
    made = channel()
    made.apply(signed("exempt", function=CALL[0], arguments=CALL[1]))
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert made.exempting(*CALL)
    assert made.exempting(CALL[0], {"to": deep}) == ()
