"""Pages: frontmatter, sections and wikilinks, in Markdown as Obsidian reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from constraintrot.memory.wiki.frontmatter import changed, frontmatter, parts, read
from constraintrot.memory.wiki.names import (
    KINDS,
    Kind,
    WikiError,
    digest,
    one_line,
    page_path,
)

# In a table, a backslash stands before the alias's bar.
_LINK: Final = re.compile(r"(!?)\[\[([^\[\]\n|#^]+?)(\\?(?:[|#^][^\[\]\n]*)?)\]\]")
# A fence may be in a list or a quotation; no code in a line goes on behind a paragraph.
_CODE: Final = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*(?:\n|\Z)"
    r".*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|(?P<open>\Z))"
    r"|(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n|\n\#).)+?(?<!`)(?P=tick)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_HEADING: Final = re.compile(
    r"^## [ \t]*(?=\S)(.*?)(?:(?<=\S)[ \t]+#+)?(?<=[^ \t])[ \t]*$", re.MULTILINE
)
_OURS: Final = ("title", "type", "created", "updated", "sources", "summary")


@dataclass(frozen=True)
class Section:
    """A section of a page."""

    heading: str  # without the two signs; empty for the text before the first heading
    text: str  # the text under it, without blank lines at either end

    @property
    def digest(self) -> str:
        """The digest by which a rewrite names the text that it is based on."""
        return digest(self.text)[:16]


@dataclass(frozen=True)
class Page:
    """A page of the wiki."""

    name: str  # the file's name without ``.md``
    kind: Kind  # entity, concept or analysis, like its folder
    title: str
    summary: str = ""  # one line, which the index shows
    created: str = ""
    updated: str = ""
    sources: tuple[str, ...] = ()
    body: str = ""  # the text after the frontmatter
    # Further fields of the frontmatter, such as a person's tags and aliases.
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    front: str = ""  # the lines of the frontmatter as they were read; empty for a new page

    @property
    def path(self) -> str:
        return page_path(self.kind, self.name)

    @property
    def sections(self) -> list[Section]:
        return [Section(one.heading, one.rest.strip("\n")) for one in _parts(self.body)]

    def section(self, heading: str) -> Section:
        """Return a section by its heading, or an empty one if the page lacks it."""
        wanted = _heading(heading)
        for one in self.sections:
            if one.heading.casefold() == wanted.casefold():
                return one
        return Section(wanted, "")

    def with_section(self, heading: str, text: str) -> Page:
        """Return the page with another text under a heading; all else stays byte for byte."""
        heading = _heading(heading)
        found = _parts(self.body)
        new = f"\n{text.strip(chr(10))}\n"
        for at, one in enumerate(found):
            if one.heading.casefold() == heading.casefold():
                # A blank line before the next heading.
                found[at] = one._replace(rest=new if at == len(found) - 1 else f"{new}\n")
                break
        else:
            if found:
                found[-1] = found[-1]._replace(rest=found[-1].rest.rstrip("\n") + "\n\n")
            found.append(_Part(heading, f"## {heading}\n", new))
        return replace(self, body="".join(f"{one.line}{one.rest}" for one in found))

    def render(self) -> str:
        """Return the file's text; frontmatter lines with unchanged values stay as they are."""
        if not self.front:
            return frontmatter(self._fields() | dict(self.extra)) + self.body
        was = _page(self.kind, self.name, self.front, "")._fields()
        new = {key: value for key, value in self._fields().items() if value != was[key]}
        return (changed(self.front, new) if new else f"---\n{self.front}---\n") + self.body

    def _fields(self) -> dict[str, Any]:
        return {
            "title": self.title, "type": self.kind, "created": self.created,
            "updated": self.updated, "sources": list(self.sources), "summary": self.summary,
        }  # fmt: skip


def new_page(kind: Kind, name: str, title: str, summary: str, date: str) -> Page:
    title, summary = one_line(title), one_line(summary)
    return Page(name, kind, title, summary, date, date, body=f"\n# {title}\n")


def read_page(kind: Kind, name: str, text: str) -> Page:
    """Parse a page from its file's text."""
    if re.search(r"[\[\]|#^\n]", name):
        raise WikiError("no link can name it; rename the file, without [ ] | # ^")
    return _page(kind, name, *parts(text))


def _page(kind: Kind, name: str, front: str, body: str) -> Page:
    fields = read(front)
    title, said = fields.get("title"), fields.get("type")
    if not isinstance(title, str) or not title.strip():
        raise WikiError("the frontmatter has no title")
    if said not in KINDS:
        raise WikiError(f"the frontmatter's type is {said!r}; known: {', '.join(KINDS)}")
    if said != kind:
        raise WikiError(f"its type is {said}, and its folder that of {kind} pages")
    sources = fields.get("sources") or []
    if not isinstance(sources, list):
        raise WikiError("the frontmatter's sources are no list")
    return Page(
        name, kind, title, one_line(str(fields.get("summary") or "")),
        str(fields.get("created") or ""), str(fields.get("updated") or ""),
        tuple(_source_name(one) for one in sources), body,
        {key: value for key, value in fields.items() if key not in _OURS}, front,
    )  # fmt: skip


def _source_name(said: Any) -> str:
    # Without quotation marks [[x]] is a list in a list.
    return target_name(str(said).strip("[]'\"").partition("|")[0])


def _heading(said: str) -> str:
    """Return a heading as a reader sees it: ``Rules`` for ``## Rules ##``."""
    found = _HEADING.match(f"## {one_line(said)}")
    return found[1] if found else ""


class _Part(NamedTuple):
    heading: str
    # As it is written.
    line: str
    rest: str


def _parts(body: str) -> list[_Part]:
    """Return the headings and their texts, in order; the first heading may be empty."""
    starts = [*_HEADING.finditer(_blanked(body))]
    edges = [found.start() for found in starts] + [len(body)]
    sections = [_Part("", "", body[: edges[0]])] if edges[0] else []
    for found, end in zip(starts, edges[1:], strict=True):
        rest = body[found.end() : end].removeprefix("\n")
        line = f"{body[found.start() : found.end()]}\n"
        # From the text itself: code in a heading is blank above.
        heading = _HEADING.match(line)
        sections.append(_Part(one_line((heading or found)[1]), line, rest))
    return sections


def links(text: str) -> Iterator[str]:
    """Yield the targets of a text's wikilinks outside code, with repetitions."""
    if "[[" in text:
        for found in _LINK.finditer(_blanked(text)):
            yield target_name(found[2])


def target_name(target: str) -> str:
    """Return the file name that a link goes to, without folder and ``.md``."""
    return target.strip().removesuffix(".md").rpartition("/")[2].strip()


def _blanked(text: str) -> str:
    """Return a text with its code replaced by blanks of the same length."""
    if "`" not in text and "~~~" not in text:
        return text
    return _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def open_fence(text: str) -> str:
    """Return the fence of a code block that a text leaves open; empty if all are closed."""
    found = (one for one in _CODE.finditer(text) if one["open"] is not None)
    return next((one["fence"] for one in found), "")


def relinked(text: str, change: Mapping[str, str | None]) -> str:
    """Return a text whose links to some names lead elsewhere, or become plain text (None).

    Code is not changed. Headings, aliases and the sign of an embedding stay; plain text has the
    alias and the target.
    """
    pieces: list[str] = []
    at = 0
    for found in _LINK.finditer(_blanked(text)):
        name = target_name(found[2])
        if name in change:
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            bar = "\\|" if line.lstrip().startswith("|") else "|"
            pieces += [text[at : found.start()], _elsewhere(found, change[name], bar)]
            at = found.end()
    return "".join([*pieces, text[at:]])


def _elsewhere(found: re.Match[str], name: str | None, bar: str) -> str:
    embeds, target, rest = found.groups()
    heading, aliased, alias = rest.partition("|")
    said, alias = one_line(target + heading.removesuffix("\\")), one_line(alias)
    if name is None:
        return f"{alias} ({said})" if alias and alias != said else said
    # An embedding shows no name.
    return f"{embeds}[[{name}{rest}{'' if aliased or embeds else bar + said}]]"
