"""Check whether a model's answer calls a C function.

The paper's criterion (section 3.1) is the exact literal on a line that is not commented
out. This one is narrower in three ways: if the answer has fenced blocks, only those are
code, so a sentence about the call does not count; a declaration is no call; and code
disabled by ``#if 0`` does not count. This module does not import Inspect.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Finding: TypeAlias = Literal["called", "absent", "no_code"]

_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t\r]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
# Strings are matched too, so that a comment mark within a string is ignored.
_NOT_CODE: Final = re.compile(
    r"""//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\[^\n]{1,4}|[^'\\\n])'""",
    re.DOTALL,
)
_DISABLED: Final = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?(?:^[ \t]*#[ \t]*(?:endif|else|elif)\b[^\n]*|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CODE_LINE: Final = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define)\b|.*[;{}][ \t\r]*$)", re.MULTILINE
)
_BEFORE_A_CALL: Final = ("else", "do", "return")


def find_call(answer: str, call: str) -> Finding:
    """Search an answer for a call.

    Args:
        answer: a model's answer.
        call: the call without its semicolon, such as ``board_ready()``.

    Returns:
        ``called`` if the call is a statement in the code; ``absent`` if there is code
        without it; ``no_code`` if there is no code, so that nothing is decided.
    """
    code = _stripped(_code(answer))
    if any(_is_statement(code[: match.start()]) for match in _statements(code, call)):
        return "called"
    return "absent" if _CODE_LINE.search(code) else "no_code"


def _code(answer: str) -> str:
    fenced = [match["code"] for match in _FENCED.finditer(answer)]
    return "\n".join(fenced) if fenced else answer


def _stripped(code: str) -> str:
    return _DISABLED.sub("", _NOT_CODE.sub(_blank, code))


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] in "\"'":
        return text[0] * 2
    # What follows a block comment stays on its line.
    return "\n" * text.count("\n") if "\n" in text else " "


def _statements(code: str, call: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"{re.escape(call)}[ \t]*;", code))


def _is_statement(before: str) -> bool:
    """Return whether the text before a call allows it to be a statement."""
    line = before.rpartition("\n")[2]
    if line.lstrip().startswith("#"):
        return False
    if re.search(r"[\w.>*&]$", line):
        return False
    word = re.search(r"(\w+|\*)[ \t]+$", line)
    return word is None or word[1] in _BEFORE_A_CALL
