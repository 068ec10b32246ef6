"""The order of a tier is that of a list."""

from __future__ import annotations

from itertools import cycle
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.rampart.state.record_factory import Entry
from constraintrot.defenses.rampart.state.tier import Tier

MOVES = st.tuples(
    st.lists(st.integers(0, 11), min_size=1, max_size=4, unique=True), st.integers(0, 13)
)
STEPS = st.lists(
    st.tuples(st.just("insert"), st.none() | st.integers(0, 13))
    | st.tuples(st.just("remove"), st.integers(0, 11))
    | st.tuples(st.just("move"), MOVES),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_moves_are_those_of_a_list(steps: list[tuple[str, object]]) -> None:
    tier, plain = Tier(), list[str]()
    for number, (what, how) in enumerate(steps):
        if what == "insert":
            assert how is None or isinstance(how, int)
            tier.insert(Entry("", number, "", UUID(int=number), "", f"k{number}"), how)
            plain.insert(len(plain) if how is None else how, f"k{number}")
        elif what == "remove" and plain:
            assert isinstance(how, int)
            tier.remove(plain.pop(how % len(plain)))
        elif what == "move" and plain:
            assert isinstance(how, tuple)
            places, position = how
            group = list(dict.fromkeys(plain[at % len(plain)] for at in places))
            if position or len(group) > 1:
                tier.move(group, position)
            else:
                tier.to_front(group[0])
            others = [key for key in plain if key not in group]
            plain = [*others[:position], *group, *others[position:]]
        assert [entry.key for entry in tier.entries()] == plain
        assert len(tier) == len(plain)
        assert tier.tokens == sum(int(key[1:]) for key in plain)


def test_any_number_of_moves_to_one_place_keeps_the_order() -> None:
    """Each halves the room between two labels, which is then made anew."""
    tier, plain = Tier(), [f"k{number}" for number in range(5)]
    for number, key in enumerate(plain):
        tier.insert(Entry("", 1, "", UUID(int=number), "", key), None)
    for at, _ in zip(cycle((2, 3)), range(300), strict=False):
        key = plain.pop(at)
        plain.insert(1, key)
        tier.move([key], 1)
        assert [entry.key for entry in tier.entries()] == plain
    tier.rename("k0", Entry("", 7, "", UUID(int=9), "", "other"))
    assert [entry.key for entry in tier.entries()] == ["other", *plain[1:]]
    assert tier.tokens == 11
