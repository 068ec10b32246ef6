"""The log: one line per change and per logged question; lines are only ever added.

Each line ends in a digest of itself and the line before it, which reveals changed, removed and
inserted lines.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraintrot.memory.wiki.names import LOG, one_line
from constraintrot.memory.wiki.stores import Store

Operation: TypeAlias = Literal["init", "ingest", "repair", "query"]
HEAD: Final = "# Log\n\nWhat was done, oldest first. Lines are added and never changed.\n\n"
START: Final = "0" * 16
_BETWEEN: Final = " · "
_LINE: Final = re.compile(
    r"- (?P<time>[^·]+) · (?P<operation>init|ingest|repair|query) · (?P<about>[^·]*)"
    r" · (?P<pages>-|\[\[[^\[\]|]+\]\](?: \[\[[^\[\]|]+\]\])*) · sha256=(?P<sha256>[0-9a-f]*) · (?P<chain>[0-9a-f]{16})"
)
_NAME: Final = re.compile(r"\[\[([^\[\]|]+)\]\]")
_TAIL: Final = 16_384


@dataclass(frozen=True)
class Entry:
    """A line of the log."""

    time: str  # the time in UTC
    operation: Operation  # the kind of change, or a question
    about: str  # a source as ``[[name]]``, a question, or the repaired parts
    pages: tuple[str, ...] = ()  # names of the pages that were written, or read for a question
    sha256: str = ""  # digest of the source's file; empty except for an ingest
    chain: str = ""  # digest of this line and the one before it

    @property
    def changes(self) -> bool:
        """Return whether the entry is a change of the vault, and not a question."""
        return self.operation != "query"

    @property
    def source(self) -> str | None:
        found = _NAME.fullmatch(self.about)
        return found[1] if found and self.operation == "ingest" else None

    @property
    def line(self) -> str:
        # A question may hold the separator of the fields.
        about = one_line(self.about, 300).replace("·", "-") or "-"
        pages = " ".join(f"[[{name}]]" for name in self.pages) or "-"
        parts = (f"- {self.time}", self.operation, about, pages, f"sha256={self.sha256}")
        return _BETWEEN.join(parts)

    def chained(self, before: str) -> str:
        """Return the digest that ends this line if the line before it ends in ``before``."""
        data = f"{before}\n{self.line}".encode("utf-8", "replace")
        return hashlib.sha256(data).hexdigest()[: len(START)]


def read_line(line: str) -> Entry | None:
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    return Entry(
        found["time"], found["operation"],  # type: ignore[arg-type]
        found["about"], tuple(_NAME.findall(found["pages"])), found["sha256"], found["chain"],
    )  # fmt: skip


def lines(text: str) -> Iterator[str]:
    """Yield the lines of a log that are meant as entries, without one that a crash cut off."""
    *whole, last = text.split("\n")
    for line in whole:
        if line.startswith("- "):
            yield line
    # An editor may have taken its line end away.
    if read_line(last) is not None:
        yield last


def torn(text: str) -> bool:
    last = text.rpartition("\n")[2]
    return bool(last) and read_line(last) is None


def cut_torn(store: Store) -> None:
    """Remove a last line that a crash cut off. The caller holds the lock."""
    if torn(_last_part(store)):
        text = store.read(LOG) or ""
        store.write(LOG, text[: text.rfind("\n") + 1])


def entries(store: Store) -> list[Entry]:
    return _entries(store.read(LOG) or "")


def _entries(text: str) -> list[Entry]:
    return [one for one in map(read_line, lines(text)) if one is not None]


def has(store: Store, source: str) -> bool:
    return any(one.source == source for one in entries(store))


def latest(store: Store) -> Entry | None:
    return next(reversed(_entries(_last_part(store))), None)


def latest_change(store: Store) -> Entry | None:
    found = [one for one in _entries(_last_part(store)) if one.changes]
    # More questions since then than the tail holds, so the whole log is read.
    found = found or [one for one in entries(store) if one.changes]
    return found[-1] if found else None


def append(store: Store, entry: Entry) -> Entry:
    """Append an entry, and return it with its chain. The caller holds the lock."""
    cut_torn(store)
    before = latest(store)
    chain = entry.chained(before.chain if before else START)
    line = f"{entry.line}{_BETWEEN}{chain}"
    if store.exists(LOG):
        store.append(LOG, line)
    else:
        store.write(LOG, f"{HEAD}{line}\n")
    found = read_line(line)
    assert found is not None, "what is written is what is read"
    return found


def faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield malformed and out-of-order log entries, with their numbers from 1 and the reason."""
    before = START
    for number, line in enumerate(lines(text), start=1):
        entry = read_line(line)
        if entry is None:
            yield number, "is no entry"
            continue
        if entry.chained(before) != entry.chain:
            yield number, "is not as it was written, or a line before it is gone"
        before = entry.chain


def _last_part(store: Store) -> str:
    return store.tail(LOG, _TAIL)
