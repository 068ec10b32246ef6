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
    """A tool call that the agent made."""

    function: str
    arguments: Mapping[str, Any]  # decoded; a text that is not a JSON object is under ``input``
    key: str = field(default="", compare=False)  # the vendor's identifier, or an empty text


@dataclass(frozen=True, slots=True)
class Message:
    """A message that the model was shown, or wrote."""

    role: Literal["system", "user", "assistant", "tool"]  # who spoke, as the model sees it
    text: str  # its text; thinking is left out
    channel: Channel  # how it reached the model
    # Line of the file, from 1; the row's number in a database, the message's number in a session
    # that is one JSON value.
    line: int
    time: str = ""  # as the file has it; empty if the file has no time
    origin: str = ""  # the file or the tool that it came from; empty if it came from neither
    key: str = ""  # the format's own identifier; empty if the format has none
    calls: tuple[Call, ...] = ()
    # Whether the agent added it itself, as it re-attaches files after a compaction.
    attached: bool = False
    answers: str = ""  # the key of the call whose result it is; empty for another message


@dataclass(frozen=True, slots=True)
class Kept:
    """The earlier messages that a compaction keeps, if the new context is not written out."""

    first: str = ""  # key of the first message kept
    last: str = ""  # key of the last message kept; empty if all from the first on are kept
    before: str = ""  # key of the message with which what is dropped begins; empty for none
    channels: frozenset[Channel] = frozenset()  # channels whose messages are all kept
    # Limit on the characters kept of these channels, the newest first.
    newest_characters: int | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """A replacement of the history by a shorter one."""

    line: int
    time: str = ""
    trigger: str = ""  # ``auto``, ``manual``, or empty
    # The whole new context; None if it has to be rebuilt.
    replacement: tuple[Message, ...] | None = None
    kept: Kept = Kept()  # how it is rebuilt; the attached messages that follow belong to it too
    certainty: Certainty = "rebuilt"
    counted: bool = True  # False for a history that was rewritten without a summary (a rewind)

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
    """Counts of the unreadable parts of a file, so that a loss is never silent."""

    broken: int = 0  # lines that are not records of the format
    too_long: int = 0  # lines above the length limit
    first: int = 0  # number of the first line of either kind
    unknown: int = 0  # records of a kind that the reader does not know
    notes: list[str] = field(default_factory=list[str])

    def line(self, number: int, *, too_long: bool = False) -> None:
        if too_long:
            self.too_long += 1
        else:
            self.broken += 1
        self.first = self.first or number


@dataclass(frozen=True)
class Format:
    """A format of lines of JSON."""

    name: str  # short, as in the report
    title: str
    sniff: Callable[[Record], bool]  # whether a record is of this format
    # Yields the events of the numbered records, and counts what it cannot read.
    read: Callable[[Iterable[tuple[int, Record]], Losses], Iterator[Event]]
    # Marks of unused records, which are dropped before they are parsed.
    skip: tuple[bytes, ...] = ()
    places: tuple[str, ...] = ()  # glob patterns of its session files
    # Instruction files that the agent sends with each request: they are in every context but not in
    # the session file.
    project_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """A session that can be read, any number of times."""

    path: Path  # the file, or the name of another source
    name: str  # the path, and the session's id if a file holds several
    format: str
    title: str
    size: int  # bytes of the file
    project_files: tuple[str, ...]  # instruction files that this agent sends with each request
    # Reads the session from its start, and counts what it cannot read.
    events: Callable[[Losses], Iterator[Event]]


@dataclass(frozen=True)
class Refused:
    """A file that is not a session or cannot be read, and the reason."""

    path: Path
    why: str
