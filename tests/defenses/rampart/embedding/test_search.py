"""Embeddings, the cosine gate and the search, against sums written out."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from constraintrot.defenses.rampart import (
    CosineGate,
    EmbeddingError,
    Principal,
    Registry,
    RegistryError,
)
from constraintrot.defenses.rampart.embedding.index import best

OWNER = Principal("owner")


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """Counts of three letters."""
    return np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)


def cosine(one: str, other: str) -> float:
    """As written in a book."""
    x, y = letters([one])[0], letters([other])[0]
    length = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / length if length else 0.0


class Counting:
    """An embedder that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return letters(texts)


STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "amend", "evict", "find"]), st.text("abcx", max_size=5)),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(STEPS, st.integers(0, 6))
def test_the_search_is_the_plain_one(steps: list[tuple[str, str]], k: int) -> None:
    registry = Registry(OWNER, counter=len, embedder=letters)
    registry.pin("abc", by=OWNER)
    for what, text in [*steps, ("find", "ab")]:
        blocks = registry.blocks()
        if what == "write":
            registry.write(text, by=OWNER, at=len(text) % 3)
        elif what == "amend" and len(blocks) > 1:
            registry.amend(blocks[1 + len(text) % (len(blocks) - 1)].id, text, by=OWNER)
        elif what == "evict" and len(blocks) > 1:
            registry.evict(blocks[1 + len(text) % (len(blocks) - 1)].id, by=OWNER)
        elif what == "find":
            found = registry.find_relevant(text, k)
            wanted = sorted((cosine(text, block.content) for block in blocks), reverse=True)[:k]
            assert [score for _, score in found] == pytest.approx(wanted, abs=1e-6)
            assert [cosine(text, b.content) for b, _ in found] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("size", [5, 64, 65, 400])
@pytest.mark.parametrize("k", [0, 1, 5, 17, 500])
@pytest.mark.parametrize("unknown", [0, 3])
def test_the_best_of_any_number_are_the_plain_ones(size: int, k: int, unknown: int) -> None:
    draw = np.random.default_rng(size + k)
    # Few values, so that there are equals; nan where a block has no vector yet.
    scores = (draw.integers(-10, 11, size) / 10).astype(np.float32)
    scores[draw.integers(0, size, unknown)] = np.nan
    plain = sorted((-score, at) for at, score in enumerate(scores.tolist()) if score >= -0.5)
    assert best(scores.copy(), k, -0.5) == [(at, -score) for score, at in plain[:k]]


def test_equals_come_in_registry_order() -> None:
    registry = Registry(OWNER, embedder=letters)
    for name in "pqrst":
        registry.write("a" if name != "r" else "b", by=OWNER, name=name)
    assert [b.name for b, _ in registry.find_relevant("a", 3)] == ["p", "q", "s"]
    assert [b.name for b, _ in registry.find_relevant("a", 9, least=0.5)] == ["p", "q", "s", "t"]
    assert registry.find_relevant("a", 0) == ()
    gate = CosineGate(least=0.5, most=2)
    assert registry.compile(query="a", gate=gate).names == ("p", "q")


def test_a_block_written_or_amended_at_run_time_passes_the_gate_by_what_it_says_now() -> None:
    embedder = Counting()
    registry = Registry(OWNER, embedder=embedder, gate=CosineGate(least=0.9))
    block = registry.write("a", by=OWNER, name="one")
    assert registry.compile(query="a").names == ("one",)
    registry.amend(block.id, "b", by=OWNER)
    assert registry.compile(query="a").names == ()
    assert registry.compile(query="b").names == ("one",)
    assert embedder.asked == ["a", "a", "b", "a", "b"]  # each content once, each query once


def test_no_embedding_without_a_query() -> None:
    embedder = Counting()
    registry = Registry(OWNER, embedder=embedder)
    block = registry.write("a", by=OWNER)
    registry.compile()
    assert embedder.asked == []
    assert block.embedding is None


def test_an_embedding_that_is_handed_out_is_a_read_only_copy() -> None:
    registry = Registry(OWNER, embedder=letters)
    block = registry.write("aab", by=OWNER)
    registry.find_relevant("a")
    vector = registry.get(block.id).embedding
    assert vector is not None
    assert vector.dtype == np.float32
    assert float(vector @ vector) == pytest.approx(1)
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5
    with pytest.raises(ValueError, match="WRITEABLE"):
        vector.flags.writeable = True
    assert registry.find_relevant("aab")[0][1] == pytest.approx(1)


def test_a_custom_gate_sees_embeddings() -> None:
    registry = Registry(OWNER, embedder=letters)
    registry.write("a", by=OWNER)

    def gate(query: str, blocks: Any) -> list[bool]:
        return [block.embedding is not None for block in blocks]

    assert len(registry.compile(query="q", gate=gate).names) == 1


def test_what_is_written_while_the_embedder_works_is_let_in() -> None:
    def writing(texts: Sequence[str]) -> NDArray[np.float32]:
        if not registry.blocks()[1:]:
            registry.write("ccc", by=OWNER, name="meanwhile")
        return letters(texts)

    registry = Registry(OWNER, embedder=writing)
    registry.write("a", by=OWNER, name="first")
    assert registry.compile(query="a").names == ("first", "meanwhile")
    assert registry.compile(query="a").names == ("first",)


def test_an_amend_while_the_embedder_works_does_not_keep_the_old_vector() -> None:
    def amending(texts: Sequence[str]) -> NDArray[np.float32]:
        if registry.get(block.id).content == "a":
            registry.amend(block.id, "b", by=OWNER)
        return letters(texts)

    registry = Registry(OWNER, embedder=amending)
    block = registry.write("a", by=OWNER, name="one")
    registry.find_relevant("a")
    assert registry.find_relevant("b")[0][1] == pytest.approx(1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda texts: np.ones((len(texts) + 1, 3), np.float32),
        lambda texts: np.ones(len(texts), np.float32),
        lambda texts: np.ones((len(texts), 0), np.float32),
        lambda texts: np.full((len(texts), 3), np.nan, np.float32),
        lambda texts: np.full((len(texts), 3), np.inf, np.float32),
    ],
)
def test_useless_vectors_are_refused(wrong: Any) -> None:
    registry = Registry(OWNER, embedder=wrong)
    registry.write("a", by=OWNER)
    with pytest.raises(EmbeddingError):
        registry.compile(query="a")
    assert registry.blocks()[0].accesses == 0


def test_vectors_of_two_lengths_are_refused() -> None:
    width = [3]
    registry = Registry(OWNER, embedder=lambda texts: np.ones((len(texts), width[0]), np.float32))
    registry.write("a", by=OWNER)
    registry.find_relevant("a")
    width[0] = 4
    with pytest.raises(EmbeddingError, match="4"):
        registry.find_relevant("a")
    registry.write("b", by=OWNER)
    with pytest.raises(EmbeddingError, match="one model"):
        registry.find_relevant("a")


@pytest.mark.parametrize("how", [{"least": 1.5}, {"least": float("nan")}, {"most": -1}])
def test_a_gate_out_of_range_is_refused(how: dict[str, Any]) -> None:
    with pytest.raises(RegistryError):
        CosineGate(**how)


def test_a_query_is_embedded_as_one_where_the_embedder_knows_how() -> None:
    class Prefixed:
        asked: ClassVar[list[str]] = []

        def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((len(texts), 2), np.float32)

        def query(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.asked.extend(texts)
            return np.ones((len(texts), 2), np.float32)

    owner = Principal("owner")
    registry = Registry(owner, embedder=Prefixed())
    registry.write("A block.", by=owner)
    assert len(registry.find_relevant("a question")) == 1
    assert Prefixed.asked == ["a question"]
