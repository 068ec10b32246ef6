"""Clauses of English, Spanish, German and Chinese text, and texts without some of them.

A rule-based split, made for summaries: sentences, list items, semicolons, dashes, commas and
coordinated clauses are boundaries; quotations, brackets and code are never split. A piece that
cannot stand by itself ("whoever asks", "and returns") is a clause that leans on a neighbour, and
is removed with it.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from constraintrot.rule_text.survival import sentences

_CJK = re.compile(r"[\u3400-\u9fff]")
_BULLET = re.compile(
    r"\s*(?:[-*•·–]\s+|\(?\d{1,2}[.)](?:\s+|$)|\d{1,2}、|[(（][\d一二三四五六七八九十]{1,3}[)）]\s*)"
)
_LABEL = re.compile(r"[^:：,，;；.。!?！？\n]{1,48}(?::(?=\s)|：)\**\s*")
_BREAK = re.compile(r"[;；]\s*|\s[–—-]\s+|——\s*|—|,(?=\s)\s*|，")
_PAIRS = dict(zip('(（“„「『《[【"`', ')）”“」』》]】"`', strict=True))
_MARK = re.compile(r"(?:[,，;；]|\s[–—-]|——?)\s*$")
_END = re.compile(r"[.!?。！？]+[\"'”’)\]）」]*\s*$")
# Least words, or Chinese characters, of a clause.
_LEAST = 3
_APART = ";；—–-"
_BLANKS = " \t\r\n\u3000"
_ABBREVIATION = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|mr|mrs|ms|dr|no|vs|sr|sra|p\. ?ej|z\. ?b|bzw|nr|ca)\.\s*$"
)
_AND = r"and|but|while|whereas|then|y|e|pero|mientras(?: que)?|además|und|aber|sondern|während"
_AND_HAN = "并且|而且|但是|同时"
# Words that join a clause to the one before it, and must not open a sentence.
_CONNECTIVE = re.compile(
    rf"(?i)(?:(?:{_AND}|so|yet|or|also|however|therefore|though|también|sino|[ou]|oder|doch|jedoch"
    rf"|außerdem|zudem|auch)\b[,\s]*|(?:{_AND_HAN}|此外|另外|因此|所以|[并但且而])，?)+"
)
_COORDINATION = re.compile(rf"(?i)\s(?:{_AND})\s|{_AND_HAN}")
_COORDINATION_END = re.compile(rf"(?i)\s(?:{_AND}|or|o)$|(?:{_AND_HAN}|[并但])$")
# Beginnings of a clause that changes the meaning of the one that it leans on.
_CONDITION = re.compile(
    r"(?i)(?:if|when(?:ever)?|unless|once|si|cuando|salvo que|siempre que|wenn|falls|sofern)\b"
    "|如果|若|当|除非|一旦"
)
# Beginnings of a clause that depends on another.
_DEPENDENT = re.compile(
    r"""(?:to|for|with(?:in|out)?|in|at|of|by|from|on|as|since|because|if|when(?:ever)?|where|who|whose
    |which|that|wh(?:at|o|ich)ever|even|unless|except|including|such|other|rather|not?|never|only|per
    |under|according|due|after|before|until|whether|none|nobody|nothing|outside
    |para|por|con|sin|en|del?|desde|según|como|porque|si|cuando|donde|que|quien|aunque|salvo|incluyendo
    |nunca|ni|solo|al|sea|hasta|nad(?:ie|a)|ning(?:ún|una)
    |für|mit|ohne|im|an|am|auf|bei|nach|von|zum|seit|wenn|falls|sofern|weil|da(?:ss|mit)?|wer|wo
    |außer|nicht|nie(?:mals)?|keine?[mnrs]?|nur|unter|bis|bevor|nachdem|ob|egal|noch|um|als|wie|sonst
    |ausschließlich)\b
    |不得|不要|不能|禁止|绝不|从不|切勿|也不|除|无论|任何|其他|其余|如果|因为|根据|当""",
    re.I | re.VERBOSE,
)
# An unlisted verb is not recognised, which makes clauses longer, never shorter.
PREDICATE = re.compile(
    r"""\b(?:is|are|was|were|be(?:en)?|am|ha[sd]|have|do(?:es)?|will|would|shall|should|must|may|might
    |can(?:not)?|could|wants?|needs?|asks?|says?|said|told|knows?|goe?s?|got|gets?|sen[dt]|check|use
    |keep|kept|post|runs?|write|wrote|prepare|update|book|order|found|look|ma[dk]e|take|took|give|reply
    |starts?|fix|compare|list|count|add|works?|stays?|comes?|came|plans?|ends?|holds?|left|leaves|set
    |put|(?!need|speed|indeed|hundred)[a-z]{3,}ed
    |es|son|está|están|fue|han?|hay|prepara|deben?|pueden?|tienen?|falta|queda|sigue|van?|se|preparar
    |empieza|\w+(?:ó|aron|ieron|aban?|[aei]rán?)
    |ist|sind|wird|darf|dürfen|muss|soll|kann|haben|gilt|gibt|geht|komm(?:t|en)|steh(?:t|en)|liegt
    |braucht|schicken|prüft|möchte|macht|(?:ge|be|ver)[a-zäöü]{3,}(?:t|en))\b
    |[\u3400-\u9fff]{4,}""",
    re.VERBOSE | re.I,
)


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from ``start`` to before ``end``, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Clause(Span):
    """A clause with its bullet, closing punctuation and trailing blanks.

    Attributes:
        leans: -1 if it cannot stand without the clause before it, 1 without the one after it,
            else 0.
        label: whether it only introduces the next clause ("User instructions:").
        binds: whether it is a condition, without which the clause it leans on has another meaning.
    """

    sentence: int
    leans: int = 0
    label: bool = False
    binds: bool = False


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a text; joined, they are the text."""
    found: list[Clause] = []
    at = 0
    for number, sentence in enumerate(_lines(text)):
        found += _of_sentence(sentence, at, number)
        at += len(sentence)
    return found


def size(text: str) -> int:
    """Return the number of words in a text; each Chinese character counts as one."""
    return len(_CJK.findall(text)) + len(re.findall(r"\w+", _CJK.sub(" ", text)))


def by_sentence(parts: Sequence[Clause]) -> list[list[int]]:
    return [list(some) for _, some in groupby(range(len(parts)), lambda at: parts[at].sentence)]


def overlapping(parts: Sequence[Clause], spans: Iterable[Span]) -> set[int]:
    """Return the numbers of the clauses that share a character with some spans."""
    starts = [part.start for part in parts]
    found: set[int] = set()
    for span in spans:
        if span.start < span.end:
            found.update(range(bisect_right(starts, span.start) - 1, bisect_left(starts, span.end)))
    return found & set(range(len(parts)))


def with_dependents(parts: Sequence[Clause], chosen: Collection[int]) -> set[int]:
    """Return some clauses and those of the same sentences that cannot stand without them."""
    found: set[int] = set()
    waiting = list(chosen)
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        found.add(at)
        for other in (at - 1, at + 1):
            same = 0 <= other < len(parts) and parts[other].sentence == parts[at].sentence
            # A removed condition removes its main clause.
            if same and ((parts[at].binds and other > at) or parts[other].leans == at - other):
                waiting.append(other)
    return found


def _unconnected(piece: str) -> str:
    """Return a piece without the conjunction that joins it to the one before."""
    piece = piece.lstrip(_BLANKS)
    found = _CONNECTIVE.match(piece)
    return piece[found.end() :] if found else piece


def _lines(text: str) -> Iterator[str]:
    """Yield sentences; one that ends in a list number or an abbreviation is joined to the next."""
    held = ""
    for sentence in sentences(text):
        held += sentence
        if "\n" in sentence or not (_BULLET.fullmatch(held) or _ABBREVIATION.search(held)):
            yield held
            held = ""
    if held:
        yield held


def _of_sentence(sentence: str, offset: int, number: int) -> list[Clause]:
    bullet = _BULLET.match(sentence)
    begin = bullet.end() if bullet else 0
    label = _LABEL.match(sentence, begin)
    named = label.end() if label and label.end() < len(sentence) and size(label[0]) <= 8 else 0
    starts = sorted({0, named}) + _boundaries(sentence, named or begin)
    found: list[Clause] = []
    for start, end in zip(starts, [*starts[1:], len(sentence)], strict=True):
        piece = sentence[start:end]
        said = piece[begin if start == 0 else 0 :]
        bare = _unconnected(said)
        # At the start of a sentence, or after a semicolon or a dash.
        apart = start in (0, named) or sentence[:start].rstrip(_BLANKS)[-1] in _APART
        whole = size(bare) >= _LEAST and (_CJK.search(bare) or PREDICATE.search(bare))
        label_only = piece.rstrip(_BLANKS + "*").endswith((":", "："))
        stands = label_only or (not _DEPENDENT.match(bare) and (apart or whole))
        binds = not stands and _CONDITION.match(said) is not None
        found.append(Clause(offset + start, offset + end, number, -(not stands), label_only, binds))
    return _resolved(found)


def _resolved(found: list[Clause]) -> list[Clause]:
    """Let dependent clauses lean back, or forward if no independent one precedes them."""
    first = next((at for at, one in enumerate(found) if not one.leans and not one.label), 0)
    for at, one in enumerate(found):
        before = at > 0 and not found[at - 1].label
        leans = one.leans and (1 if at < first else -1 if before else 0)
        found[at] = replace(one, leans=leans, binds=one.binds and leans == 1)
    return found


def _boundaries(sentence: str, begin: int) -> list[int]:
    shut = _enclosed(sentence)
    marks = [found for found in _BREAK.finditer(sentence, begin) if found.start() not in shut]
    found = [mark.end() for mark in marks if begin < mark.end() < len(sentence.rstrip(_BLANKS))]
    for mark in _COORDINATION.finditer(sentence, begin):
        place = bisect_left(found, mark.start() - 1)
        if mark.start() in shut or (place < len(found) and found[place] <= mark.start() + 1):
            continue
        right = sentence[mark.end() : found[place] if place < len(found) else len(sentence)]
        left = sentence[found[place - 1] if place else begin : mark.start()]
        if size(left) >= _LEAST and size(right) >= _LEAST and PREDICATE.search(right):
            insort(found, mark.start() + (sentence[mark.start()] in _BLANKS))
    return found


def _enclosed(sentence: str) -> set[int]:
    """Return positions within quotation marks, brackets or code; unclosed ones do not count."""
    found: set[int] = set()
    for at, char in enumerate(sentence):
        if char in _PAIRS and at not in found:
            found.update(range(at, sentence.find(_PAIRS[char], at + 1) + 1))
    return found


def cut(text: str, parts: Sequence[Clause], gone: Collection[int]) -> str:
    """Return the text without some clauses, with punctuation and first letters corrected."""
    if not gone:
        return text
    kept: list[str] = []
    after, cut_after, emptied = "", False, False
    for members in reversed(by_sentence(parts)):
        whole = text[parts[members[0]].start : parts[members[-1]].end]
        left = _left(text, parts, members, [at for at in members if at not in gone])
        announces = "\n" in whole and whole.rstrip(_BLANKS + "*").endswith((":", "："))
        # The line that announces an emptied list is removed too.
        shown = None if announces and emptied else left
        if shown is not None:
            bare = shown.rstrip(_BLANKS)
            broken = cut_after and "\n" in after and "\n" not in shown[len(bare) :]
            kept.append(bare + after[len(after.rstrip(_BLANKS)) :] if broken else shown)
        ends = not after or whole.endswith("\n\n") or not _BULLET.match(after)
        emptied = left is None and (ends or emptied)
        after, cut_after = whole, shown is None
    return "".join(reversed(kept)).strip(_BLANKS)


def _left(text: str, parts: Sequence[Clause], members: list[int], left: list[int]) -> str | None:
    """Return a sentence with only some clauses left; None if only labels are."""
    if left != members and all(parts[at].label for at in left):
        return None
    texts = {at: text[parts[at].start : parts[at].end] for at in members}
    opening = next((at for at in left if not parts[at].label), None)
    found = ""
    for at in left:
        piece = texts[at]
        if at > members[0] and at - 1 not in left:
            if at != opening:
                found, piece = _joined(found, texts[at - 1], piece)
            else:
                piece = _unconnected(piece)
            if at == opening == left[0]:
                bullet = _BULLET.match(texts[members[0]])
                piece = (bullet[0] if bullet else "") + piece[:1].upper() + piece[1:]
        found += piece
    return found if left[-1] == members[-1] else _closed(found, "".join(texts.values()))


def _joined(before: str, between: str, after: str) -> tuple[str, str]:
    """Join two clauses between which one was cut; the stronger mark stays, once."""
    marks = [_MARK.search(before), _MARK.search(between)]
    found = [mark[0].strip(_BLANKS) for mark in marks if mark]
    mark = next((one for one in found if one not in ",，"), found[0] if found else "")
    if not mark:
        return before.rstrip(_BLANKS) + " ", after.lstrip(_BLANKS)
    if mark not in ",，":
        after = _unconnected(after)
    blank = "" if mark in "，；" or "——" in mark else " "
    space = " " if mark in "–—-" else ""
    return _MARK.sub("", before).rstrip(_BLANKS) + space + mark + blank, after.lstrip(_BLANKS)


def _closed(piece: str, whole: str) -> str:
    """Return the rest of a sentence, with its own closing mark instead of a comma."""
    end = _END.search(whole)
    bare = _COORDINATION_END.sub("", piece.rstrip(_BLANKS)).rstrip(_BLANKS + ",，;；、:：–—-")
    blanks = whole[len(whole.rstrip(_BLANKS)) :]
    mark = "" if end is None else end[0].rstrip(_BLANKS)
    # A closing bracket or quotation mark may have been opened in the cut text.
    opened = sum(bare.count(one) for one in "(（“") - sum(bare.count(one) for one in ")）”")
    return bare + (mark if opened > 0 else mark[:1]) + blanks
