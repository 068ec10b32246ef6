"""Words of a text that spell another text in base64."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator

_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{8,4000}={0,2}(?![\w+/=-])")


def decoded_words(text: str) -> Iterator[str]:
    """Yield the printable texts that the words of a text spell in base64."""
    for found in _ENCODED.finditer(text):
        word = found[0].rstrip("=")
        try:
            decoded = b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
            plain = decoded.decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if plain.isprintable():
            yield plain
