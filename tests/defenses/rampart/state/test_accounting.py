"""The state's parts: counts of compiles, eviction by score, and the order of a tier."""

import math
from itertools import cycle
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.rampart import (
    Block,
    Principal,
    Registry,
    RegistryError,
    WeightedScorer,
    default_scorer,
)
from constraintrot.defenses.rampart.state.record_factory import Entry
from constraintrot.defenses.rampart.state.tier import Tier

OPERATOR = Principal("operator")
STEPS = st.lists(
    st.sampled_from(["compile", "again", "again", "again", "write", "evict", "look"])
    | st.integers(40, 160)
    | st.frozensets(st.integers(0, 7), max_size=8),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_counts_are_those_of_counting_each_block_each_time(
    steps: list[str | int | frozenset[int]],
) -> None:
    registry = Registry(OPERATOR, counter=len)
    plain: dict[str, list[int]] = {}  # accesses, last, born
    compiles = 0
    last: str | int | frozenset[int] = "compile"

    def written() -> None:
        block = registry.write("x" * (len(plain) % 7), by=OPERATOR)
        plain[block.name] = [0, 0, compiles]

    for _ in range(4):
        written()
    for step in steps:
        if step == "write":
            written()
        elif step == "evict" and registry.blocks():
            first = registry.blocks()[0]
            registry.evict(first.id, by=OPERATOR)
            del plain[first.name]
        elif not isinstance(step, str) or step in ("compile", "again"):
            last = last if step == "again" else step
            names = _compiled(registry, last)
            compiles += 1
            for name in names:
                plain[name][:2] = [plain[name][0] + 1, compiles]
        if step == "look":
            _same(registry, plain, compiles)
    _same(registry, plain, compiles)


def _compiled(registry: Registry, step: str | int | frozenset[int]) -> tuple[str, ...]:
    if isinstance(step, frozenset):

        def gate(query: str, blocks: object) -> list[bool]:
            assert isinstance(blocks, tuple)
            return [at in step for at in range(len(blocks))]

        return registry.compile(query="q", gate=gate).names
    return registry.compile(step if isinstance(step, int) else None).names


def _same(registry: Registry, plain: dict[str, list[int]], compiles: int) -> None:
    def row(block: Block) -> list[int]:
        return [block.accesses, block.last_access or 0, compiles - block.idle]

    assert {block.name: row(block) for block in registry.blocks()} == {
        name: [accesses, last, max(last, born)] for name, (accesses, last, born) in plain.items()
    }


OWNER, AGENT = Principal("owner"), Principal("agent")


@pytest.fixture
def registry() -> Registry:
    made = Registry(OWNER)
    made.grant(AGENT, by=OWNER)
    made.pin("Stay.", by=OWNER, name="pin")
    made.write("Theirs.", by=AGENT, name="theirs", priority=0)
    made.write("Held.", by=OWNER, name="held", priority=0, removable=False)
    for priority in (30, 10, 20):
        made.write("Mine.", by=OWNER, name=f"p{priority}", priority=priority)
    return made


def test_only_the_callers_own_removable_blocks_go(registry: Registry) -> None:
    gone = registry.evict_lowest(9, by=OWNER, scorer=lambda block: -1e9)
    assert {block.name for block in gone} == {"p10", "p20", "p30"}
    assert [block.name for block in registry.blocks()] == ["pin", "theirs", "held"]
    assert registry.evict_lowest(9, by=Principal("stranger")) == ()


def test_priority_is_what_the_default_goes_by_at_first(registry: Registry) -> None:
    assert [block.name for block in registry.evict_lowest(2, by=OWNER)] == ["p10", "p20"]


def test_an_infinite_score_means_never(registry: Registry) -> None:
    assert registry.evict_lowest(9, by=OWNER, scorer=lambda block: math.inf) == ()
    assert len(registry.evict_lowest(9, by=OWNER, scorer=lambda block: -math.inf)) == 3


def test_a_score_that_is_no_number_is_refused(registry: Registry) -> None:
    before = registry.blocks()
    with pytest.raises(RegistryError, match="nan"):
        registry.evict_lowest(by=OWNER, scorer=lambda block: math.nan)
    with pytest.raises(RegistryError):
        registry.evict_lowest(-1, by=OWNER)
    assert registry.blocks() == before


def test_accesses_and_their_recency_keep_a_block() -> None:
    registry = Registry(OWNER, counter=len)
    for name in ("often", "lately", "never"):
        registry.write(name, by=OWNER, name=name)

    def only(*names: str) -> None:
        registry.compile(query="q", gate=lambda q, blocks: [b.name in names for b in blocks])

    for _ in range(6):
        only("often")
    for _ in range(4):
        only("lately")
    scored = {block.name: default_scorer(block) for block in registry.blocks()}
    assert scored["never"] == min(scored.values())
    recent = WeightedScorer(priority=0, access=0, recency=1)
    frequent = WeightedScorer(priority=0, access=1, recency=0)
    often, lately = registry.named("often"), registry.named("lately")
    assert recent(lately) > recent(often)
    assert frequent(often) > frequent(lately)


def test_a_block_evicted_by_the_scorer_itself_is_not_evicted_twice(registry: Registry) -> None:
    def scorer(block: Block) -> float:
        if block.name == "p10":
            registry.evict(block.id, by=OWNER)
        return block.priority

    assert [block.name for block in registry.evict_lowest(1, by=OWNER, scorer=scorer)] == ["p20"]


@given(
    st.integers(0, 100), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 99),
)  # fmt: skip
def test_the_default_grows_with_priority_and_accesses_and_falls_with_idleness(
    priority: int, accesses: int, idle: int, less: int
) -> None:
    def block(priority: int, accesses: int, idle: int) -> Block:
        made = Registry(OWNER).write("x", by=OWNER, priority=priority)
        object.__setattr__(made, "accesses", accesses)
        object.__setattr__(made, "idle", idle)
        return made

    score = default_scorer(block(priority, accesses, idle))
    assert 0 <= score <= 1
    assert default_scorer(block(min(priority, less), accesses, idle)) <= score
    assert default_scorer(block(priority, accesses // 2, idle)) <= score
    assert default_scorer(block(priority, accesses, idle + less)) <= score


MOVES = st.tuples(
    st.lists(st.integers(0, 11), min_size=1, max_size=4, unique=True), st.integers(0, 13)
)
TIER_STEPS = st.lists(
    st.tuples(st.just("insert"), st.none() | st.integers(0, 13))
    | st.tuples(st.just("remove"), st.integers(0, 11))
    | st.tuples(st.just("move"), MOVES),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(TIER_STEPS)
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
    tier.replace("k0", Entry("", 7, "", UUID(int=9), "", "other"))
    assert [entry.key for entry in tier.entries()] == ["other", *plain[1:]]
    assert tier.tokens == 11
