"""Edits of pages: the changes that are allowed, and the treatment of the others.

- A fact is one line, so that no text of a model's makes a heading or another fact.
- A fact cites the source that it came with, and no other.
- Rewrites of one ingest that would leave less than half of a section of 400 characters or more
are refused. So is a rewrite that leaves out or extends a line that reads as a rule, and a new
summary that drops a rule written nowhere else.
- A rewrite based on another text than the section's present one replaces nothing: it is added
below, so that neither of two writers loses text.
- A link that goes nowhere becomes plain text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from constraintrot.memory.wiki.names import (
    ROOT_FILES,
    Kind,
    WikiError,
    one_line,
    page_path,
    plain_text,
    slug,
    source_path,
)
from constraintrot.memory.wiki.page import Page, links, open_fence, relinked
from constraintrot.memory.wiki.plan import Edit, Plan
from constraintrot.memory.wiki.stores import FILE_FOLDERS, Store, kind_of
from constraintrot.rule_text.said import reads_as_rule

# The citation of sources behind a fact.
CITED: Final = re.compile(r"\s*\(\[\[[^()]*\]\]\)\s*$")
_MARK: Final = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|>)\s+)+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_START: Final = r"(?:^|(?<=[.!?…]\s)|(?<=[。！？]))"
# A text that ends in a full stop may go on: example.com.evil.
_END: Final = r"(?:(?<=[。！？])|[.!…]?(?=\s|$)|[。！])"
_EMPHASIS: Final = str.maketrans("", "", "*_`")


def left_out(old: str, new: str) -> str | None:
    """Return a rule of an old text that the new text lacks; None if it has all of them.

    A rule is kept if it is a whole sentence of the new text. A continuation ("at most 10" for "at
    most 1") or an introduction ("it no longer holds that") makes it another sentence.
    """
    kept = "\n".join(" ".join(item) for item in _items(new))
    for item in _items(old):
        # A rule may span several lines, so its sentences are compared one by one.
        parts = item if len(item) == 1 else _SENTENCE.split(" ".join(item))
        for part in parts:
            sentence = f"{_START}{re.escape(part)}{_END}"
            if reads_as_rule(part) and re.search(sentence, kept, re.MULTILINE) is None:
                return part
    return None


def _items(text: str) -> Iterator[list[str]]:
    """Yield the entries and paragraphs of a text as lines, without list marks and citations."""
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


LONG_SECTION: Final = 400
"""Length in characters from which a section may not be halved."""
RELATED: Final = "Related"
_CITATION: Final = re.compile(r"\(\s*(\[\[[^()\n]*\]\])\s*\)")
# A start that makes a heading of a fact, or code of all that follows.
_OPENS: Final = re.compile(r"^(#{1,6}(?=\s|$)|`{3}|~{3})")
_HEADING: Final = re.compile(r"^( {0,3})(?=#{1,2}(?:[ \t]|$))", re.MULTILINE)
# A line that makes a heading of the one above it.
_UNDERLINE: Final = re.compile(r"(?<=[^\n])\n( {0,3})(?=(?:=+|-+)[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    kind: Kind
    name: str

    @property
    def path(self) -> str:
        return page_path(self.kind, self.name)


@dataclass
class Done:
    """The outcome of an ingest's edits."""

    pages: list[Page] = field(default_factory=list[Page])  # the pages that were written
    # Edits that were not done as asked, with the reason.
    refused: list[str] = field(default_factory=list[str])
    # Targets of unresolved links, which became plain text.
    unlinked: list[str] = field(default_factory=list[str])


def place(store: Store, kind: Kind, title: str) -> Place:
    """Return the place of the page with a title, of any kind, or the place for a new page."""
    name = slug(title)
    known = kind_of(store, name)
    if known is not None:
        return Place(known, name)
    # Two files of one name would be one link to Obsidian.
    return Place(kind, f"{name}-page" if store.exists(source_path(name)) else name)


def places(store: Store, plan: Plan, date: str) -> dict[Place, list[Edit]]:
    """Return a plan's edits by page: entities and concepts first, then the analysis."""
    found: dict[Place, list[Edit]] = {}
    for edit in (*plan.edits, *([plan.analysis] if plan.analysis else [])):
        title = f"{date} {edit.title} analysis" if edit.kind == "analysis" else edit.title
        found.setdefault(place(store, edit.kind, title), []).append(edit)
    return found


def resolves(store: Store, name: str) -> bool:
    """Return whether a link leads to a source, a page or a file of the root."""
    return f"{name}.md" in ROOT_FILES or any(
        store.exists(f"{folder}/{name}.md") for folder in FILE_FOLDERS
    )


def link_changes(targets: Iterable[str], known: Callable[[str], bool]) -> dict[str, str | None]:
    """Return, for each target without a file, the file whose title it is, or None."""
    changes: dict[str, str | None] = {}
    for target in targets:
        if known(target):
            continue
        try:
            name = slug(target)
        except WikiError:
            name = ""
        changes[target] = name if name and known(name) else None
    return changes


def applied(
    page: Page, edits: Iterable[Edit], source: str, date: str, known: Callable[[str], bool],
    done: Done,
) -> Page:  # fmt: skip
    """Return a page with the edits of one source.

    ``known`` tells whether a name is a file's of the vault, or will be.
    """
    before = page
    for edit in edits:
        if edit.summary:
            page = _summarised(page, edit.summary, known, done)
        if edit.rewrite is not None:
            page = _rewritten(page, edit, before, source, known, done)
        facts = [_fact(_linked(fact, known, done)) for fact in edit.add]
        page = _with_facts(page, edit.section, [fact for fact in facts if fact], source)
        page = _with_related(page, edit.links, known, done)
    sources = page.sources if source in page.sources else (*page.sources, source)
    return replace(page, sources=sources, updated=date)


def _summarised(page: Page, said: str, known: Callable[[str], bool], done: Done) -> Page:
    summary = _linked(said, known, done)
    # A new page already has this summary, with its links as asked for.
    rule = left_out(page.summary, f"{summary}\n\n{page.body}") if said != page.summary else None
    if rule is not None:
        done.refused.append(f"{page.name}: the summary would leave out {one_line(rule, 80)!r}")
        return page
    return replace(page, summary=summary)


def _rewritten(
    page: Page, edit: Edit, before: Page, source: str, known: Callable[[str], bool], done: Done
) -> Page:
    old = page.section(edit.section)
    cited = {*links(old.text), source}
    new = _closed(_linked(edit.rewrite or "", known, done)).strip("\n")
    new = _CITATION.sub(lambda one: one[0 if cited.issuperset(links(one[1])) else 1], new)
    what = f"{page.name}, section {old.heading}"
    if old.text and edit.base != old.digest:
        done.refused.append(f"{what}: it is not what the rewrite is based on; both are kept")
        return page.with_section(edit.section, f"{old.text}\n\n{new}") if new else page
    # Not even several rewrites of one ingest together may halve a section.
    length = max(len(old.text), len(before.section(edit.section).text))
    if length >= LONG_SECTION and len(new) < length / 2:
        done.refused.append(f"{what}: the rewrite would leave {len(new)} of {length} characters")
        return page
    if (rule := left_out(old.text, new)) is not None:
        done.refused.append(f"{what}: the rewrite would leave out {one_line(rule, 80)!r}")
        return page
    return page.with_section(edit.section, new)


def _fact(text: str) -> str:
    """Return a fact on one line, without citation marks, headings and code blocks."""
    return _OPENS.sub(r"\\\1", _CITATION.sub(r"\1", one_line(text)))


def _with_facts(page: Page, section: str, facts: list[str], source: str) -> Page:
    if not facts:
        return page
    lines = page.section(section).text.split("\n") if page.section(section).text else []
    cited = f"[[{source}]]"
    for said in (f"- {fact}" for fact in facts):
        # The whole line: text after a citation makes it another fact.
        same = (at for at, line in enumerate(lines) if line.startswith(said))
        at = next((at for at in same if CITED.fullmatch(lines[at], len(said))), None)
        if at is None:
            lines.append(f"{said} ({cited})")
        elif cited not in lines[at]:
            lines[at] = f"{lines[at].rstrip().removesuffix(')')}, {cited})"
    return page.with_section(section, "\n".join(lines))


def _with_related(
    page: Page, titles: Iterable[str], known: Callable[[str], bool], done: Done
) -> Page:
    changes = link_changes(titles, known)
    names = [changes.get(title, title) for title in titles]
    done.unlinked += [title for title, name in changes.items() if name is None]
    there = page.section(RELATED).text
    linked = {*links(there), page.name}
    new = [name for name in dict.fromkeys(names) if name is not None and name not in linked]
    if not new:
        return page
    listed = "\n".join(f"- [[{name}]]" for name in new)
    return page.with_section(RELATED, f"{there}\n{listed}".strip("\n"))


def _linked(text: str, known: Callable[[str], bool], done: Done) -> str:
    changes = link_changes(links(text), known)
    done.unlinked += [target for target, name in changes.items() if name is None]
    return relinked(text, changes) if changes else text


def _closed(text: str) -> str:
    """Return a section's text with headings escaped and an open code block closed."""
    text = _UNDERLINE.sub(r"\n\1\\", _HEADING.sub(r"\1\\", plain_text(text)))
    opened = open_fence(text)
    return f"{text}\n{opened}" if opened else text
