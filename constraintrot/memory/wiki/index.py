"""The index (every page in one line), the search in it, and the hot cache."""

import heapq
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from constraintrot.memory.wiki.frontmatter import frontmatter, split
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import FOLDERS, KINDS, Kind, WikiError, one_line
from constraintrot.memory.wiki.page import Page, links

LONGEST_SUMMARY: Final = 160
# Many, so that a page with every rare word of a question hides no page with a common one.
_MOST_TERMS: Final = 200
_MOST_LINES: Final = 100
# Beyond this number of lines, further terms only rank them.
_ENOUGH: Final = 256
_HEAD: Final = (
    "# Index\n\nEvery page of this vault. It is written with each ingest; whatever else is put"
    " here goes then.\n"
)
_LINE: Final = re.compile(r"- \[\[([^\[\]|#]+)\]\] ?(.*)")
_WORD: Final = re.compile(r"[^\W_]+")
_IDEOGRAPHS: Final = re.compile(r"[\u3400-\u9fff]+")
# Words of most lines, which say nothing about the question.
_EMPTY: Final = frozenset(
    """a about all an and any are as at be by can could do does for from had has have how i if in
    into is it its just may me my no not of on or our out please so some than that the their them
    then there these they this to up us was we were what when where which who will with would you
    your el la los las un una de del al en y o que se su por para con es lo como esta este
    """.split()  # noqa: SIM905  # far shorter than a list
)


@dataclass(frozen=True)
class Line:
    """A page's line in the index: its name, and its title and summary."""

    name: str
    text: str

    @property
    def line(self) -> str:
        return f"- [[{self.name}]] {self.text}"


def line_of(page: Page) -> Line:
    summary = one_line(page.summary, LONGEST_SUMMARY)
    title = one_line(page.title, LONGEST_SUMMARY)
    # The summary may begin with the title, or be the title.
    said = title if not summary or summary == title else f"{title}: {summary}"
    return Line(page.name, said)


def read(text: str) -> dict[Kind, dict[str, Line]]:
    found: dict[Kind, dict[str, Line]] = {kind: {} for kind in KINDS}
    headings = {f"## {FOLDERS[kind].capitalize()}": kind for kind in KINDS}
    kind: Kind | None = None
    for line in text.split("\n"):
        if line.startswith("## "):
            kind = headings.get(line.strip())
        elif kind is not None and (one := _LINE.fullmatch(line)):
            found[kind][one[1]] = Line(one[1], one[2])
    return found


def render(lines: Mapping[Kind, Mapping[str, Line]]) -> str:
    """Return an index of these lines, by kind and ordered by name."""
    parts = [_HEAD]
    for kind in KINDS:
        parts.append(f"\n## {FOLDERS[kind].capitalize()}\n")
        parts += [f"{lines[kind][name].line}\n" for name in sorted(lines[kind])]
    return "".join(parts)


def updated(text: str, pages: Iterable[Page]) -> str:
    lines = read(text)
    for page in pages:
        for kind in KINDS:
            lines[kind].pop(page.name, None)
        lines[page.kind][page.name] = line_of(page)
    return render(lines)


def terms(question: str) -> list[str]:
    """Return the words that a question is searched by, each once; ideographs are paired."""
    folded = question.casefold()
    found = [
        word
        for word in _WORD.findall(_IDEOGRAPHS.sub(" ", folded))
        if word not in _EMPTY and (len(word) > 1 or word.isdecimal())
    ]
    for run in _IDEOGRAPHS.findall(folded):
        found += [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
    return list(dict.fromkeys(_stem(word) for word in found))


def search(text: str, wanted: Sequence[str]) -> tuple[list[tuple[Line, float]], int]:
    """Return the best lines of an index that hold terms, and the number of all such lines.

    A term counts if a word begins with it; rarer terms count more. Terms of most lines only
    rank the lines that rarer terms have found.
    """
    # An editor may have taken the last line's end away.
    text = text if text.endswith("\n") else f"{text}\n"
    folded = text.casefold()
    total = max(1, folded.count("\n- [["))
    counts = {term: count for term in wanted if (count := folded.count(term))}
    scores: dict[int, float] = {}
    lines: dict[int, str] = {}
    for term in sorted(counts, key=counts.__getitem__)[:_MOST_TERMS]:
        weight = math.log(1 + total / min(total, counts[term]))
        if len(scores) < _ENOUGH:
            starts: Iterable[int] = {*_line_starts(folded, term)}
        else:
            lines = lines or {at: folded[at : folded.find("\n", at)] for at in scores}
            starts = [at for at, line in lines.items() if term in line and _holds(line, term)]
        for start in starts:
            scores[start] = scores.get(start, 0.0) + weight
    best = heapq.nsmallest(_MOST_LINES, scores, key=lambda at: (-scores[at], at))
    shown = zip(map(_LINE.fullmatch, _lines_at(text, folded, best)), best, strict=True)
    return [(Line(one[1], one[2]), scores[at]) for one, at in shown if one], len(scores)


def _lines_at(text: str, folded: str, starts: Sequence[int]) -> list[str]:
    """Return the lines of a text that start at some positions of its casefolded form."""
    if len(folded) == len(text):
        return [text[at : text.find("\n", at)] for at in starts]
    # Casefolding changed lengths, so positions no longer match.
    lines = text.split("\n")
    sizes = (len(line) + 1 for line in folded.split("\n"))
    numbers = {at: number for number, at in enumerate(accumulate(sizes, initial=0))}
    return [lines[numbers[at]] for at in starts]


def matched(text: str, wanted: Sequence[str]) -> int:
    folded = text.casefold()
    return sum(_holds(folded, term) for term in wanted)


def _holds(folded: str, term: str) -> bool:
    return next(_places(folded, term), None) is not None


def _line_starts(folded: str, term: str) -> Iterator[int]:
    for at in _places(folded, term):
        start = folded.rfind("\n", 0, at) + 1
        if folded.startswith("- [[", start):
            yield start


def _places(folded: str, term: str) -> Iterator[int]:
    ideographs = not term.isascii() and _IDEOGRAPHS.match(term) is not None
    at = folded.find(term)
    while at >= 0:
        if ideographs or at == 0 or not folded[at - 1].isalnum():
            yield at
        at = folded.find(term, at + len(term))


def _stem(word: str) -> str:
    """Return a word without its plural ending, so that it also finds the singular."""
    if word.isascii() and len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


MOST_HOT: Final = 12
_HOT_HEAD: Final = (
    "# Hot cache\n\nWhat changed last. It is a guide: go on to [[index]] also where this seems"
    " enough.\n"
)


def render_hot(entry: Entry, pages: Iterable[Page], before: str = "") -> str:
    """Return the hot cache after a change.

    The pages of the previous one follow, as far as there is room.
    """
    lines = {page.name: line_of(page).line for page in pages}
    for line in before.split("\n"):
        name = next(links(line), "") if line.startswith("- [[") else ""
        if name and name not in lines:
            lines[name] = line
    listed = "".join(f"{line}\n" for line in list(lines.values())[:MOST_HOT])
    latest = f"\nLatest: {entry.operation} of {entry.about}, {entry.time}\n\n"
    return frontmatter({"latest": entry.chain}) + _HOT_HEAD + latest + listed


def hot_latest(text: str) -> str:
    """Return the chain of the log entry that a hot cache describes; empty if it names none."""
    try:
        return str(split(text)[0].get("latest", ""))
    except WikiError:
        return ""


def hot_lines(text: str) -> list[Line]:
    found = (line for line in text.split("\n") if line.startswith("- [["))
    return [
        Line(name, line.partition("]]")[2].strip()) for line in found for name in [*links(line)][:1]
    ]
