"""The part of a prompt that may come from the cache without changing the sample.

llama.cpp's CPU kernels compute the same bits for a token with a cached prefix as with the
whole prompt if at least a few tokens are processed together. With fewer tokens, attention
takes another code path, and a greedy answer may flip at a near tie. Generated tokens are
processed one by one, on that other path, so they may not be reused as part of a prompt
either. (Measured on x86-64 with AVX2, weights not repacked, flash attention off.)
"""

from collections import deque
from collections.abc import Sequence

LEAST = 8
"""Fewest tokens that must be processed together."""

_REMEMBERED = 1024


class SentPrompts:
    """The prompts sent to a server, which it may have cached."""

    def __init__(self) -> None:
        self._sent: deque[list[int]] = deque(maxlen=_REMEMBERED)

    def add(self, prompt: list[int]) -> None:
        """Record a prompt that was processed to its end."""
        if prompt not in self._sent:
            self._sent.append(prompt)

    def rewind(self, prompt: Sequence[int]) -> int | None:
        """Return where the cache must be cut before this prompt is processed.

        The server may have any of the sent prompts cached. The cut is chosen such that,
        for each of them, either everything before the cut is cached or at least
        ``LEAST`` tokens before the cut are not.

        Returns:
            Number of leading tokens that may stay cached, or None if the cache may
            stay as it is.
        """
        shared = [shared_prefix(old, prompt) for old in self._sent]
        limit = max(0, len(prompt) - LEAST)
        # If this prompt continues a sent one, its next tokens were generated.
        continued = any(len(old) == common for old, common in zip(self._sent, shared, strict=True))
        best = max(shared, default=0)
        if best <= limit and not continued:
            return None
        cut = min(best, limit)
        while near := [common for common in shared if cut - LEAST + 1 < common < cut]:
            cut = min(near)
        return cut


def shared_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the number of shared leading tokens; by bisection, to compare slices in C."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
