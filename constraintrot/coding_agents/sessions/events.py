"""A session as it is read: messages, tool calls and compactions, in order; and its format."""

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
        arguments: decoded; a text that is no JSON object is under ``input``.
    """

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """Something that the model was shown, or said.

    Attributes:
        role: who spoke, as the model sees it.
        text: its text; thinking is left out.
        channel: how it came.
        line: where in the file, counted from 1; of a database the row's number, of a session
            that is one JSON value the message's.
        time: as written in the file; empty if there is none.
        origin: the tool, and the file that it read, where it came by one.
        key: the format's own identifier; empty if there is none.
        calls: the tool calls in it.
        attached: the agent put it there itself, as it re-attaches files after a compaction.
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


@dataclass(frozen=True, slots=True)
class Kept:
    """The earlier messages that a compaction keeps, if the new context is not written out.

    Attributes:
        first: key of the first message kept; it and all after it.
        last: key of the last one kept, or empty for all from the first on.
        channels: channels of which everything is kept.
        newest_characters: of these channels, no more than so many characters, the newest.
    """

    first: str = ""
    last: str = ""
    channels: frozenset[Channel] = frozenset()
    newest_characters: int | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """The history was replaced by a shorter one.

    Attributes:
        line: where in the file.
        time: as written in the file.
        trigger: ``auto``, ``manual``, or empty.
        replacement: the whole new context; None where it has to be rebuilt.
        kept: how it is rebuilt; the attached messages that follow belong to it too.
        certainty: how sure the context after it is.
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
        """The compaction; what stands in the user's name and he never said is the summary.

        Args:
            seen: hashes of what was said to the model before.
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
    """Facts that a session states about itself; a value that is not empty replaces an earlier one."""

    session: str = ""
    cwd: str = ""
    version: str = ""


Event: TypeAlias = Message | Compaction | Facts


@dataclass
class Losses:
    """Counts of the unreadable parts of a file, so that a loss is never silent.

    Attributes:
        broken: lines that are no record of the format.
        too_long: lines longer than is read.
        first: number of the first line of either kind.
        unknown: records of a kind that the reader does not know.
    """

    broken: int = 0
    too_long: int = 0
    first: int = 0
    unknown: int = 0
    notes: list[str] = field(default_factory=list[str])

    def line(self, number: int, *, too_long: bool = False) -> None:
        """Count a line."""
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
        read: the events of the numbered records; told what it cannot read.
        skip: marks of records that nobody reads, looked for before they are parsed.
        places: where its sessions lie, with ``*``.
        project_files: instruction files that the agent sends with each request, so that
            they are in every context though the session file does not hold them.
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
        path: the file, or what names the source.
        name: the path, with the session where a file holds several.
        format: name of the format.
        title: the agent.
        size: bytes of the file.
        project_files: instruction files that this agent sends with each request.
        events: opens it anew; counts what it cannot read.
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
    """A file that is no session, or cannot be read, and why."""

    path: Path
    why: str
