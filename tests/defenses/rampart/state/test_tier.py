"""The order of a tier is that of a list."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.rampart.state.records import Entry
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
            tier.move(group, position)
            others = [key for key in plain if key not in group]
            plain = [*others[:position], *group, *others[position:]]
        assert [entry.key for entry in tier.entries()] == plain
        assert len(tier) == len(plain)
        assert tier.tokens == sum(int(key[1:]) for key in plain)
