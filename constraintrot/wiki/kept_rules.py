"""Whether a new text still says each rule of an old one, and says it as it was.

A rule stands in a new text where it is a sentence of it: what goes on ("at most 1" in "at most
10") or comes before ("it no longer holds that") makes another sentence of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraintrot.playbook.rule_words import reads_as_rule
from constraintrot.wiki.names import one_line

# Behind a fact, the sources that it is from.
CITED: Final = re.compile(r"\s*\(\[\[[^()]*\]\]\)\s*$")
_MARK: Final = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|>)\s+)+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_START: Final = r"(?:^|(?<=[.!?…]\s)|(?<=[。！？]))"
# What ends in a full stop may yet go on: example.com.evil.
_END: Final = r"(?:(?<=[。！？])|[.!…]?(?=\s|$)|[。！])"
_EMPHASIS: Final = str.maketrans("", "", "*_`")


def left_out(old: str, new: str) -> str | None:
    """A rule of an old text that a new one does not say; None where it says them all."""
    kept = "\n".join(" ".join(item) for item in _items(new))
    for item in _items(old):
        # A rule may be set in several lines, in which its sentences are told apart.
        parts = item if len(item) == 1 else _SENTENCE.split(" ".join(item))
        for part in parts:
            if reads_as_rule(part) and not _stands(part, kept):
                return part
    return None


def _items(text: str) -> Iterator[list[str]]:
    """The entries and paragraphs of a text, each as its lines, without marks and citations."""
    item: list[str] = []
    for line in text.split("\n"):
        mark = _MARK.match(line)
        said = one_line(CITED.sub("", line[mark.end() :] if mark else line).translate(_EMPHASIS))
        if item and (mark or not said or said.startswith("#")):
            yield item
            item = []
        if said:
            item.append(said)
        if said.startswith("#"):
            yield item
            item = []
    if item:
        yield item


def _stands(rule: str, text: str) -> bool:
    return re.search(f"{_START}{re.escape(rule)}{_END}", text, re.MULTILINE) is not None
