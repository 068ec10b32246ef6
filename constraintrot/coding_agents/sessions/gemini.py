"""Gemini CLI: ``~/.gemini/tmp/PROJECT/chats/session-*.jsonl``.

A compaction has no mark: a ``$set`` line replaces all messages, and one of the first new
messages holds a ``<state_snapshot>``. A resumed session writes the same line, so only a new
snapshot is a compaction. A reply is written again when its tools have answered.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from constraintrot.coding_agents.sessions.events import (
    Channel,
    Compaction,
    Event,
    Facts,
    Format,
    Kept,
    Losses,
    Message,
    Record,
)
from constraintrot.coding_agents.sessions.json_lines import at, items, plain, string
from constraintrot.coding_agents.sessions.tools import Calls, with_nested

# The first message of a history, which the agent writes: the folder, memory files, the date.
_HEAD = ("This is the Gemini CLI", "This is the Qwen Code", "<session_context>")
_OWN = (*_HEAD, "<system-reminder>", "<hook_context>", "Here is the user's editor context",
        "Here is a summary of changes in the user's editor context")  # fmt: skip
# The files and resources that a prompt names with an @ follow this line.
_REFERENCED = "--- Content from referenced files ---"
SNAPSHOT = "<state_snapshot>"


def texts(parts: object) -> str:
    """Return the text of parts, without thoughts."""
    if isinstance(parts, str):
        return parts
    listed = parts if isinstance(parts, list) else [parts]
    shown = [
        one if isinstance(one, str) else string(one, "text")
        for one in listed
        if at(one, "thought") is not True
    ]
    return "\n".join(text for text in shown if text)


def content(entry: object, number: int, time: str, key: str, calls: Calls) -> Iterator[Message]:
    """Yield the messages of a content entry: its text, calls and results."""
    parts = at(entry, "parts")
    listed: Sequence[object] = parts if isinstance(parts, list) else [parts]
    model = at(entry, "role") in ("model", "assistant")
    made, given, said = [], None, list[object]()
    for part in listed:
        asked = at(part, "functionCall")
        if asked is not None:
            made.append(calls.made(at(asked, "id"), at(asked, "name"), at(asked, "args")))
        answer = at(part, "functionResponse")
        if answer is not None:
            shown, name = plain(at(answer, "response")), string(answer, "name")
            given = calls.result(at(answer, "id"), shown, number, time, key, name)
            yield from with_nested(given)
        elif given is None or model:
            said.append(part)
        elif text := texts([part]):
            # A tool's further content, such as the files that it read.
            yield replace(given, text=text)
    text = texts(said)
    if model and (text or made):
        yield Message("assistant", text, "agent", number, time, key=key, calls=tuple(made))
    elif text:
        yield from _of_user(said, number, time, key)


def _of_user(parts: Iterable[object], number: int, time: str, key: str) -> Iterator[Message]:
    """Yield the parts of a user message: the typed text, and the agent's additions."""
    told = [text for part in parts if (text := texts([part]))]
    if told[0].lstrip().startswith(_HEAD):
        told = ["\n".join(told)]
    typed, files = list[str](), list[str]()
    for text in told:
        if files:
            files.append(text)
        elif (channel := channel_of(text)) != "user":
            loaded, text = _without_files(text) if channel == "system" else ([], text)
            for path, file in loaded:
                yield Message("user", file, "project file", number, time, path, f"{key}:{path}",
                              attached=True)  # fmt: skip
            yield Message("user", text, channel, number, time, key=key, attached=True)
        else:
            said, mark, named = text.partition(_REFERENCED)
            typed.append(said)
            files += [mark + named] if mark else []
    if said := "\n".join(typed).strip("\n"):
        yield Message("user", said, "user", number, time, key=key)
    if files:
        yield Message("user", "\n".join(files), "file", number, time, key=key)


def channel_of(text: str) -> Channel:
    """Return the channel of a user entry; the agent writes some of them itself."""
    if SNAPSHOT in text:
        return "summary"
    return "system" if text.lstrip().startswith(_OWN) else "user"


# The snapshot is among this many first messages of a compacted history.
_FIRST = 3
# The agent's account of the folder and the instruction files, at the head of each history.
_FOLDER = re.compile(r"Workspace Directories:\*\*\s*\n\s*- (\S.*)")
_LOADED = re.compile(r"--- Context from: ([^\n]{1,1000}) ---\n")
# Most files that a text opens without closing before the search in it stops.
_MOST_UNCLOSED = 100


def sniff(record: Record) -> bool:
    return (
        "projectHash" in record
        or "$set" in record
        or "$rewindTo" in record
        or (
            record.get("type") in ("user", "gemini")
            and "content" in record
            and "id" in record
            and "message" not in record
        )
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    """A sub-agent has its own file, in which the user's messages are the agent's requests."""
    aside = False

    def noted() -> Iterator[tuple[int, Record]]:
        nonlocal aside
        for number, record in lines:
            aside = aside or record.get("kind") == "subagent"
            yield number, record

    for event in _read(noted()):
        if aside and isinstance(event, Message) and event.channel == "user":
            event = replace(event, channel="agent")
        yield event


def _read(lines: Iterable[tuple[int, Record]]) -> Iterator[Event]:
    calls = Calls()
    snapshot = ""
    begun = False
    for number, record in lines:
        if "$set" in record:
            for one in _replaced(number, record, snapshot):
                new = one.replacement or ()
                snapshot = _snapshot(new) or snapshot
                yield from _folder(new)
                # A session resumed in a new file starts with its whole history.
                yield from [one] if begun or one.counted else new
                begun = begun or any(each.channel in ("user", "agent") for each in new)
        elif "$rewindTo" in record:
            # The message that is named leaves the context too.
            kept = Kept(before=string(record, "$rewindTo"))
            yield Compaction(number, kept=kept, counted=False)
        elif "projectHash" in record:
            yield Facts(string(record, "sessionId"), string(record, "cwd"))
            # The older form: one object for the whole session.
            for place, entry in enumerate(items(record, "messages"), 1):
                yield from _entry(place, entry, calls)
        else:
            begun = True
            yield from _entry(number, record, calls)


def _folder(new: Sequence[Message]) -> Iterator[Facts]:
    """Yield the agent's working folder, which only its own text states."""
    for one in new[:_FIRST]:
        if one.channel == "system" and (said := _FOLDER.search(one.text)):
            yield Facts(cwd=said[1].strip())


def _replaced(number: int, record: Record, before: str) -> Iterator[Compaction]:
    told = at(record, "$set", "messages")
    if not isinstance(told, list):
        return
    calls = Calls()
    new = tuple(one for entry in told for one in _entry(number, entry, calls))
    time = string(record, "timestamp") or string(at(record, "$set"), "lastUpdated")
    counted = _snapshot(new) not in ("", before)
    yield Compaction(number, time, replacement=new, certainty="written", counted=counted)


def _snapshot(new: Sequence[Message]) -> str:
    """Return the summary at the start of a history; empty if it has none."""
    return next((one.text for one in new[:_FIRST] if one.channel == "summary"), "")


def _entry(number: int, entry: object, calls: Calls) -> Iterator[Message]:
    time, key = string(entry, "timestamp"), string(entry, "id")
    if at(entry, "parts") is not None:
        yield from content(entry, number, time, key, calls)
    elif at(entry, "type") == "user":
        yield from content({"parts": at(entry, "content")}, number, time, key, calls)
    elif at(entry, "type") == "gemini":
        yield from _reply(number, entry, texts(at(entry, "content")), calls)


def _without_files(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the instruction files in a text (path, content), and the text without them."""
    files: list[tuple[str, str]] = []
    rest: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while len(unclosed) < _MOST_UNCLOSED and (begun := _LOADED.search(text, at)):
        path, closing = begun[1], f"\n--- End of Context from: {begun[1]} ---"
        end = -1 if path in unclosed else text.find(closing, begun.end())
        rest.append(text[at : begun.end() if end < 0 else begun.start()])
        if end < 0:
            unclosed.add(path)
            at = begun.end()
        else:
            files.append((path, text[begun.end() : end]))
            at = end + len(closing)
    return files, "".join([*rest, text[at:]])


def _reply(number: int, entry: object, text: str, calls: Calls) -> Iterator[Message]:
    time, key = string(entry, "timestamp"), string(entry, "id")
    asked = [one for one in items(entry, "toolCalls") if not calls.known(at(one, "id"))]
    made = tuple(calls.made(at(one, "id"), at(one, "name"), at(one, "args")) for one in asked)
    if text or made:
        yield Message("assistant", text, "agent", number, time, key=key, calls=made)
    for one, done in zip(asked, made, strict=True):
        if shown := plain(_results(at(one, "result"))):
            given = calls.result(at(one, "id"), shown, number, time, key, done.function)
            yield from with_nested(given)


def _results(result: object) -> object:
    listed = result if isinstance(result, list) else [result]
    return [at(one, "functionResponse", "response") or one for one in listed]


FORMAT = Format(
    name="gemini",
    title="Gemini CLI",
    sniff=sniff,
    read=read,
    places=("~/.gemini/tmp/*/chats/session-*.jsonl", "~/.gemini/tmp/*/chats/session-*.json"),
    project_files=("GEMINI.md",),
)
