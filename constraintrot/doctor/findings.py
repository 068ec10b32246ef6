"""The doctor's findings: sessions, their compactions, and the state of each rule."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from constraintrot.coding_agents.sessions.events import Certainty, Facts, Losses, Session
from constraintrot.doctor.closest import Closest
from constraintrot.doctor.context import Place
from constraintrot.doctor.rules import Rule
from constraintrot.rule_text.reader import Reading
from constraintrot.rule_text.survival.states import SurvivalState

Outcome: TypeAlias = Literal[
    "survived", "lost", "revoked by you", "sent by the agent", "not there", "cannot be told"
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

NOTHING = Closest()


@dataclass(frozen=True)
class Change:
    """The state of one rule at one compaction."""

    outcome: Outcome
    # Its state in the context before; None if it was not stated by then.
    before: SurvivalState | None
    after: SurvivalState | None  # its state in the context after
    came_by: Place | None = None  # the place that stated it before
    stands: Place | None = None  # the kept message that states it after, if one was kept
    # The passage of the new context nearest to it, if it did not survive.
    instead: Closest = NOTHING
    reading: Reading | None = None  # the reader's verdict on the new context, if it was asked


@dataclass
class Compacted:
    """One compaction."""

    number: int  # counted from 1
    line: int
    time: str
    trigger: str  # ``auto``, ``manual`` or empty
    certainty: Certainty  # how well the context after it is known
    changes: dict[int, Change] = field(default_factory=dict[int, Change])  # by number of the rule
    summary: str = ""  # the beginning of the new context's texts
    at: int = 0  # place in the session: the number of messages before it
    turns: int = 0  # the user's turns before it
    # The texts of the new context that were not in the old one, for the reader.
    new: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()  # all texts of the new context that are written out, up to a limit
    # By number of the rule, its best place in the old context.
    before: dict[int, Place] = field(default_factory=dict[int, Place])
    # By number of the rule, the kept message that holds it.
    kept: dict[int, Place] = field(default_factory=dict[int, Place])


@dataclass(frozen=True)
class Turn:
    """A turn of the user's."""

    at: int  # place in the session: the number of messages before it
    line: int
    text: str  # its text, up to a limit
    # Whether it has most of the rule's words, so that it may repeat or lift it.
    is_near: bool = False


@dataclass
class Broken:
    """A call that broke a rule."""

    line: int
    time: str
    call: str  # the tool
    why: str  # the part of its arguments that broke the rule
    knew: bool | None = None  # whether the rule was in the context then; None if unknown
    # ``predicate``, ``draft`` (a drafted predicate), or the judging model's name.
    by: str = "predicate"
    at: int = 0  # place in the session: the number of messages before it


@dataclass
class History:
    """A rule through a session."""

    rule: Rule
    number: int
    given: Place | None = None  # the place where it was first stated in force; None if it never was
    given_turn: int = 0  # the user's turns until then
    # Place and line of each later statement of it.
    stated: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    # Places of turns that may lift it or repeat it, and whether they surely repeat it.
    heard: list[tuple[int, bool]] = field(default_factory=list[tuple[int, bool]])
    # The user's later turns that share a word with it, which may lift it.
    later: list[Turn] = field(default_factory=list[Turn])
    revoked: Turn | None = None  # the turn that lifted or changed it; None if no turn did
    broken: list[Broken] = field(default_factory=list[Broken])
    turns: int = 0  # the user's turns from its statement to its first loss, or to the end
    # Number of the compaction of the first loss; None if it was never lost.
    lost_at: int | None = None
    lost_time: str = ""  # the time of that loss
    # Lines that state it again after that loss.
    said_again: list[int] = field(default_factory=list[int])
    sent_by_agent: bool = False  # whether it is in a file that the agent sends with each request
    # A breach drafted from its words; None if it has a breach or has no known form.
    draft: dict[str, Any] | None = None
    # The calls that break it by the draft.
    drafted: list[Broken] = field(default_factory=list[Broken])
    draft_accepted: bool = False  # whether the user confirmed the draft
    # Whether the user named the rule or confirmed it in the list of found rules.
    accepted: bool = False

    @property
    def unknowing(self) -> list[Broken]:
        """The calls that broke the rule while it was not in the context."""
        return [one for one in self.broken if one.knew is False]

    @property
    def judged(self) -> bool:
        return self.rule.breach is not None or self.draft_accepted or bool(self.broken)

    def accept_draft(self) -> None:
        """Confirm the draft, and count the calls that break the rule by it."""
        self.draft_accepted = True
        self.broken += self.drafted

    @property
    def seconds(self) -> float | None:
        """The time from the rule's first mention to its first loss, if both times are known."""
        if self.given is None or self.lost_at is None:
            return None
        try:
            begun = datetime.fromisoformat(self.given.message.time)
            return (datetime.fromisoformat(self.lost_time) - begun).total_seconds()
        except (ValueError, TypeError):
            return None


@dataclass
class Diagnosis:
    """One session."""

    session: Session
    facts: Facts = field(default_factory=Facts)
    compactions: list[Compacted] = field(default_factory=list[Compacted])
    histories: list[History] = field(default_factory=list[History])
    # Places of rewinds, and of the last message that each kept.
    rewinds: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    losses: Losses = field(default_factory=Losses)  # counts of the unreadable parts of the file
    messages: int = 0  # number of messages that were read
    calls: int = 0
    turns: int = 0
    error: str = ""  # why reading ended early; empty if it did not

    def is_undone(self, place: int, at: int | None = None) -> bool:
        """Return whether a rewind took back what was at a place, before the place ``at``."""
        return any(
            end < place < rewind and (at is None or rewind <= at) for rewind, end in self.rewinds
        )

    def newest(self, history: History, at: int) -> int | None:
        """Return the place of a rule's newest statement that stood at a place, if there is one."""
        given = [history.given.ordinal] if history.given else []
        places = (*given, *(one for one, _ in history.stated))
        return max(
            (one for one in places if one < at and not self.is_undone(one, at)), default=None
        )

    def changed(self) -> Iterator[tuple[Compacted, History, Change]]:
        """Yield the state of each rule at each compaction, in order."""
        histories = {history.number: history for history in self.histories}
        for one in self.compactions:
            for number, change in sorted(one.changes.items()):
                yield one, histories[number], change

    def lost(self) -> list[tuple[Compacted, History, Change]]:
        return [one for one in self.changed() if one[2].outcome == "lost"]

    def leave_out(self, dropped: Collection[int]) -> None:
        """Forget rules, named by the ``id`` of their histories."""
        gone = {history.number for history in self.histories if id(history) in dropped}
        for made in self.compactions:
            made.changes = {at: one for at, one in made.changes.items() if at not in gone}
        # Rules keep their numbers, by which changes refer to them.
        self.histories = [one for one in self.histories if one.number not in gone]
