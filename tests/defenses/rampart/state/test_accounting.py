"""Lazy counts of accesses are the plain ones, however compiles and looks alternate."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.rampart import Block, Principal, Registry

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
