"""Make text of a model or a tool safe to show.

HTML is escaped by the template (autoescape). This module handles the rest: invisible
characters, texts of any length, and cells that a spreadsheet would compute.
"""

import json
import re
from typing import Any

# Control characters except tab and newline; format and bidi characters; surrogates; tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# The beginning of a cell in a spreadsheet, and the signs that start a formula. With a comma as
# the decimal sign, semicolons separate cells, and quotes do not keep a line together. Some
# spreadsheets read full-width signs as narrow ones, and first strip the leading characters here.
_FORMULA = r"(?=[' \u00a0\u3000]*[=+\-@\t\r\n|%＝＋－＠])"
_COMPUTED = re.compile(rf"(^|[;\t\n]){_FORMULA}")
_ESCAPED = re.compile(rf"(^|[;\t\n])'{_FORMULA}")

LINE = 600
TEXT = 4_000
CELL = 2_000


def visible(text: str) -> str:
    """Return the text with every invisible character written out, as ``⟨U+202E⟩``."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def cut(text: str, limit: int = TEXT) -> str:
    """Cut a text to ``limit`` characters, make it ``visible``, and note how many were cut."""
    if len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit])} … [{len(text) - limit:,} of {len(text):,} characters cut]"


def lines(text: str, limit: int, line: int = LINE) -> list[str]:
    """Cut a text to ``limit`` lines, each line too, and note how many lines were cut."""
    # Split into no more lines than needed: the text may have millions.
    shown = [cut(one, line) for one in text.split("\n", limit)[:limit]]
    left = text.count("\n") + 1 - len(shown)
    return [*shown, f"… [{left:,} more lines cut]"] if left > 0 else shown


def plain(value: Any, limit: int = TEXT) -> str:
    if isinstance(value, str):
        return cut(value, limit)
    return cut(json.dumps(value, ensure_ascii=False, default=str), limit)


def escape_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; ``unescape_cell`` is the inverse."""
    return _COMPUTED.sub(r"\1'", text)


def unescape_cell(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def environment(longest: int) -> Any:
    """Return a Jinja environment in which every printed text goes through ``cut``, then is escaped."""
    from jinja2 import Environment, StrictUndefined

    def shown(value: object) -> object:
        # Markup is trusted: the stylesheet, and drawings whose texts were escaped when drawn.
        if isinstance(value, str) and not hasattr(value, "__html__"):
            return cut(value, longest)
        return value

    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
