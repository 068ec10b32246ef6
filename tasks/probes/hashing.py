"""Embeddings without a model: words hashed into a vector, for tests and a quick look.

Feature hashing with signs; two texts are close if they share words. Deterministic
on every machine, and knows nothing of meaning.
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
    """Vectors of texts, shape (n, 512); an embedder as registries take it."""
    import numpy as np

    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in _WORD.findall(text.lower()):
            code = int.from_bytes(blake2b(_stem(word).encode(), digest_size=8).digest(), "big")
            row[code % DIMENSIONS] += 1 if code >> 63 else -1
    return vectors


def _stem(word: str) -> str:
    """The first letters, so that ``initialise`` meets ``initialisation``."""
    return word[:7]
