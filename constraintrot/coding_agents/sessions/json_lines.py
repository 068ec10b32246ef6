"""Lines of JSON, streamed: any size of file, and a broken line costs that line."""

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
    """The JSON objects of a file of lines, with the number of each line.

    Args:
        stream: opened for bytes.
        losses: counts what is no JSON object.
        skip: what marks, in the first bytes of a line, a record that nobody reads.
    """
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and line[-1:] != b"\n":
            _pass_over(stream)
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
    """A line's JSON object; None where it is none."""
    found = parsed_value(line)
    return cast(Record, found) if isinstance(found, dict) else None


def parsed_value(line: bytes) -> object:
    """Return the value of a JSON text; None if the text is not JSON or is nested too deeply."""
    try:
        return from_json(line, cache_strings="keys")
    except ValueError:
        # Lone surrogates and bad bytes are refused there; the standard parser takes them.
        try:
            return json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None


def _top_level(line: bytes, mark: bytes) -> bool:
    """Return whether a mark stands near the start of a line, outside of nested objects."""
    found = line.find(mark, 0, _HEAD)
    return found > 0 and line.count(b"{", 0, found) - line.count(b"}", 0, found) == 1


def _pass_over(stream: BinaryIO) -> None:
    while (rest := stream.readline(LONGEST_LINE)) and rest[-1:] != b"\n":
        pass


def at(record: object, *path: str) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in path:
        if not isinstance(record, Mapping):
            return None
        record = cast(Record, record).get(key)
    return record


def string(record: object, *path: str) -> str:
    """The text at a path; empty where there is none."""
    found = at(record, *path)
    return found if isinstance(found, str) else ""


def items(record: object, *path: str) -> Sequence[Any]:
    """The list at a path; empty where there is none."""
    found = at(record, *path)
    return found if isinstance(found, list) else ()


def plain(content: object, *, deep: int = 6) -> str:
    """The text of content in any vendor's form: a text, parts with ``text``, or nested ones."""
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
    """The text of content that is a text, or of its parts of type ``text`` alone."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(string(part, "text") for part in parts if at(part, "type") == "text")


def call(function: object, arguments: object) -> Call:
    """A tool call, its arguments decoded."""
    name = function if isinstance(function, str) else ""
    if isinstance(arguments, str):
        decoded = parsed(arguments.encode("utf-8", "replace"))
        return Call(name, decoded if decoded is not None else {"input": arguments})
    if isinstance(arguments, Mapping):
        return Call(name, cast(Record, arguments))
    return Call(name, {})
