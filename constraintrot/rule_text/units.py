"""Sentences of a message as units that are pinned whole, and its quotations."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.rule_text.survival import sentences

# Zero-width and direction marks, fillers, variation selectors and tags: invisible to a reader,
# kept by most parsers.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{UNSEEN}]")
# A line that continues in lower case is a wrapped sentence, up to this length.
LONGEST = 1500
_ENDED = re.compile(r"""[.!?。！？:：;；]["'”’)\]]*\s*\Z""")
_ITEM = re.compile(r"(?:[-*•·>]|\d{1,3}[.)])\s*")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}
_QUOTE = re.compile('["„“”«»「」『』\n]')
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_CITED = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
# A quotation after one of these is the rule itself, unless they are a key of a JSON object.
_LABEL = re.compile(
    r"(?:polic(?:y|ies)|rules?|instructions?|guidelines?|norma|regla|politica|política|instrucción"
    r"|richtlinien?|regeln?|vorgaben?|规定|规则|政策|守则|制度|要求)[^\n.。\x22{]{0,20}[:：]?\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Unit:
    """A sentence of a text: ``text[start:end]`` is pinned, blanks and list marks aside.

    Attributes:
        plain: the text in which cues are searched: quotes blanked out, letters folded.
        opens: whether it is the first of its paragraph or line.
        blank: whether an empty line precedes it.
    """

    start: int
    end: int
    plain: str
    opens: bool
    blank: bool


def units(text: str) -> Iterator[Unit]:
    """Yield the sentences of a text, in order, in time linear in its length."""
    open_to_read = unquoted(text)
    before = "\n\n"
    at = 0
    for piece in _pieces(text):
        body = piece.rstrip()
        lead = len(piece) - len(piece.lstrip())
        mark = _ITEM.match(piece, lead) if "\n" in before else None
        start = mark.end() if mark else lead
        if start < len(body):
            yield Unit(
                at + start,
                at + len(body),
                fold(open_to_read[at + start : at + len(body)]),
                "\n" in before,
                before.count("\n") > 1,
            )
        before = piece[len(body) :]
        at += len(piece)


def unquoted(text: str) -> str:
    """Return the text with quotations, cited lines and fenced code blanked out; same length."""
    text = _CITED.sub(lambda found: " " * len(found[0]), text)
    fences = [match.start() for match in _FENCE.finditer(text)]
    spans = [*zip(fences[::2], fences[1::2], strict=False), *_quoted(text)]
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            parts += [text[at:start], " " * (end - start)]
            at = end
    return "".join([*parts, text[at:]])


def fold(text: str) -> str:
    """Return a text in lower case, without accents, control and format characters."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    if decomposed.isascii() and decomposed.isprintable():
        return " ".join(decomposed.split())
    return " ".join("".join(map(_letter, decomposed)).split())


def visible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def _letter(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind in ("Mn", "Cf") or letter in "ᅟᅠ":
        return ""
    if kind in ("Cc", "Cs"):
        return " "
    return "'" if letter in "’‘" else letter


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """Yield quoted passages within one line; unpaired quotation marks are ignored."""
    opened: tuple[int, str] | None = None
    for match in _QUOTE.finditer(text):
        if opened is None:
            closing = _QUOTES.get(match[0])
            opened = (match.end(), closing) if closing else None
        elif match[0] == opened[1]:
            before = text[max(0, opened[0] - 60) : opened[0] - 1]
            if match.start() > opened[0] and not _LABEL.search(before):
                yield opened[0], match.start()
            opened = None
        elif match[0] == "\n":
            opened = None


def _pieces(text: str) -> Iterator[str]:
    """Yield sentences, with those wrapped over lines in one piece."""
    held: list[str] = []
    length = 0
    for sentence in sentences(text):
        if held and not (length < LONGEST and _goes_on(held[-1], sentence)):
            yield "".join(held)
            held, length = [], 0
        held.append(sentence)
        length += len(sentence)
    yield "".join(held)


def _goes_on(before: str, after: str) -> bool:
    wrapped = before.endswith("\n") and before.count("\n", -8) == 1
    return wrapped and after[:1].islower() and not _ENDED.search(before[-16:])
