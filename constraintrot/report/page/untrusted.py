"""What a model or a tool wrote, made safe to show.

HTML escaping is the template's (autoescape). This is what it leaves: characters
that act without being seen, texts without end, and cells that a spreadsheet
would compute.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Controls but tab and newline; format and bidi characters; surrogates; tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")

LINE = 600
TEXT = 4_000
CELL = 2_000


def visible(text: str) -> str:
    """The text with every unseen character written out, as ``⟨U+202E⟩``."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def cut(text: str, limit: int = TEXT) -> str:
    """At most ``limit`` characters of it, with a note of what was left out, unseen ones shown."""
    if len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit])} … [{len(text) - limit:,} of {len(text):,} characters cut]"


def lines(text: str, limit: int, line: int = LINE) -> list[str]:
    """At most ``limit`` lines of it, each cut, with a note of what was left out."""
    # Not split further than that: a text of 10 MB need not become a million lines.
    shown = [cut(one, line) for one in text.split("\n", limit)[:limit]]
    left = text.count("\n") + 1 - len(shown)
    return [*shown, f"… [{left:,} more lines cut]"] if left > 0 else shown


def plain(value: Any, limit: int = TEXT) -> str:
    """Any value of a log as text."""
    if isinstance(value, str):
        return cut(value, limit)
    return cut(json.dumps(value, ensure_ascii=False, default=str), limit)


def escape_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula; ``unescape_cell`` undoes it."""
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def unescape_cell(text: str) -> str:
    """What ``escape_cell`` was given."""
    quoted = text.startswith("'") and text.lstrip("'").startswith(_FORMULA)
    return text[1:] if quoted else text
