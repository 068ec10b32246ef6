"""A session's events (messages, tool calls and compactions), and its format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

Record: TypeAlias = Mapping[str, Any]
"""A JSON object."""

Channel: TypeAlias = Literal[
    "user", "project file", "nested file", "file", "mcp", "tool", "system", "agent", "summary"
]
CHANNELS: tuple[Channel, ...] = get_args(Channel)

Certainty: TypeAlias = Literal["written", "rebuilt", "assumed", "opaque"]
CERTAINTY: Mapping[Certainty, str] = {
    "written": "the session file holds the whole new context",
    "rebuilt": "the summary and what was kept stand in the session file; the order is the agent's",
    "assumed": "the summary stands in the session file; what was kept beside it is known from"
    " trials of this agent, not from the file",
    "opaque": "the summary is encrypted, so that nobody but the provider can read it, or was left out"
    " of the file",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the agent made.

    Attributes:
        function: the tool's name.
        arguments: decoded; a text that is not a JSON object is under ``input``.
        key: the vendor's identifier, or an empty text.
    """

    function: str
    arguments: Mapping[str, Any]
    key: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Message:
    """A message that the model was shown, or wrote.

    Attributes:
        role: who spoke, as the model sees it.
        text: its text; thinking is left out.
        channel: how it reached the model.
        line: line of the file, from 1; the row's number in a database, the message's number in
            a session that is one JSON value.
        time: as written in the file; empty if there is none.
        origin: the file or the tool that it came from; empty if it came from neither.
        key: the format's own identifier; empty if there is none.
        calls: the tool calls in it.
        attached: whether the agent added it itself, as it re-attaches files after a compaction.
        answers: the key of the call whose result it is; empty for another message.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    channel: Channel
    line: int
    time: str = ""
    origin: str = ""
    key: str = ""
    calls: tuple[Call, ...] = ()
    attached: bool = False
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """The earlier messages that a compaction keeps, if the new context is not written out.

    Attributes:
        first: key of the first message kept.
        last: key of the last message kept; empty if all from the first on are kept.
        before: key of the message with which what is dropped begins; empty for none.
        channels: channels whose messages are all kept.
        newest_characters: limit on the characters kept of these channels, the newest first.
    """

    first: str = ""
    last: str = ""
    before: str = ""
    channels: frozenset[Channel] = frozenset()
    newest_characters: int | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """A replacement of the history by a shorter one.

    Attributes:
        line: where in the file.
        time: as written in the file.
        trigger: ``auto``, ``manual``, or empty.
        replacement: the whole new context; None if it has to be rebuilt.
        kept: how it is rebuilt; the attached messages that follow belong to it too.
        certainty: how well the new context is known.
        counted: False for a history that was rewritten without a summary (a rewind).
    """

    line: int
    time: str = ""
    trigger: str = ""
    replacement: tuple[Message, ...] | None = None
    kept: Kept = Kept()
    certainty: Certainty = "rebuilt"
    counted: bool = True

    def told_apart(self, seen: Collection[int]) -> Compaction:
        """Return the compaction with its new user messages marked as summaries.

        ``seen`` has hashes of the texts that the model was shown before.
        """
        new = self.replacement and tuple(
            replace(one, channel="summary")
            if one.channel == "user" and hash(one.text) not in seen
            else one
            for one in self.replacement
        )
        return replace(self, replacement=new)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that a session states about itself; non-empty values replace earlier ones."""

    session: str = ""
    cwd: str = ""
    version: str = ""


Event: TypeAlias = Message | Compaction | Facts


@dataclass
class Losses:
    """Counts of the unreadable parts of a file, so that a loss is never silent.

    Attributes:
        broken: lines that are not records of the format.
        too_long: lines above the length limit.
        first: number of the first line of either kind.
        unknown: records of a kind that the reader does not know.
    """

    broken: int = 0
    too_long: int = 0
    first: int = 0
    unknown: int = 0
    notes: list[str] = field(default_factory=list[str])

    def line(self, number: int, *, too_long: bool = False) -> None:
        if too_long:
            self.too_long += 1
        else:
            self.broken += 1
        self.first = self.first or number


@dataclass(frozen=True)
class Format:
    """A format of lines of JSON.

    Attributes:
        name: short, as in the report.
        title: the agent.
        sniff: whether a record is of this format.
        read: yields the events of the numbered records, and counts what it cannot read.
        skip: marks of unused records, which are dropped before they are parsed.
        places: glob patterns of its session files.
        project_files: instruction files that the agent sends with each request: they are in
            every context but not in the session file.
    """

    name: str
    title: str
    sniff: Callable[[Record], bool]
    read: Callable[[Iterable[tuple[int, Record]], Losses], Iterator[Event]]
    skip: tuple[bytes, ...] = ()
    places: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """A session that can be read, any number of times.

    Attributes:
        path: the file, or the name of another source.
        name: the path, and the session's id if a file holds several.
        format: name of the format.
        title: the agent.
        size: bytes of the file.
        project_files: instruction files that this agent sends with each request.
        events: reads the session from its start, and counts what it cannot read.
    """

    path: Path
    name: str
    format: str
    title: str
    size: int
    project_files: tuple[str, ...]
    events: Callable[[Losses], Iterator[Event]]


@dataclass(frozen=True)
class Refused:
    """A file that is not a session or cannot be read, and the reason."""

    path: Path
    why: str
