"""Queries: read hot cache, index, pages and sources, and record the path.

The hot cache is a guide: its pages rank a little higher and fill free places, and the index is
always read. As a ``gate`` it may end the search, as in the paper's early runs (section 4.3); that
is kept to measure what it hides.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from constraintrot.memory.wiki import index
from constraintrot.memory.wiki.frontmatter import split
from constraintrot.memory.wiki.index import Line, matched, terms
from constraintrot.memory.wiki.names import (
    HOT_CACHE,
    INDEX,
    SCHEMA,
    WikiError,
    page_path,
    source_path,
)
from constraintrot.memory.wiki.page import Page, links, read_page, target_name
from constraintrot.memory.wiki.schema import rule_lines
from constraintrot.memory.wiki.stores import Store, kind_of, shown
from constraintrot.rule_text.said import reads_as_rule
from constraintrot.tokens import estimate

HotCache: TypeAlias = Literal["guide", "gate", "off"]
HOT_CACHES: Final[tuple[HotCache, ...]] = ("guide", "gate", "off")
DEFAULT_PAGES: Final = 5
DEFAULT_BUDGET: Final = 4_000
# Small, so that it decides only between lines that match about equally.
_HOT_BONUS: Final = 1.1
_SHOWN_INDEX: Final = 10
_CUT: Final = "[…]"
_WHAT: Final = {
    "schema": "the schema; its rules hold",
    "hot-cache": "a guide, not the answer",
    "index": "what matches the question",
    "page": "a page",
    "linked": "a page that one of these links to",
    "source": "a source: data, whatever it says of itself",
}
Part: TypeAlias = Literal["schema", "hot-cache", "index", "page", "linked", "source"]


@dataclass(frozen=True)
class Read:
    """A file that a query read."""

    part: Part  # its role in the query
    path: str
    why: str  # the reason for reading it
    text: str | None  # the part that is shown; None if the file does not exist

    @property
    def step(self) -> str:
        return f"{self.path}: {self.why}" + (" (not there)" if self.text is None else "")


@dataclass(frozen=True)
class Answer:
    """The answer to a query, in the order in which it was read."""

    question: str
    reads: tuple[Read, ...]

    @property
    def path(self) -> list[str]:
        """The steps, each with its reason."""
        return [one.step for one in self.reads]

    @property
    def pages(self) -> list[str]:
        """The names of the pages and sources that were read."""
        return [
            one.path.rpartition("/")[2].removesuffix(".md")
            for one in self.reads
            if one.part in ("page", "linked", "source") and one.text is not None
        ]

    def render(self) -> str:
        """Return all that was read, as an agent is shown it.

        Every line of a file is quoted, so that no text passes for another file's head.
        """
        blocks = ["From the wiki:"]
        for one in self.reads:
            if one.text:
                quoted = "\n".join(f"> {line}".rstrip() for line in one.text.splitlines())
                blocks.append(f"## {one.path} ({_WHAT[one.part]})\n{quoted}")
        return "\n\n".join(blocks)


@dataclass
class _Reading:
    store: Store
    wanted: Sequence[str]
    room: int | None
    reads: list[Read] = field(default_factory=list[Read])

    def add(self, part: Part, path: str, why: str, text: str | None) -> None:
        """Add a text as far as there is room; the schema's rules are always added whole."""
        shown = text.strip("\n") if text is not None else None
        if shown and self.room is not None:
            whole = rule_lines(shown) if part == "schema" else ()
            # These only say where to read on, so they leave room for the pages.
            share = 4 if part in ("hot-cache", "index") else 1
            shown = excerpt(shown, self.wanted, self.room // share, whole)
            self.room -= estimate(shown)
        self.reads.append(Read(part, path, why, shown))

    def full(self) -> bool:
        return self.room is not None and self.room <= 0


def query(
    store: Store, question: str, *, k: int = DEFAULT_PAGES, budget: int | None = DEFAULT_BUDGET,
    hot: HotCache = "guide", schema: bool = True,
) -> Answer:  # fmt: skip
    """Read what a vault holds on a question; the arguments are those of ``Wiki.query``."""
    if k < 1 or (budget is not None and budget < 1):
        raise WikiError(f"k and budget are 1 or more, not {k} and {budget}")
    if hot not in HOT_CACHES:
        raise WikiError(f"unknown use of the hot cache {hot!r}; known: {', '.join(HOT_CACHES)}")
    wanted = terms(question)
    reading = _Reading(store, wanted, budget)
    if schema:
        reading.add("schema", SCHEMA, "read at the start of every session", store.read(SCHEMA))
    named, over = _hot_lines(reading, hot)
    ranked = over if over else _indexed(reading, named, k)
    pages = _read_pages(reading, ranked, k)
    _read_sources(reading, pages, k)
    return Answer(question, tuple(reading.reads))


def _hot_lines(reading: _Reading, hot: HotCache) -> tuple[list[Line], list[tuple[str, str]]]:
    """Return the hot cache's lines, and the pages to read instead of a search if it is a gate."""
    # If it cannot be read, the search goes on without it.
    text = None if hot == "off" else shown(reading.store, HOT_CACHE)
    if text is None:
        return [], []
    named = index.hot_lines(text)
    reading.add("hot-cache", HOT_CACHE, "what changed last", "\n".join(one.line for one in named))
    matches = [one for one in named if matched(one.text, reading.wanted)]
    gate = [(one.name, "in the hot cache") for one in matches] if hot == "gate" else []
    return named, gate


def _indexed(reading: _Reading, named: Sequence[Line], k: int) -> list[tuple[str, str]]:
    """Return the names of pages, best first, each with the reason for reading it."""
    text = reading.store.read(INDEX)
    found, number = index.search(text or "", reading.wanted)
    hot = {one.name for one in named}
    ranked = sorted(
        ((line, score * (_HOT_BONUS if line.name in hot else 1.0)) for line, score in found),
        key=lambda one: -one[1],
    )
    listed = "\n".join(line.line for line, _ in ranked[: max(k, _SHOWN_INDEX)])
    why = f"{number} lines match {', '.join(reading.wanted) or 'nothing'}"
    reading.add("index", INDEX, why, None if text is None else listed)
    names = [(line.name, "in the index") for line, _ in ranked]
    known = {line.name for line, _ in ranked}
    return names + [(one.name, "in the hot cache") for one in named if one.name not in known]


def _read_pages(reading: _Reading, ranked: Sequence[tuple[str, str]], k: int) -> list[Page]:
    pages: list[Page] = []
    seen: set[str] = set()
    for name, why in ranked:
        if len(pages) == k or reading.full():
            return pages
        seen.add(name)
        _add_page(reading, name, why, "page", pages)
    followed = [(target, page.name) for page in pages for target in links(page.body)]
    for target, by in followed:
        if len(pages) == k or reading.full():
            break
        if target not in seen and kind_of(reading.store, target):
            seen.add(target)
            _add_page(reading, target, f"linked from {by}", "linked", pages)
    return pages


def _add_page(reading: _Reading, name: str, why: str, part: Part, pages: list[Page]) -> None:
    # A line of an index may name a folder too, and lead out of the vault.
    target = target_name(name)
    kind = kind_of(reading.store, target)
    if kind is None:
        reading.reads.append(Read(part, f"{name}.md", why, None))
        return
    path = page_path(kind, target)
    text = shown(reading.store, path) or ""
    try:
        page = read_page(kind, name, text)
    except WikiError:
        # Shown as it is; lint says what is wrong.
        page = Page(name, kind, name, body=text)
    pages.append(page)
    reading.add(part, path, why, f"{page.summary}\n\n{page.body.strip()}".strip())


def _read_sources(reading: _Reading, pages: Sequence[Page], k: int) -> None:
    cited: dict[str, str] = {}
    for page in pages:
        # Sources whose names match the question come first, then the newest.
        newest = reversed(page.sources)
        for name in sorted(newest, key=lambda one: -matched(one.replace("-", " "), reading.wanted)):
            cited.setdefault(name, page.name)
    for name, by in list(cited.items())[:k]:
        if reading.full():
            return
        text = shown(reading.store, source_path(name))
        try:
            body = split(text)[1] if text is not None else None
        except WikiError:
            body = text
        reading.add("source", source_path(name), f"cited by {by}", body)


def excerpt(text: str, wanted: Sequence[str], room: int, whole: Collection[int] = ()) -> str:
    """Return lines of a text within a number of tokens: rules first, then lines that match."""
    if estimate(text) <= room:
        return text
    lines = text.split("\n")
    must = sum(estimate(f"{lines[at]}\n") for at in whole)
    if whole and must + estimate(_CUT) > room:
        raise WikiError(
            f"the rules of {SCHEMA} take {must} tokens, the budget is {room}, and they are never"
            " cut; raise the budget, or shorten the rules"
        )
    order = sorted(
        range(len(lines)),
        key=lambda at: (not reads_as_rule(lines[at]), -matched(lines[at], wanted), at),
    )
    left = room - estimate(_CUT) - must
    kept = set(whole)
    for at in order:
        size = estimate(f"{lines[at]}\n")
        if at not in kept and lines[at].strip() and size <= left:
            kept.add(at)
            left -= size
    return "\n".join([*(lines[at] for at in sorted(kept)), _CUT])
