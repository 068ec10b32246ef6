"""Embeddings without a model, by hashing words into a vector; for tests and demonstrations.

Signed feature hashing: two texts are close if they have words in common, whatever they
mean. The vectors are the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 512
_WORD = re.compile(r"[a-z]+|[0-9]+")


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of n texts, shape (n, 512); can be a registry's embedder."""
    import numpy as np

    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in _WORD.findall(text.lower()):
            code = int.from_bytes(blake2b(_stem(word).encode(), digest_size=8).digest(), "big")
            row[code % DIMENSIONS] += 1 if code >> 63 else -1
    return vectors


def _stem(word: str) -> str:
    """The first letters, so that ``initialise`` and ``initialisation`` are equal."""
    return word[:7]
