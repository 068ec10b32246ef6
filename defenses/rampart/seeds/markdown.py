"""The markdown format of seed files (section 2.2).

A file that begins with YAML frontmatter whose
key ``blocks`` lists blocks has one section for each of them::

    ---
    blocks:
      - name: refunds
        priority: 80
        tags: [payments, tool]
      - name: tone
    ---
    Everything up to the first of these headings is a block named after the file.

    ## refunds
    Never refund more than 500 EUR without a second approval.

    ## tone
    Be brief.

A section starts at a line ``## NAME`` of a declared name, at the margin and outside fenced
code and HTML comments, and ends where the next starts. Other headings and ``---`` rules belong
to the text. ``priority`` is 0 to 100, and 50 if left out. A section's content is its text
verbatim, less blank lines at both ends. No other key is allowed, and each name has exactly one
section.

Every other file is one block, the whole file to the byte, named after its stem. If it has
frontmatter, as a SKILL.md does, ``name``, ``priority`` and ``tags`` there count if valid.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from constraintrot.defenses.rampart.block import name_key
from constraintrot.defenses.rampart.errors import SeedError
from constraintrot.defenses.rampart.seeds.frontmatter import NoFrontmatterError, Value, parse, span
from constraintrot.defenses.rampart.seeds.parsers import DEFAULT_PRIORITY, Seed

_KEYS: Final = frozenset({"name", "priority", "tags"})
_DECLARES: Final = re.compile(r"^blocks[ \t]*:", re.MULTILINE)
_RULE_THEN_BLOCKS: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*blocks[ \t]*:")
# Both begin with a newline, which lets the scan skip from line to line.
_HEADING: Final = re.compile(r"\n## +(?P<title>[^\n]*)")
_BLOCK_TAGS: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|"
    "header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_HEADING_OR_FENCE: Final = re.compile(
    r"\n(?:## +(?P<title>[^\n]*)| {0,3}(?:(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)"
    # HTML blocks, in which nothing is markdown (CommonMark 4.6, kinds 1 to 7).
    r"|(?P<html><(?:!--|\?|!\[CDATA\[|![a-z]|(?:script|pre|style|textarea)(?=[\s>])"
    rf"|/?(?:{_BLOCK_TAGS})(?=[\s/>])"
    r"|(?P<tag>/?[a-z][a-z0-9-]*(?:[ \t][^\n<>]*)?/?>[ \t\r]*(?=\n|\Z)))[^\n]*)))",
    re.IGNORECASE,
)
_HTML_ENDS: Final = tuple(
    (re.compile(begins, re.IGNORECASE), re.compile(ends, re.IGNORECASE))
    for begins, ends in (
        ("<!--", "-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        ("<!", ">"),
        ("<(?:script|pre|style|textarea)(?![a-z])", "</(?:script|pre|style|textarea)>"),
        ("<", r"\n[ \t\r]*(?=\n)"),
    )
)
# A comment that begins within a line and goes on after its end.
_INLINE: Final = re.compile(r"<!--(?:(?!-->)[^\n])*\n")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r]*\n)*")

_Span: TypeAlias = tuple[str, int, int]
"""A name, and where what it names starts and ends."""


def markdown(text: str, stem: str) -> list[Seed]:
    """Return the blocks of a markdown file."""
    fields, body = _read(text)
    if "blocks" not in fields:
        return [_whole(text, stem, fields)]
    declared = {name: (priority, tags) for name, priority, tags in _declared(fields)}
    return [
        Seed(name, text[start:end], *declared.get(name, (DEFAULT_PRIORITY, ())))
        for name, start, end in _sections(text, body, stem, frozenset(declared))
    ]


def _sections(text: str, body: int, stem: str, names: frozenset[str]) -> list[_Span]:
    """Return the spans of the contents, separated by headings and blank lines only."""
    # Text before the first section is a block too.
    name, at = stem, body
    spans: list[_Span] = []
    titles: list[str] = []
    for title, start, end in _headings(text, body, names):
        if titles or text[at:start].strip():
            spans.append(_trimmed(text, name, at, start))
        name, at = title, end
        titles.append(title)
    if missing := names.difference(titles):
        raise SeedError(
            f"no section for {_listed(missing)}: each block needs a line '## NAME' "
            "at the margin, outside fenced code and HTML comments"
        )
    spans.append(_trimmed(text, name, at, len(text)))
    _refuse_repeated([name for name, *_ in spans])
    return spans


def _read(text: str) -> tuple[dict[str, Value], int]:
    """Return the fields of the frontmatter, empty without one, and the start of the body."""
    where = span(text)
    if where is None:
        if _RULE_THEN_BLOCKS.match(text):
            raise SeedError("the frontmatter is not closed by a line '---'")
        return {}, 0
    head = text[where[0] : where[1]]
    try:
        return parse(head), where[2]
    except NoFrontmatterError as error:
        # A rule at the top of ordinary markdown is allowed, but not a misspelt list of blocks.
        if _DECLARES.search(head):
            raise SeedError(f"the frontmatter is not valid: {error}") from error
        return {}, 0


def _whole(text: str, stem: str, fields: dict[str, Value]) -> Seed:
    """Return a file as one block; its frontmatter is another program's, so all is optional."""
    seed = Seed(stem, text)
    name = fields.get("name")
    if isinstance(name, str):
        with contextlib.suppress(SeedError):
            seed = replace(seed, name=name)
    with contextlib.suppress(SeedError):
        seed = replace(seed, priority=_priority(fields))
    with contextlib.suppress(SeedError):
        seed = replace(seed, tags=_tags(fields))
    return seed


def _declared(fields: dict[str, Value]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    blocks = fields["blocks"]
    if extra := sorted(set(fields) - {"blocks"}):
        raise SeedError(f"unknown frontmatter key {_listed(extra)} beside blocks")
    if not isinstance(blocks, list) or not blocks:
        raise SeedError("blocks is a list of mappings, each with a name")
    _refuse_repeated([str(block.get("name")) for block in blocks if isinstance(block, dict)])
    for block in blocks:
        if not isinstance(block, dict) or not isinstance(block.get("name"), str):
            raise SeedError(f"an entry of blocks has no name: {str(block)[:80]}")
        name = str(block["name"])
        if not _KEYS.issuperset(block):
            raise SeedError(
                f"block {name!r}: unknown key {_listed(set(block) - _KEYS)}; "
                f"known: {_listed(_KEYS)}"
            )
        try:
            yield name, _priority(block), _tags(block)
        except SeedError as error:
            raise SeedError(f"block {name!r}: {error}") from error


def _priority(fields: dict[str, Value]) -> int:
    value = fields.get("priority", str(DEFAULT_PRIORITY))
    if not isinstance(value, str) or len(value) > 3 or not (value.isascii() and value.isdigit()):
        raise SeedError(f"priority is a whole number, 0 to 100; got {str(value)[:40]!r}")
    return int(value)


def _tags(fields: dict[str, Value]) -> tuple[str, ...]:
    value = fields.get("tags", [])
    if value in ("", "~", "null"):
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise SeedError(f"tags is a list of words; got {str(value)[:40]!r}")
    return tuple(str(tag) for tag in value)


def _headings(text: str, body: int, names: frozenset[str]) -> Iterator[_Span]:
    """Yield the lines of the declared headings outside fences and HTML."""
    marked = "```" in text or "~~~" in text or "<" in text
    pattern = _HEADING_OR_FENCE if marked else _HEADING
    mark, outside, unsure = "", body - 1, body - 1
    hidden = _hidden(text, body) if "<!--" in text else []
    # From the newline that ends the frontmatter, so that the first line counts too.
    for line in pattern.finditer(text, max(body - 1, 0)):
        title, at = line["title"], line.start() + 1
        if at <= outside or (title is not None and mark):
            continue
        if title is not None and (title := title.strip(" \t\r")) not in names:
            continue
        if title is None and not mark and line["tag"]:
            unsure = max(unsure, _html_end(text, line.start("html")))
            continue
        if at <= unsure and not mark:
            raise SeedError(
                f"after an HTML tag on a line of its own there is no blank line before"
                f" {text[at : at + 40].splitlines()[0]!r}; put one there"
            )
        if title is not None:
            _refuse_hidden(title, at, hidden)
            # The newline, if the file does not end without one.
            yield title, at, min(line.end() + 1, len(text))
        elif line["mark"] is not None:
            mark = _fence(mark, line["mark"], line["info"])
        elif not mark:
            outside = _html_end(text, line.start("html"))


def _html_end(text: str, start: int) -> int:
    """Return the end of an HTML block: the line that holds its end mark, or the end of the file."""
    ends = next(ends for begins, ends in _HTML_ENDS if begins.match(text, start))
    end = ends.search(text, start)
    # The newline that ends the line begins the next one.
    newline = text.find("\n", end.end()) if end else -1
    return newline if newline >= 0 else len(text)


def _hidden(text: str, body: int) -> list[tuple[int, int]]:
    """Return the spans of comments that begin within a line, read as HTML reads them."""
    spans: list[tuple[int, int]] = []
    at = body
    while opened := _INLINE.search(text, at):
        end = text.find("-->", opened.end())
        if end < 0:
            break
        spans.append((opened.start(), end))
        at = end
    return spans


def _refuse_hidden(title: str, at: int, hidden: Sequence[tuple[int, int]]) -> None:
    if any(start < at < end for start, end in hidden):
        raise SeedError(
            f"the section {title!r} may be inside an HTML comment that begins within a line;"
            " begin the comment at the margin, or end it before the section"
        )


def _fence(inside: str, mark: str, info: str) -> str:
    """Return the fence that is open after a line that starts with a mark (CommonMark 4.5)."""
    if inside:
        closes = mark[0] == inside[0] and len(mark) >= len(inside) and not info.strip(" \t\r")
        return "" if closes else inside
    return "" if mark[0] == "`" and "`" in info else mark


def _trimmed(text: str, name: str, start: int, end: int) -> _Span:
    """Return the span of a block's text without the blank lines at its ends."""
    kept = text[start:end].rstrip(" \t\r\n")
    if not kept.strip():
        raise SeedError(f"block {name!r} has no text")
    blank = _BLANK_LINES.match(kept)
    return name, start + (blank.end() if blank else 0), start + len(kept)


def _refuse_repeated(names: Sequence[str]) -> None:
    keys = [name_key(name) for name in names]
    if len(set(keys)) < len(keys):
        again = [name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1]
        raise SeedError(f"two blocks under one name: {_listed(again)}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(set(names)))
