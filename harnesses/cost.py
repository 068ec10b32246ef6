"""The cost of an episode: seconds, tokens, a defense's own calls, and the prefix cache.

All figures go into the sample's metadata.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from operator import is_
from time import perf_counter
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage

from constraintrot.defenses import MEASURING, Defense
from constraintrot.episode.messages import message_texts
from constraintrot.evaluation.defense import assembled
from constraintrot.tokens import count

# Roles of models that only a defense asks.
DEFENSE_ROLES = ("verifier", "extractor")


class Clock:
    """Wall-clock seconds, by activity."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


def costs(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """Return the size of the last input in o200k tokens, and the calls and tokens of a defense."""
    asked = [
        event
        for event in transcript().events
        if isinstance(event, ModelEvent) and event.role in DEFENSE_ROLES
    ]
    spent = sum(event.output.usage.total_tokens for event in asked if event.output.usage)
    return {
        "input_tokens": sum(map(count, message_texts(messages))),
        "defense_calls": dict(Counter(event.role for event in asked)),
        "defense_tokens": spent,
    }


async def prefix(
    defense: Defense, before: Sequence[ChatMessage], now: Sequence[ChatMessage]
) -> dict[str, Any]:
    """Return how much of the last input a provider's prefix cache would cover, in tokens.

    The input is compared with the input of a call right before the last request. The cache
    breaks if the defense changes that earlier part.

    Args:
        defense: the defense whose ``assemble`` made the input.
        before: the context without the last request, not assembled.
        now: the last input.
    """
    token = MEASURING.set(True)
    try:
        was_sent = await assembled(defense, before)
    finally:
        MEASURING.reset(token)
    was = message_texts(was_sent)
    tokens = sum(map(count, was))
    # A defense that changes nothing returns the same message objects.
    same = len(was_sent) <= len(now) and all(map(is_, was_sent, now))
    kept = tokens if same else common_prefix(was, message_texts(now))
    return {"prefix_tokens": kept, "prefix_broken": kept < tokens}


def common_prefix(was: Sequence[str], now: Sequence[str]) -> int:
    """Return the number of o200k tokens that two inputs share from their start."""
    tokens = 0
    for old, new in zip(was, now, strict=False):
        if old == new:
            tokens += count(old)
            continue
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
        )
        return tokens + count(old[:same])
    return tokens
