"""The workshop of section 4: what is to be decided, and how a model is asked.

Four tables of four agents, a chair each, and one chairman with a mandate of five
constraints a table. The texts are ours. No Inspect here.
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
    """A named text: what is a block in one arm and part of a message in the other."""

    name: str
    text: str

    @property
    def framed(self) -> str:
        """As it stands in a prompt, in both arms."""
        return frame(self.name, self.text)

    @property
    def tokens(self) -> int:
        """Of its frame, in o200k tokens."""
        return tokens.count(self.framed)


@dataclass(frozen=True)
class Workshop:
    """One workshop.

    Attributes:
        shared: the constraints that all tables have.
        topics: the fifth one, by table.
        subtopics: two by agent, the same at every table.
    """

    shared: tuple[Note, ...]
    topics: tuple[Note, ...]
    subtopics: tuple[tuple[Note, ...], ...]

    def mandate(self, table: int) -> tuple[Note, ...]:
        """The five constraints of a table, from 0."""
        return (self.topics[table], *self.shared)


@dataclass(frozen=True)
class Choice:
    """What a chair wrote.

    Attributes:
        pick: position of the chosen proposal, from 0; None if unreadable.
        summary: None if unreadable.
    """

    pick: int | None
    summary: str | None


def workshop(seed: int) -> Workshop:
    """A workshop; the seed draws its numbers and who has which topic."""
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
    """A prompt: framed texts, then what to do with them."""
    return f"{compiled}\n{instruction}"


def framed(notes: Iterable[Note]) -> str:
    """Several notes as they stand in a prompt."""
    return "".join(note.framed for note in notes)


def proposal(number: int, text: str) -> Note:
    """A proposal or summary as a chair sees it; numbers count from 1."""
    return Note(f"proposal {number}", text)


def read_choice(answer: str, among: int) -> Choice:
    """A chair's answer, read strictly.

    Args:
        answer: what the model wrote.
        among: how many proposals there were.
    """
    picked, summary = _PICK.search(answer), _SUMMARY.search(answer)
    pick = int(picked[1]) - 1 if picked else -1
    return Choice(pick if 0 <= pick < among else None, summary[1].strip() if summary else None)


def held(prompt: str, mandate: Sequence[Note]) -> float:
    """Share of a mandate's constraints that stand verbatim in a prompt."""
    return sum(note.text in prompt for note in mandate) / len(mandate)
