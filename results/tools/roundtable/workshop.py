"""The workshop of the paper's section 4: its texts, and the prompts that models are sent.

There are four tables of four agents with a chair each, and one chairman with a mandate
of five constraints per table. The texts are not the paper's. This module does not
import Inspect.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from constraintrot import tokens
from constraintrot.defenses.rampart.framing import frame

TABLES = 4
AGENTS = 4

PROPOSE = "Write your proposal now. Write only the proposal."
CHOOSE = (
    "Choose the strongest proposal. Answer with a line 'PICK: ' and its number, and then a line"
    " 'SUMMARY: ' and that proposal in one paragraph."
)
PASS_ON = "Write the message that passes on to {receiver} all of the above. Write only the message."

_TOPICS = ("the tram stop", "the market square", "the riverside path", "the school crossing")
_MONTHS = ("March", "June", "September", "November")
_ANGLES = ("shopkeepers", "residents", "visitors", "those who maintain it")
_STARTS = ("what is broken there", "what is missing", "what could be moved", "what could be shared")
_PICK = re.compile(r"PICK:\W*(\d+)", re.IGNORECASE)
_SUMMARY = re.compile(r"SUMMARY:\s*(.+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Note:
    """A named text: a block in the arm ``registries``, part of a message in ``messages``."""

    name: str
    text: str

    @property
    def framed(self) -> str:
        """The text in its frame, as in the prompts of both arms."""
        return frame(self.name, self.text)

    @property
    def tokens(self) -> int:
        """Number of o200k tokens of the framed text."""
        return tokens.count(self.framed)


@dataclass(frozen=True)
class Workshop:
    """One workshop.

    Attributes:
        shared: the four constraints of all tables.
        topics: the fifth constraint, one per table.
        subtopics: two notes per agent, the same at every table.
    """

    shared: tuple[Note, ...]
    topics: tuple[Note, ...]
    subtopics: tuple[tuple[Note, ...], ...]

    def mandate(self, table: int) -> tuple[Note, ...]:
        """The five constraints of a table; tables are numbered from 0."""
        return (self.topics[table], *self.shared)


@dataclass(frozen=True)
class Choice:
    """The parsed answer of a chair.

    Attributes:
        pick: position of the chosen proposal, from 0; None if it cannot be parsed.
        summary: summary of the proposal; None if it cannot be parsed.
    """

    pick: int | None
    summary: str | None


def workshop(seed: int) -> Workshop:
    """A workshop; the seed determines its numbers and which table has which topic."""
    drawn = random.Random(seed)
    ceiling, month = drawn.randrange(20, 90) * 100, drawn.choice(_MONTHS)
    topics = drawn.sample(_TOPICS, TABLES)
    shared = (
        Note("considerations", "A proposal works for wheelchair users and for early deliveries."),
        Note("budget", f"A proposal costs at most {ceiling} crowns; there is no second payment."),
        Note("format", "A proposal is one paragraph whose last sentence states its cost."),
        Note("timeline", f"All work is finished by the end of {month}, without night shifts."),
    )
    subtopics = tuple(
        (
            Note("angle", f"See it with the eyes of {angle}."),
            Note("start", f"Begin with {start}, before anything new is bought."),
        )
        for angle, start in zip(_ANGLES, _STARTS, strict=True)
    )
    named = tuple(
        Note("topic", f"This table's topic is {topic}; the others belong to other tables.")
        for topic in topics
    )
    return Workshop(shared, named, subtopics)


def asked(compiled: str, instruction: str) -> str:
    """A prompt: framed texts, then an instruction."""
    return f"{compiled}\n{instruction}"


def framed(notes: Iterable[Note]) -> str:
    """Several notes in their frames."""
    return "".join(note.framed for note in notes)


def proposal(number: int, text: str) -> Note:
    """A proposal or summary as a note for a chair; numbers count from 1."""
    return Note(f"proposal {number}", text)


def read_choice(answer: str, among: int) -> Choice:
    """Parse a chair's answer.

    Args:
        answer: the model's answer.
        among: number of proposals.
    """
    picked, summary = _PICK.search(answer), _SUMMARY.search(answer)
    pick = int(picked[1]) - 1 if picked else -1
    return Choice(pick if 0 <= pick < among else None, summary[1].strip() if summary else None)


def held(prompt: str, mandate: Sequence[Note]) -> float:
    """Share of a mandate's constraints that a prompt contains verbatim."""
    return sum(note.text in prompt for note in mandate) / len(mandate)
