"""Offline token counting with the o200k vocabulary.

History lengths must depend neither on the model under test nor on the network, or
conditions could not be paired across models. So the benchmark counts with
``exact``. The policy registry also runs without the benchmark and its vocabulary
(75 MB as a package), so it counts with ``count``. Texts of any size take linear time.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from constraintrot.extras import installed, require

if TYPE_CHECKING:
    from bpe_openai import Encoding

# Roughly the units of o200k: words, up to three digits, line ends, any other character.
_PIECE = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|[0-9]{1,3}|\s+|[^\sA-Za-z0-9]")
# Longer words are rarely one token.
_LETTERS = 8
# The tokenizer refuses a text of 200,000 tokens or a megabyte; a letter is four tokens at most.
_PART = 40_000
# Where one token ends and another begins in any context.
_BOUNDARY = re.compile(r".*(?:\n(?=[A-Za-z0-9~])|\S(?= [A-Za-z]))", re.DOTALL)
LARGEST = 20_000_000
"""Most characters that are counted; the rest of a longer text is extrapolated from them."""


def count(text: str) -> int:
    """Return the number of tokens, exact if the extra ``eval`` is installed, else estimated."""
    return exact(text) if installed("bpe_openai") else estimate(text)


def exact(text: str) -> int:
    """Return the number of o200k tokens; special tokens are counted as plain text.

    A text of more than ``LARGEST`` characters is estimated from its first ``LARGEST``.

    Raises:
        MissingExtraError: the vocabulary is not installed.
    """
    if len(text) <= _PART:
        return _counted(text)
    if len(text) > LARGEST:
        return exact(text[:LARGEST]) * len(text) // LARGEST
    # Bypasses the cache, which would keep the text in memory.
    return sum(map(_counted.__wrapped__, _parts(text)))


# Cached: a message is counted when it is drawn, staged, sent and compacted.
@lru_cache(maxsize=8192)
def _counted(text: str) -> int:
    encoding = _encoding()
    if "inspect_ai" in sys.modules:
        from constraintrot._tiktoken import share_vocabulary

        share_vocabulary()
    try:
        return len(encoding.encode_ordinary(text))
    except UnicodeEncodeError:  # half of a surrogate pair that a provider or program split
        return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode()))


def _parts(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = at + _PART
        # A boundary in the last fifth is near enough: one word may be longer than a part.
        if end < len(text) and (cut := _BOUNDARY.match(text, end - _PART // 5, end + 2)):
            end = cut.end()
        yield text[at:end]
        at = end


def estimate(text: str) -> int:
    """Return an estimate of the number of o200k tokens, without the vocabulary.

    The estimate is up to two fifths too high for English, Spanish and Chinese
    prose, code and tables, and up to a third too low for hashes and keys. As with
    o200k, the counts of a registry's frames add up.
    """
    return sum(_estimated(match[0]) for match in _PIECE.finditer(text))


def _estimated(piece: str) -> int:
    if piece.isspace():
        return int("\n" in piece)
    return 1 + (len(piece) - 1) // _LETTERS if piece.isalpha() else 1


@cache
def _encoding() -> Encoding:
    require("counting tokens", "eval")
    with warnings.catch_warnings():
        # The package opens its data files with a deprecated call of importlib.resources.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding

        return get_encoding("o200k_base")
