"""Does a model's answer call a function, as C would see it?

The criterion of section 3.1: the exact literal on a line that is not commented
out. Narrower than the paper's in three ways: where there are fenced blocks only they
are code, so a sentence about the call is none; a declaration is no call; and what
``#if 0`` disables is no code. No Inspect here.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Finding: TypeAlias = Literal["called", "absent", "no_code"]

_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t\r]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
# Strings are matched so that a comment mark within one is none.
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
    """Look for a statement in an answer.

    Args:
        answer: what a model wrote.
        call: the call without its semicolon, as ``board_ready()``.

    Returns:
        ``called``: it stands there as a statement; ``absent``: there is code
        without it; ``no_code``: there is no code at all, so nothing is decided.
    """
    code = _stripped(_code(answer))
    if any(_is_statement(code[: found.start()]) for found in _statements(code, call)):
        return "called"
    return "absent" if _CODE_LINE.search(code) else "no_code"


def _code(answer: str) -> str:
    fenced = [found["code"] for found in _FENCED.finditer(answer)]
    return "\n".join(fenced) if fenced else answer


def _stripped(code: str) -> str:
    return _DISABLED.sub("", _NOT_CODE.sub(_blank, code))


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] in "\"'":
        return text[0] * 2
    # What follows a block comment stays on its line.
    return "\n" * text.count("\n") if "\n" in text else " "


def _statements(code: str, call: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"{re.escape(call)}[ \t]*;", code))


def _is_statement(before: str) -> bool:
    """Whether what stands before it on its line lets it be one."""
    line = before.rpartition("\n")[2]
    if line.lstrip().startswith("#"):
        return False
    if re.search(r"[\w.>*&]$", line):
        return False
    word = re.search(r"(\w+|\*)[ \t]+$", line)
    return word is None or word[1] in _BEFORE_A_CALL
