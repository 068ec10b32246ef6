"""Frames: each block in a prompt by itself, in a fence that its content cannot close.

A frame is a fence of tildes with the block's name, the content verbatim, and the
same fence again. The fence is longer than any run of tildes in the content, the
CommonMark rule for fenced text, so content can neither end its frame nor begin
another one. A frame starts with a tilde and ends with a newline: o200k splits
there whatever comes next, so the counts of frames add up to the count of the text.
"""

from __future__ import annotations

import re
from typing import Final

from constraintrot.defenses.rampart.errors import RegistryError

_FENCE: Final = "~~~"
_RUN: Final = re.compile("~{3,}")
_OPENING: Final = re.compile(r"(~{3,}) ([^\n]+)\n")


def frame(name: str, content: str) -> str:
    """A block's text in a prompt.

    Args:
        name: one line, checked.
        content: any text.
    """
    fence = _FENCE
    if _FENCE in content:
        fence = "~" * (max(map(len, _RUN.findall(content))) + 1)
    return f"{fence} {name}\n{content}\n{fence}\n"


def frames(prompt: str) -> list[tuple[str, str]]:
    """The blocks of a compiled prompt, as (name, content).

    Raises:
        RegistryError: the text is not what a compile makes.
    """
    blocks: list[tuple[str, str]] = []
    at = 0
    while at < len(prompt):
        opening = _OPENING.match(prompt, at)
        if opening is None:
            raise RegistryError(f"no frame opens at character {at}: {prompt[at : at + 40]!r}")
        closing = f"\n{opening[1]}\n"
        end = prompt.find(closing, opening.end())
        if end < 0:
            raise RegistryError(f"the frame of {opening[2]!r} at character {at} is not closed")
        name, content = opening[2], prompt[opening.end() : end]
        after = end + len(closing)
        if frame(name, content) != prompt[at:after]:
            raise RegistryError(
                f"the frame of {name!r} at character {at} has another fence than its content needs"
            )
        blocks.append((name, content))
        at = after
    return blocks
