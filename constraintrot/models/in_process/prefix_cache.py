"""Which part of a prompt may come from the cache without changing what is sampled.

llama.cpp's CPU kernels give a token the same bits whether it is processed alone
with its prefix in the cache or with the whole prompt, provided that a few
tokens are processed together: below that, attention takes another code path,
and a greedy answer may flip at a near tie. Tokens that were generated one by
one went that other path, so they may not be reused as prompt either.
(Measured on x86-64 with AVX2, weights not repacked, flash attention off.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

LEAST = 8
"""Tokens that must be processed together."""

_REMEMBERED = 1024


class SentPrompts:
    """The prompts that a server has seen, and so may have cached."""

    def __init__(self) -> None:
        self._sent: deque[list[int]] = deque(maxlen=_REMEMBERED)

    def add(self, prompt: list[int]) -> None:
        """Remember a prompt that was processed to its end."""
        if prompt not in self._sent:
            self._sent.append(prompt)

    def rewind(self, prompt: Sequence[int]) -> int | None:
        """Where the cache must be cut before this prompt is processed.

        Any prompt that was sent may be the one that the server has at hand, so
        whichever it is, either all that stands before the cut is cached or at
        least ``LEAST`` tokens before it are not.

        Returns:
            Tokens of the prompt that may stay cached, or None if the cache may
            stay as it is.
        """
        shared = [shared_prefix(old, prompt) for old in self._sent]
        limit = max(0, len(prompt) - LEAST)
        # What follows a prompt that this one continues was generated.
        continued = any(len(old) == common for old, common in zip(self._sent, shared, strict=True))
        best = max(shared, default=0)
        if best <= limit and not continued:
            return None
        cut = min(best, limit)
        while near := [common for common in shared if cut - LEAST + 1 < common < cut]:
            cut = min(near)
        return cut


def shared_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many leading tokens two prompts share; by bisection, to compare at C speed."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
