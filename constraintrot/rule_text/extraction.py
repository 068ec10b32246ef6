"""The standing constraints in a conversation's messages, and their places.

Two extractors of one shape, ``Extractor``: ``rules`` goes by words of force and scope, and
``by_reader`` asks a reader of rules. Both give whole sentences as they stand in a message, and
read operator and user turns only, unless told otherwise. ``python -m results.tools.extraction``
prints how well the words do.

By words, a sentence is a standing constraint when it forbids, demands or limits something, and
says so of a kind of thing or for whoever asks, rather than of this occasion. "The report must be
ready by Friday" has the first half only.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Literal, TypeAlias

from constraintrot.rule_text import cues
from constraintrot.rule_text.reader import Passage, Reader
from constraintrot.rule_text.units import LONGEST, Unit, units

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Said:
    """One message as the agent has it: who spoke, and the text."""

    role: Role
    text: str


@dataclass(frozen=True)
class Match:
    """A constraint that an extractor matched in a message.

    Attributes:
        text: whole, contiguous sentences of the message, verbatim.
        at: which message, counted from 0.
    """

    text: str
    at: int


Extractor: TypeAlias = Callable[[Sequence[Said]], Awaitable[tuple[Match, ...]]]

# Who may set a rule. What a tool gave back, or the agent wrote, may have been
# written by anybody: a rule pinned from there would be an injection that stays.
TRUSTED: tuple[Role, ...] = ("system", "user")

# Sentences taken along on each side of one that matches, at most.
REACH = 2
# A condition's sanction comes no further behind it, in characters.
_FAR = 400
_IFS = frozenset({"if", "si", "wenn", "falls", "如果", "若", "一旦", "要是"})


@dataclass(frozen=True)
class Read:
    """One sentence to be judged.

    Attributes:
        unit: where it is in the message, and its folded text.
        plain: its folded text; empty for a question, and for what runs on like data.
        headed: it is under a heading such as "Rules:".
    """

    unit: Unit
    plain: str
    headed: bool

    @cached_property
    def standing(self) -> bool:
        """It is a standing constraint by itself: force times scope.

        Two of one weigh one of the other, and neither does alone.
        """
        plain = cues.NO_FORCE.without(self.plain)
        if cues.ONCE.search(plain):
            return False
        if (cues.DECISIVE.search(plain) and not _permits(plain)) or _punished(plain):
            return True
        force = 2 if _binds(plain) else 1 if cues.HINT.search(plain) else 0
        general = self.headed or cues.SCOPE.search(plain)
        scope = 2 if general else 1 if cues.GENERAL.search(plain) else 0
        return bool(force and scope) and force + scope >= 3

    @property
    def joins(self) -> bool:
        """It belongs to a constraint if it is next to one."""
        plain = cues.NO_FORCE.without(self.plain)
        signs = (cues.DECISIVE, cues.HINT, cues.SCOPE, cues.GENERAL, cues.SANCTION)
        joins = _binds(plain) or any(sign.search(plain) for sign in signs)
        return joins and not cues.ONCE.search(plain)

    @property
    def leans(self) -> bool:
        """It takes the sentence before it to be understood."""
        # "If that happens, the contract ends" punishes what the sentence before it forbids.
        return cues.BACK.search(self.plain) is not None or _punished(self.plain) in _IFS


def rules(sources: Sequence[Role] = TRUSTED) -> Extractor:
    """An extractor by words; the same messages always give the same constraints.

    Args:
        sources: roles whose messages are read. Tool results are left out by
            default: whoever writes one could have a rule pinned.
    """

    async def extract(messages: Sequence[Said]) -> tuple[Match, ...]:
        return tuple(
            Match(text, at)
            for at, message in enumerate(messages)
            if message.role in sources
            for text in _constraints(message.text)
        )

    return extract


def by_reader(reader: Callable[[], Reader]) -> Extractor:
    """An extractor that asks a reader; what it finds is widened to whole sentences.

    The reader is made when messages are to be read. It is shown those of ``TRUSTED`` roles,
    and no others ever.
    """

    async def extract(messages: Sequence[Said]) -> tuple[Match, ...]:
        shown = [
            (at, one) for at, one in enumerate(messages) if one.role in TRUSTED and one.text.strip()
        ]
        if not shown:
            return ()
        found = await reader().rules([Passage(one.text, one.role) for _, one in shown])
        return tuple(
            Match(one.text[start:end], at)
            for (at, one), some in zip(shown, found, strict=True)
            for start, end in _whole(one.text, [(rule.start, rule.end) for rule in some])
        )

    return extract


def _whole(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The sentences of spans; a span within another is left out."""
    reached = -1
    widened: set[tuple[int, int]] = set()
    for first, last in spans:
        touched = [unit for unit in units(text) if unit.start < last and first < unit.end]
        if touched:
            widened.add((touched[0].start, touched[-1].end))
    for start, end in sorted(widened, key=lambda span: (span[0], -span[1])):
        if end > reached:
            yield start, end
            reached = end


# An agent's history is read anew at every step, and mostly it is the same.
@lru_cache(maxsize=512)
def _constraints(text: str) -> tuple[str, ...]:
    return tuple(constraints(text))


def constraints(text: str) -> Iterator[str]:
    """The constraints of one text: verbatim spans of whole sentences, in order."""
    for paragraph in paragraphs(text):
        # The places of a run less its own count are one number.
        runs = groupby(enumerate(belonging(paragraph)), key=lambda pair: pair[1] - pair[0])
        for _, run in runs:
            places = [at for _, at in run]
            yield text[paragraph[places[0]].unit.start : paragraph[places[-1]].unit.end]


def belonging(paragraph: Sequence[Read]) -> list[int]:
    """The places of standing sentences, what they lean on, and neighbours of their kind."""
    taken: set[int] = set()
    for at in (at for at, read in enumerate(paragraph) if read.standing):
        taken.add(at)
        if at and paragraph[at].leans:
            taken.add(at - 1)
        for step in (-1, 1):
            for other in range(at + step, at + step * (REACH + 1), step):
                if not 0 <= other < len(paragraph) or not paragraph[other].joins:
                    break
                taken.add(other)
    return sorted(taken)


def paragraphs(text: str) -> Iterator[list[Read]]:
    """Sentences by paragraph or line; the lines under a heading are in its scope."""
    held: list[Read] = []
    headed = heading = False
    for unit in units(text):
        if unit.opens and held:
            yield held
            held = []
        headed = heading or (headed and not unit.blank)
        data = len(unit.plain) > LONGEST or unit.plain.endswith("?")
        read = Read(unit, "" if data else unit.plain, headed)
        heading = unit.opens and unit.plain.endswith(":") and read.joins
        held.append(read)
    if held:
        yield held


def _binds(plain: str) -> bool:
    return bool(cues.BINDING.search(plain) or cues.OBLIGED.search(plain))


def _permits(plain: str) -> bool:
    """Return whether a sentence permits something for good: "you may push from now on"."""
    bare = cues.DECISIVE.without(plain).lstrip(" ,:")
    # What is permitted behind a demand leaves the demand: "from now on ask Anna; she can help".
    allowed = cues.PERMITTED.search(re.split("[,;:.]", bare)[0])
    return bool(allowed) and not (_binds(plain) or cues.HINT.search(plain))


def _punished(plain: str) -> str | None:
    """The condition before what a breach brings: "whoever does so is suspended"."""
    for match in cues.CONDITION.find(plain):
        behind = plain[match.end() : match.end() + _FAR]
        # In "if the account is suspended, call them" the sanction is the condition.
        if match[0] in ("if", "si"):
            behind = behind.partition(",")[2]
        if cues.SANCTION.search(behind):
            return match[0]
    return None
