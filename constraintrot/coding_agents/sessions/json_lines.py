"""Lines of JSON, streamed: files of any size, and a broken line is counted and skipped."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

from pydantic_core import from_json

from constraintrot.coding_agents.sessions.events import Call, Losses, Record

# A line may hold a whole new context, so this is far above the largest one seen.
LONGEST_LINE = 64 * 1024 * 1024
# Vendors write the kind of a record near its start, or, in Claude Code, after a dozen ids.
_HEAD = 700


def records(
    stream: BinaryIO, losses: Losses, skip: Sequence[bytes] = ()
) -> Iterator[tuple[int, Record]]:
    """Yield the JSON objects of a file of lines, each with its line number.

    ``skip`` has marks, near the start of a line, of records to leave out.
    """
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and line[-1:] != b"\n":
            while (rest := stream.readline(LONGEST_LINE)) and rest[-1:] != b"\n":
                pass
            losses.line(number, too_long=True)
            continue
        if any(_top_level(line, mark) for mark in skip):
            continue
        record = parsed(line)
        if record is not None:
            yield number, record
        elif line.strip():
            losses.line(number)


def parsed(line: bytes) -> Record | None:
    """Return the JSON object in a line; None if the line is not one."""
    found = parsed_value(line)
    return cast(Record, found) if isinstance(found, dict) else None


def parsed_value(line: bytes) -> object:
    """Return the value of a JSON text; None if the text is not JSON or is nested too deeply."""
    line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        return from_json(line, cache_strings="keys")
    except ValueError:
        # The fast parser refuses lone surrogates and bad bytes; the standard one takes them.
        try:
            return json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None


def _top_level(line: bytes, mark: bytes) -> bool:
    """Return whether a mark stands near the start of a line, outside of nested objects."""
    found = line.find(mark, 0, _HEAD)
    return found > 0 and line.count(b"{", 0, found) - line.count(b"}", 0, found) == 1


def at(record: object, *path: str) -> Any:
    """Return the value at a path of keys; None if there is none."""
    for key in path:
        if not isinstance(record, Mapping):
            return None
        record = cast(Record, record).get(key)
    return record


def string(record: object, *path: str) -> str:
    """Return the text at a path; empty if there is none."""
    found = at(record, *path)
    return found if isinstance(found, str) else ""


def items(record: object, *path: str) -> Sequence[Any]:
    """Return the list at a path; empty if there is none."""
    found = at(record, *path)
    return found if isinstance(found, list) else ()


def plain(content: object, *, deep: int = 6) -> str:
    """Return the text of any vendor's content: a text, parts with ``text``, or nested parts."""
    if isinstance(content, str):
        return content
    if deep == 0:
        return ""
    if isinstance(content, list):
        parts = [plain(one, deep=deep - 1) for one in cast("list[object]", content)]
        return "\n".join(part for part in parts if part)
    if isinstance(content, Mapping):
        part = cast(Record, content)
        for key in ("text", "content", "output", "result", "stdout", "llmContent"):
            if key in part and (found := plain(part[key], deep=deep - 1)):
                return found
    return ""


def text_parts(content: object) -> str:
    """Return a content's text: the content itself, or its parts of type ``text``."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(string(part, "text") for part in parts if at(part, "type") == "text")


def call(function: object, arguments: object) -> Call:
    name = function if isinstance(function, str) else ""
    if isinstance(arguments, str):
        decoded = parsed(arguments.encode("utf-8", "replace"))
        return Call(name, decoded if decoded is not None else {"input": arguments})
    if isinstance(arguments, Mapping):
        return Call(name, cast(Record, arguments))
    return Call(name, {})


def cut_out(text: str, opening: str, closing: str) -> tuple[list[str], list[str]]:
    """Return what is between the marked parts of a text, and the parts without their marks.

    A part that is not closed is text.
    """
    kept, parts, at = [], [], 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(text[at:start])
        parts.append(text[start + len(opening) : end])
        at = end + len(closing)
    return [*kept, text[at:]], parts
