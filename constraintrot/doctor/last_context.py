"""The context at the end of a session, as the agent's model would be shown it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from constraintrot.coding_agents.sessions.events import Compaction, Losses, Message, Session
from constraintrot.doctor.context import bounds, staying
from constraintrot.doctor.findings import Diagnosis

# Most characters of a context that a model is shown: the newest whole messages.
LONGEST = 60_000
# Characters held while a session is read: a compaction may keep old messages.
_HELD = 2_000_000
_MOST = 50_000


@dataclass(frozen=True)
class Shown:
    """The messages that a model is shown, and the number of characters left out."""

    texts: Sequence[tuple[str, str]]
    left_out: int


def shown(found: Diagnosis, mask: Callable[[str], str]) -> Shown:
    return read(found.session).shown(_sent(found), mask)


def read(session: Session) -> LastContext:
    context = LastContext()
    for event in session.events(Losses()):
        if isinstance(event, Message):
            context.add(event)
        elif isinstance(event, Compaction):
            context.compact(event)
    return context


def _sent(found: Diagnosis) -> list[str]:
    """Return texts for the instruction files that the agent sends but the session lacks."""
    files = dict.fromkeys(one.rule.file for one in found.histories if one.sent_by_agent)
    texts = (
        "\n".join(f"- {one.rule.text}" for one in found.histories if one.rule.file == file)
        for file in files
    )
    return [f"Rules of this project:\n{text}" for text in texts]


class LastContext:
    """The messages of a context, through its compactions; of too many the oldest are dropped."""

    def __init__(self) -> None:
        self.held: deque[Message] = deque()
        self.left_out = 0
        self._size = 0
        self._dropped = False

    def add(self, message: Message) -> None:
        """Add a message, even an empty one: a compaction may refer to its key."""
        self.left_out += max(0, len(message.text) - LONGEST)
        self.held.append(replace(message, text=message.text[:LONGEST]))
        self._size += len(self.held[-1].text)
        while (self._size > _HELD or len(self.held) > _MOST) and len(self.held) > 1:
            dropped = self.held.popleft()
            self._size -= len(dropped.text)
            self.left_out += len(dropped.text)
            self._dropped = True

    def compact(self, compaction: Compaction) -> None:
        """Replace the context, by the rules of ``constraintrot.doctor.context.Context``."""
        new = list(compaction.replacement or ())
        told = {one.text for one in new}
        kept = [
            one
            for one in self._kept(compaction)
            # A written-out context repeats the system messages or leaves them in force.
            if compaction.replacement is None or (one.role == "system" and one.text not in told)
        ]
        self.held.clear()
        self._size = self.left_out = 0
        self._dropped = False
        for message in [*kept, *new]:
            self.add(message)

    def _kept(self, compaction: Compaction) -> list[Message]:
        kept, held = compaction.kept, list(self.held)
        first, last, found = bounds(kept, [hash(one.key) for one in held])
        if kept.first and first is None and self._dropped:
            # It is older than all held messages.
            first = 0
        if not compaction.counted and not found:
            return held
        typed = [(number, len(one.text), one.channel) for number, one in enumerate(held)]
        stays = staying(kept, first, last, typed)
        return [one for number, one in enumerate(held) if stays(one, number)]

    def shown(self, before: Sequence[str], mask: Callable[[str], str]) -> Shown:
        """Return the ``before`` texts and the newest messages that fit, masked."""
        left, texts = LONGEST - sum(map(len, before)), deque[tuple[str, str]]()
        out = self.left_out
        for one in reversed([one for one in self.held if one.text]):
            left -= len(one.text)
            if left < 0 and texts:
                # Stop here: a context with gaps never existed.
                left = -self._size
                out += len(one.text)
            else:
                texts.appendleft((one.role, mask(one.text)))
        return Shown([*(("system", mask(text)) for text in before), *texts], out)
