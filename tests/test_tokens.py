"""Counting tokens of texts of any size and kind."""

import base64
import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot import tokens
from constraintrot.defenses.rampart import Principal, Registry

OWNER = Principal("owner")
_NOISE = base64.b64encode(random.Random(1).randbytes(400_000)).decode()
LARGE = {
    "one word": "a" * 1_000_000,
    "base64": _NOISE,
    "Chinese": "中文字符测试" * 100_000,
    "prose": "The cat sat on the mat. " * 60_000,
    "line ends": "\n" * 1_000_000,
    "blanks": " " * 1_000_000,
    "emoji": "\U0001f9d1\U0001f3ff" * 300_000,
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("counter", [tokens.count, tokens.exact, tokens.estimate])
def test_a_large_text_is_counted_in_bounded_time(kind: str, counter: Callable[[str], int]) -> None:
    begun = time.process_time()
    assert 0 <= counter(LARGE[kind]) < 4_000_000
    assert time.process_time() - begun < 20


def test_the_count_of_parts_is_the_count_of_the_whole() -> None:
    # What the tokenizer itself takes in one piece.
    text = "Pay 1,204.50 EUR to Maria García; no one else.\n\n~~~ note: 中文\n" * 6_000
    assert tokens.exact(text) == len(tokens._encoding().encode_ordinary(text))


def test_a_word_longer_than_a_part_costs_a_few_tokens_more() -> None:
    whole = len(tokens._encoding().encode_ordinary(_NOISE[:200_000]))
    assert abs(tokens.exact(_NOISE[:200_000]) - whole) < 20


def test_beyond_the_largest_the_beginning_stands_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = LARGE["prose"]
    whole = tokens.exact(text)
    monkeypatch.setattr(tokens, "LARGEST", 300_000)
    assert tokens.exact(text) == pytest.approx(whole, rel=0.01)


@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_string_is_counted(text: str) -> None:
    assert tokens.exact(text + "\ud83d") >= 1
    assert tokens.estimate(text) >= 0


def test_the_registry_takes_a_large_block() -> None:
    registry = Registry(OWNER)
    for kind, text in LARGE.items():
        registry.write(text, by=OWNER, name=kind)
    assert registry.compile().tokens == sum(block.tokens for block in registry.blocks())
