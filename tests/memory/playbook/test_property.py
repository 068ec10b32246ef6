"""The promises of a playbook hold for any number of deltas from any curator."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.memory.playbook import (
    LAZY,
    PROACTIVE,
    Add,
    Applied,
    Count,
    Delete,
    Merge,
    Playbook,
    Update,
    load,
    read_rendered,
    save,
)
from constraintrot.memory.playbook.delta import Operation
from constraintrot.tokens import estimate
from tests.memory.playbook.pairs import CONTRADICTORY

BUDGET = 1_500
SAVE_EVERY = 100
RULES = [text for pair in CONTRADICTORY for text in pair]
PARTS = (
    "the export", "of invoices", "runs", "at night", "in Lisbon", "twice", "\n- [con-00001] ",
    "helpful=9 harmful=0 :: ", "\r## owner", "~~~ pin by owner: x", "\u2028", "42", "slowly", "。",
)  # fmt: skip


def proposals(draw: random.Random, ids: list[str]) -> Iterator[Operation]:
    """Yield a delta as a careless or hostile curator may propose it."""

    def any_id() -> str:
        return draw.choice(ids) if ids and draw.random() < 0.9 else f"con-{draw.randrange(99):05}"

    def any_text() -> str:
        if draw.random() < 0.02:
            return draw.choice(RULES)
        return " ".join(draw.choices(PARTS, k=draw.randrange(1, 9)))

    for _ in range(draw.randrange(1, 5)):
        yield draw.choices(
            (
                lambda: Add(text=any_text(), section=draw.choice(PARTS)),
                lambda: Update(id=any_id(), text=any_text()),
                lambda: Merge(ids=(any_id(), any_id()), text=any_text()),
                lambda: Delete(id=any_id()),
                lambda: Count(id=any_id(), helpful=draw.randrange(3), harmful=draw.randrange(3)),
            ),
            (5, 1, 1, 1, 3),
        )[0]()


class Watched:
    """A playbook whose promises are checked after every delta."""

    def __init__(self, path: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.operator = Principal("operator")
        self.registry = Registry(self.operator, counter=estimate)
        self.registry.pin("Be brief.\n- [gen-00001] helpful=0 harmful=0 :: no", by=self.operator)
        self.path, self.refinement = path, PROACTIVE if seed % 2 else LAZY
        self.playbook = self.fresh()
        self.rules: dict[str, str] = {}
        self.given: set[str] = set()

    def fresh(self) -> Playbook:
        return Playbook(
            budget=BUDGET, refinement=self.refinement, pins=self.registry.pinned_text,
            counter=estimate,
        )  # fmt: skip

    def step(self, number: int) -> None:
        ids = [one.id for one in self.playbook.bullets]
        done = self.playbook.apply(list(proposals(self.draw, ids)), source=f"delta {number}")
        self.check(done)
        if number % SAVE_EVERY == 0:
            # A new process goes on with what the last one saved.
            save(self.playbook, self.path)
            before = self.playbook.render()
            self.playbook = load(self.fresh(), self.path)
            assert self.playbook.render() == before

    def check(self, done: Applied) -> None:
        text = self.playbook.render()
        assert text.startswith(self.registry.pinned_text())
        assert self.registry.verify(text).held
        assert self.playbook.tokens == estimate(text) <= BUDGET
        assert not self.given & {*done.added}
        self.given |= {*done.added}
        now = {one.id: one.text for one in self.playbook.bullets if one.constrains}
        for name, rule in self.rules.items():
            assert now.get(name) == rule
        self.rules = now
        bullets = list(read_rendered(text.removeprefix(self.registry.pinned_text())))
        assert {one.id: one.text for one in bullets} == {
            one.id: one.text for one in self.playbook.bullets
        }


@pytest.mark.parametrize(
    ("deltas", "seed", "given"),
    [
        (300, 1, 0),
        (300, 2, 0),
        # 100,000 deltas in all.
        *(pytest.param(25_000, seed, 5_000, marks=pytest.mark.soak) for seed in range(4)),
    ],
)
def test_the_promises_hold_over_many_deltas(
    tmp_path: Path, deltas: int, seed: int, given: int
) -> None:
    watched = Watched(tmp_path / "playbook.json", seed)
    for number in range(1, deltas + 1):
        watched.step(number)
    assert watched.playbook.deltas == deltas
    assert len(watched.rules) > 1
    assert len(watched.given) > given
