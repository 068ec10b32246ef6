"""Cutting clauses out of a text so that what is left can be read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from constraintrot.rule_text.clauses import BLANKS, BULLET, Clause, by_sentence, unconnected

_COORDINATION_END = re.compile(r"\s(?:and|but|or|while|y|e|o|pero)$|(?:并且|而且|但是|同时|并|但)$")
_MARK = re.compile(r"(?:[,，;；]|\s[–—-]|——?)\s*$")
_END = re.compile(r"[.!?。！？]+[\"'”’)\]）」]*\s*$")


def cut(text: str, parts: Sequence[Clause], gone: Collection[int]) -> str:
    """The text without some of its clauses, its punctuation and first letters mended.

    Args:
        text: the text.
        parts: its clauses.
        gone: which of them are cut, by number.
    """
    if not gone:
        return text
    lines: list[_Line] = []
    for members in by_sentence(parts):
        whole = text[parts[members[0]].start : parts[members[-1]].end]
        left = [at for at in members if at not in gone]
        if len(left) == len(members):
            lines.append(_Line(whole, whole))
        elif all(parts[at].label for at in left):
            lines.append(_Line(whole, None))
        else:
            lines.append(_Line(whole, _mended(text, parts, members, left)))
    return "".join(_with_breaks(_without_empty_headings(lines))).strip(BLANKS)


@dataclass(frozen=True)
class _Line:
    """A sentence as it was, and what is left of it; None for nothing."""

    whole: str
    left: str | None


def _mended(text: str, parts: Sequence[Clause], members: list[int], left: list[int]) -> str:
    """A sentence of which only some clauses are left."""
    texts = {at: text[parts[at].start : parts[at].end] for at in members}
    whole = "".join(texts.values())
    kept = set(left)
    opening = next(at for at in left if not parts[at].label)
    found = ""
    for at in left:
        piece = texts[at]
        if at == opening and at > members[0] and at - 1 not in kept:
            piece = unconnected(piece)
            if at == left[0]:
                bullet = BULLET.match(whole)
                piece = (bullet[0] if bullet else "") + _capital(piece)
        elif at > members[0] and at - 1 not in kept:
            found, piece = _joined(found, texts[at - 1], piece)
        found += piece
    return found if left[-1] == members[-1] else _closed(found, whole)


def _joined(before: str, between: str, after: str) -> tuple[str, str]:
    """Two clauses of which the one between was cut: the stronger mark stays, once."""
    marks = [_MARK.search(before), _MARK.search(between)]
    found = [mark[0].strip(BLANKS) for mark in marks if mark]
    mark = next((one for one in found if one not in ",，"), found[0] if found else "")
    if not mark:
        return before.rstrip(BLANKS) + " ", after.lstrip(BLANKS)
    if mark not in ",，":
        after = unconnected(after)
    blank = "" if mark in "，；" or "——" in mark else " "
    space = " " if mark in "–—-" else ""
    return _MARK.sub("", before).rstrip(BLANKS) + space + mark + blank, after.lstrip(BLANKS)


def _closed(piece: str, whole: str) -> str:
    """Return the rest of a sentence, with its own closing mark instead of a comma."""
    end = _END.search(whole)
    bare = _COORDINATION_END.sub("", piece.rstrip(BLANKS)).rstrip(BLANKS + ",，;；、:：–—-")
    blanks = whole[len(whole.rstrip(BLANKS)) :]
    mark = "" if end is None else end[0].rstrip(BLANKS)
    # A bracket or a quotation mark that closes may have been opened in what was cut.
    opened = sum(bare.count(one) for one in "(（“") - sum(bare.count(one) for one in ")）”")
    return bare + (mark if opened > 0 else mark[:1]) + blanks


def _capital(piece: str) -> str:
    return piece[:1].upper() + piece[1:]


def _with_breaks(lines: Sequence[_Line]) -> Iterator[str]:
    """Return the rest, with the line breaks that ended the parts that were cut."""
    for at, line in enumerate(lines):
        after = lines[at + 1] if at + 1 < len(lines) else None
        if line.left is None:
            continue
        broken = after is not None and after.left is None and "\n" in after.whole
        if broken and after is not None and "\n" not in line.left[len(line.left.rstrip(BLANKS)) :]:
            yield line.left.rstrip(BLANKS) + after.whole[len(after.whole.rstrip(BLANKS)) :]
        else:
            yield line.left


def _without_empty_headings(lines: Sequence[_Line]) -> list[_Line]:
    """The lines; those that announce a list of which nothing is left are gone too."""
    found = list(lines)
    for at, line in enumerate(lines):
        if not line.whole.rstrip(BLANKS + "*").endswith((":", "：")) or "\n" not in line.whole:
            continue
        listed: list[_Line] = []
        for other in lines[at + 1 :]:
            if listed and (listed[-1].whole.endswith("\n\n") or not BULLET.match(other.whole)):
                break
            listed.append(other)
            if other.left is not None:
                break
        if listed and all(one.left is None for one in listed):
            found[at] = _Line(line.whole, None)
    return found
