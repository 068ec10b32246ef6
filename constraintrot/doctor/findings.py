"""The doctor's findings: sessions, their compactions, and the state of each rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from constraintrot.coding_agents.sessions.events import Certainty, Facts, Losses, Session
from constraintrot.doctor.closest import Closest
from constraintrot.doctor.context import Place
from constraintrot.doctor.rules import Rule
from constraintrot.rule_text.survival.states import SurvivalState

Outcome: TypeAlias = Literal["survived", "lost", "sent by the agent", "not there", "cannot be told"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

NOTHING = Closest()


@dataclass(frozen=True)
class Change:
    """The state of one rule at one compaction.

    Attributes:
        outcome: the verdict.
        before: its state in the context before; None where nobody had said it.
        after: its state in the context after.
        came_by: where it stood before.
        stands: where it stands after.
        instead: what the new context says nearest to it, where it was lost.
    """

    outcome: Outcome
    before: SurvivalState | None
    after: SurvivalState | None
    came_by: Place | None = None
    stands: Place | None = None
    instead: Closest = NOTHING


@dataclass
class Compacted:
    """One compaction.

    Attributes:
        number: counted from 1.
        line: where in the session.
        time: as written there.
        trigger: ``auto``, ``manual`` or empty.
        certainty: how sure the context after it is.
        changes: by number of the rule.
        summary: the beginning of the texts that the new context consists of.
    """

    number: int
    line: int
    time: str
    trigger: str
    certainty: Certainty
    changes: dict[int, Change] = field(default_factory=dict[int, Change])
    summary: str = ""


@dataclass(frozen=True)
class Broken:
    """A call that broke a rule.

    Attributes:
        line: where in the session.
        time: as written there.
        call: the tool.
        why: what of its arguments broke it.
        knew: whether the rule stood in the context then.
        by: ``predicate``, or the judging model's name.
    """

    line: int
    time: str
    call: str
    why: str
    knew: bool
    by: str = "predicate"


@dataclass
class History:
    """A rule through a session.

    Attributes:
        rule: the rule.
        number: its number in the session.
        given: where it was first said in force; None where it never was.
        said_again: lines where it was said again after a loss.
        broken: calls that broke it.
        turns: the user's turns from where it was given to its first loss, or the end.
        lost_at: the compaction of the first loss; None where it was never lost.
        lost_time: the time of it.
    """

    rule: Rule
    number: int
    given: Place | None = None
    said_again: list[int] = field(default_factory=list[int])
    broken: list[Broken] = field(default_factory=list[Broken])
    turns: int = 0
    lost_at: int | None = None
    lost_time: str = ""
    sent_by_agent: bool = False

    @property
    def seconds(self) -> float | None:
        """The time from the rule's first mention to its first loss, if both times are known."""
        if self.given is None or self.lost_at is None:
            return None
        return _between(self.given.message.time, self.lost_time)


@dataclass
class Diagnosis:
    """One session.

    Attributes:
        session: which.
        facts: what it says of itself.
        compactions: in order.
        histories: of its rules.
        losses: what of the file could not be read.
        messages: how many were read.
        calls: how many tool calls.
        error: why reading ended early; empty if it did not.
    """

    session: Session
    facts: Facts = field(default_factory=Facts)
    compactions: list[Compacted] = field(default_factory=list[Compacted])
    histories: list[History] = field(default_factory=list[History])
    losses: Losses = field(default_factory=Losses)
    messages: int = 0
    calls: int = 0
    error: str = ""

    def changed(self) -> Iterator[tuple[Compacted, History, Change]]:
        """The state of each rule at each compaction, in order."""
        histories = {history.number: history for history in self.histories}
        for one in self.compactions:
            for number, change in sorted(one.changes.items()):
                yield one, histories[number], change

    def lost(self) -> list[tuple[Compacted, History, Change]]:
        """Each loss, in order."""
        return [one for one in self.changed() if one[2].outcome == "lost"]

    def leave_out(self, dropped: Collection[int]) -> None:
        """Forget rules, named by the ``id`` of their histories."""
        gone = {history.number for history in self.histories if id(history) in dropped}
        for made in self.compactions:
            made.changes = {at: one for at, one in made.changes.items() if at not in gone}
        # Numbers stay what they are, so that changes go on to name their rules.
        self.histories = [one for one in self.histories if one.number not in gone]


def _between(start: str, end: str) -> float | None:
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):
        return None
