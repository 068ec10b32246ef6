"""Sessions of free prose whose author did not know the code: the doctor's verdicts against labels.

The sessions and labels are ``results/reading/sessions``: 24 invented sessions, written from the
definitions alone (``results/reading.md``). Those of even number are held out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constraintrot.coding_agents.sessions.events import (
    Call,
    Channel,
    Compaction,
    Event,
    Losses,
    Message,
    Session,
)
from constraintrot.coding_agents.sessions.tools import came_by
from constraintrot.doctor.rules import folded

FOLDER = Path(__file__).parents[2] / "reading" / "sessions"
# A found rule is the labelled one if it has so much of its words, or the other way round.
_SHARED = 0.6


@dataclass(frozen=True)
class Labelled:
    """A session with its labels.

    Attributes:
        name: of the file.
        lang: its language.
        session: as the doctor reads it; the line of an event is the turn's number.
        rules: the labels, as they stand in the file.
    """

    name: str
    lang: str
    session: Session
    rules: Sequence[dict[str, Any]]

    @property
    def held_out(self) -> bool:
        """Whether nothing was decided by it."""
        return int(self.name[1:]) % 2 == 0


def listed() -> list[Labelled]:
    """All sessions."""
    return [_labelled(path) for path in sorted(FOLDER.glob("*.json"))]


def _labelled(path: Path) -> Labelled:
    told = json.loads(path.read_text(encoding="utf-8"))
    turns = told["turns"]

    def events(losses: Losses) -> Iterator[Event]:
        made: list[Call] = []
        for number, turn in enumerate(turns):
            if turn["role"] == "compaction":
                new = Message("user", turn["text"], "summary", number, attached=True)
                yield Compaction(number, replacement=(new,), certainty="written")
                continue
            calls = tuple(Call(one["tool"], one["arguments"]) for one in turn.get("calls", ()))
            made = list(calls) or made
            yield _message(number, turn, calls, made)

    session = Session(path, path.stem, "free", "invented", path.stat().st_size, (), events)
    return Labelled(path.stem, told["lang"], session, told["rules"])


def _message(
    number: int, turn: dict[str, Any], calls: tuple[Call, ...], made: Sequence[Call]
) -> Message:
    channel: Channel = "user" if turn["role"] == "user" else "agent"
    origin = ""
    if turn["role"] == "tool":
        places = [came_by(one) for one in made]
        channel, origin = next((one for one in places if one[0] != "tool"), ("tool", ""))
    return Message(turn["role"], turn["text"], channel, number, origin=origin, calls=calls)


def same(found: str, clause: str) -> bool:
    """Return whether a rule that was found is the labelled one."""
    one, other = folded(found), folded(clause)
    if one in other or other in one:
        return True
    words, others = (set(re.findall(r"\w+|[\u3400-\u9fff]", text)) for text in (one, other))
    return len(words & others) >= _SHARED * min(len(words), len(others)) and len(words) > 2
