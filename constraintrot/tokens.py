"""Offline token counting with the o200k vocabulary.

History lengths must not depend on the model under test nor on the network, or
conditions could not be paired across models.
"""

from __future__ import annotations

import warnings
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_openai import Encoding  # pyright: ignore[reportMissingTypeStubs]  # it has none


@cache
def _encoding() -> Encoding:
    with warnings.catch_warnings():
        # It opens its data files with a call that importlib.resources deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding  # pyright: ignore[reportMissingTypeStubs]

        return get_encoding("o200k_base")


# One message is counted when it is drawn, staged, sent and compacted.
@lru_cache(maxsize=8192)
def count(text: str) -> int:
    """Tokens of a text; special tokens count as the text they are written with."""
    return len(_encoding().encode_ordinary(text))
