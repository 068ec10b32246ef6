"""Offline token counting with the o200k vocabulary.

History lengths must depend neither on the model under test nor on the network, or
conditions could not be paired across models. So the benchmark counts with
``exact``. The policy registry also runs without the benchmark, where the
vocabulary (75 MB as a package) is not installed; it counts with ``count``.
"""

from __future__ import annotations

import re
import sys
import warnings
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from constraintrot.extras import installed, require

if TYPE_CHECKING:
    from bpe_openai import Encoding  # pyright: ignore[reportMissingTypeStubs]  # it has none

# Roughly the units of o200k: words, up to three digits, line ends, any other character.
_PIECE = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|[0-9]{1,3}|\s*\n|[^\sA-Za-z0-9]")
# Longer words are rarely one token.
_LETTERS = 8


def count(text: str) -> int:
    """Number of tokens: exact where the extra ``eval`` is installed, else an estimate."""
    return exact(text) if installed("bpe_openai") else estimate(text)


# Cached: a message is counted when it is drawn, staged, sent and compacted.
@lru_cache(maxsize=8192)
def exact(text: str) -> int:
    """Number of o200k tokens; special tokens are counted as plain text.

    Raises:
        MissingExtraError: the vocabulary is not installed.
    """
    encoding = _encoding()
    if "inspect_ai" in sys.modules:
        from constraintrot._tiktoken import share_vocabulary

        share_vocabulary()
    return len(encoding.encode_ordinary(text))


def estimate(text: str) -> int:
    """Estimated number of o200k tokens, without the vocabulary.

    The estimate is up to two fifths too high for English, Spanish and Chinese
    prose, code and tables, and up to a third too low for hashes and keys. As with
    o200k, the counts of a registry's frames add up.
    """
    pieces = _PIECE.findall(text)
    return sum(1 + (len(piece) - 1) // _LETTERS if piece.isalpha() else 1 for piece in pieces)


@cache
def _encoding() -> Encoding:
    require("counting tokens", "eval")
    with warnings.catch_warnings():
        # It opens its data files with a call that importlib.resources deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding  # pyright: ignore[reportMissingTypeStubs]

        return get_encoding("o200k_base")
