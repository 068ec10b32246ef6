"""Messages of Google's form (``role``, ``parts``), as Gemini CLI and Qwen Code keep them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constraintrot.coding_agents.sessions.events import Channel, Message
from constraintrot.coding_agents.sessions.json_lines import at, call, plain, string
from constraintrot.coding_agents.sessions.tools import Calls, is_project_file, with_nested

# The first message of a history, which the agent writes: the folder, memory files, the date.
_OWN = ("This is the Gemini CLI", "This is the Qwen Code", "<session_context>", "<system-reminder>")
SNAPSHOT = "<state_snapshot>"


def texts(parts: object) -> str:
    """The text of parts; thoughts are left out."""
    if isinstance(parts, str):
        return parts
    listed = parts if isinstance(parts, list) else [parts]
    shown = [
        one if isinstance(one, str) else string(one, "text")
        for one in listed
        if at(one, "thought") is not True
    ]
    return "\n".join(text for text in shown if text)


def content(
    entry: object, number: int, time: str, key: str, calls: Calls, *, attached: bool = False
) -> Iterator[Message]:
    """The messages of one content entry: its text, its calls, its results.

    Args:
        entry: ``{"role": ..., "parts": [...]}``.
        number: line of the file.
        time: as written there.
        key: of the entry.
        calls: the calls that wait for results.
        attached: the agent put it there itself.
    """
    parts = at(entry, "parts")
    listed: Sequence[object] = parts if isinstance(parts, list) else [parts]
    model = at(entry, "role") in ("model", "assistant")
    made = []
    for part in listed:
        asked = at(part, "functionCall")
        if asked is not None:
            made.append(call(at(asked, "name"), at(asked, "args")))
            calls.made(at(asked, "id"), made[-1])
        given = at(part, "functionResponse")
        if given is not None:
            yield from with_nested(result(given, number, time, key, calls))
    text = texts(parts)
    if model and (text or made):
        yield Message("assistant", text, "agent", number, time, key=key, calls=tuple(made))
    elif text:
        yield Message(
            "user",
            text,
            channel_of(text),
            number,
            time,
            key=key,
            attached=attached or channel_of(text) != "user",
        )


def result(given: object, number: int, time: str, key: str, calls: Calls) -> Message:
    """The message of a ``functionResponse``."""
    channel, origin = calls.answered(at(given, "id"), string(given, "name"))
    if is_project_file(origin):
        channel = "nested file"
    return Message("tool", plain(at(given, "response")), channel, number, time, origin, key)


def channel_of(text: str) -> Channel:
    """The channel of a user entry, some of which the agent writes itself."""
    if SNAPSHOT in text:
        return "summary"
    return "system" if text.lstrip().startswith(_OWN) else "user"
