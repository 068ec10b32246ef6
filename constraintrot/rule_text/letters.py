"""Letters as a reader sees them."""

from __future__ import annotations

import re

# Zero-width and direction marks: invisible to a reader, kept by most parsers.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)


def visible(text: str) -> str:
    """The text without its invisible characters."""
    return _INVISIBLE.sub("", text)
