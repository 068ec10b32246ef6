"""What eviction by score takes: never another's block, never a non-removable one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.defenses.rampart import (
    Block,
    Principal,
    Registry,
    RegistryError,
    WeightedScorer,
    default_scorer,
)

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
