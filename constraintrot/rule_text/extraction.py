"""The standing constraints in a conversation's messages, and their places.

There are two ``Extractor`` makers: ``rules`` uses words of force and scope, and ``by_reader`` asks
a reader of rules. Both give verbatim whole sentences of operator and user turns; only ``rules``
can read other roles. ``python -m results.tools.extraction`` prints the accuracy of the words.

By words, a sentence is a standing constraint if it forbids, demands or limits something (force),
for a kind of thing or whoever asks and not for one occasion (scope). "The report must be ready by
Friday" has force only.
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
    role: Role
    text: str


@dataclass(frozen=True)
class Match:
    """A constraint in a message: whole, contiguous sentences, verbatim; ``at`` is its index."""

    text: str
    at: int


Extractor: TypeAlias = Callable[[Sequence[Said]], Awaitable[tuple[Match, ...]]]

# Roles that may set a rule. Anybody may have written a tool's result or a text of the
# agent; a rule pinned from there would be a persistent injection.
TRUSTED: tuple[Role, ...] = ("system", "user")

# Most sentences that are added on each side of a match.
REACH = 2
# Largest distance of a sanction after its condition, in characters.
_FAR = 400
_IFS = frozenset({"if", "si", "wenn", "falls", "如果", "若", "一旦", "要是"})


@dataclass(frozen=True)
class Read:
    """One sentence to be judged.

    Attributes:
        plain: its folded text; empty for a question or for text too long for a sentence.
        headed: whether it is under a heading such as "Rules:".
    """

    unit: Unit
    plain: str
    headed: bool

    @cached_property
    def standing(self) -> bool:
        """Whether it is a standing constraint by itself.

        Force and scope are graded 0 to 2; neither may be 0, and they must add up to 3 or more.
        """
        plain = cues.NO_FORCE.without(self.plain)
        if cues.ONCE.search(plain) or cues.NOT_GIVEN.search(self.plain):
            return False
        if (cues.DECISIVE.search(plain) and not _permits(plain)) or _punished(plain):
            return True
        force = 2 if _binds(plain) else 1 if cues.HINT.search(plain) else 0
        general = self.headed or cues.SCOPE.search(plain)
        scope = 2 if general else 1 if cues.GENERAL.search(plain) else 0
        return bool(force and scope) and force + scope >= 3

    @property
    def joins(self) -> bool:
        """Whether it belongs to a constraint next to it."""
        plain = cues.NO_FORCE.without(self.plain)
        signs = (cues.DECISIVE, cues.HINT, cues.SCOPE, cues.GENERAL, cues.SANCTION)
        joins = _binds(plain) or any(sign.search(plain) for sign in signs)
        return joins and not cues.ONCE.search(plain)

    @property
    def leans(self) -> bool:
        """Whether it is understood only with the sentence before it."""
        # "If that happens, the contract ends" punishes what the sentence before it forbids.
        return cues.BACK.search(self.plain) is not None or _punished(self.plain) in _IFS


def rules(sources: Sequence[Role] = TRUSTED) -> Extractor:
    """Return an extractor by words; equal messages always give equal constraints."""

    async def extract(messages: Sequence[Said]) -> tuple[Match, ...]:
        return tuple(
            Match(text, at)
            for at, message in enumerate(messages)
            if message.role in sources
            for text in _constraints(message.text)
        )

    return extract


def by_reader(reader: Callable[[], Reader]) -> Extractor:
    """Return an extractor that asks a reader and widens the found clauses to whole sentences.

    The reader is made at each extraction, and is shown only messages of ``TRUSTED`` roles.
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
    """Yield the spans widened to whole sentences, without those inside another."""
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


# An agent's history is read at every step, and is mostly the same.
@lru_cache(maxsize=512)
def _constraints(text: str) -> tuple[str, ...]:
    return tuple(constraints(text))


def constraints(text: str) -> Iterator[str]:
    """Yield the constraints of one text: verbatim spans of whole sentences, in order."""
    for paragraph in paragraphs(text):
        # Adjacent places have the same difference from their index.
        runs = groupby(enumerate(belonging(paragraph)), key=lambda pair: pair[1] - pair[0])
        for _, run in runs:
            places = [at for _, at in run]
            yield text[paragraph[places[0]].unit.start : paragraph[places[-1]].unit.end]


def belonging(paragraph: Sequence[Read]) -> list[int]:
    """Return the places of standing sentences, of those they lean on, and of joining neighbours."""
    taken: set[int] = set()
    for at in (at for at, read in enumerate(paragraph) if read.standing):
        after = paragraph[at + 1].plain if at + 1 < len(paragraph) else ""
        if cues.LIFTED.search(after) and cues.ANAPHOR.search(after):
            continue
        taken.add(at)
        if cues.EXCEPTS.search(after):
            taken.add(at + 1)
        if at and paragraph[at].leans:
            taken.add(at - 1)
        for step in (-1, 1):
            for other in range(at + step, at + step * (REACH + 1), step):
                if not 0 <= other < len(paragraph) or not paragraph[other].joins:
                    break
                taken.add(other)
    return sorted(taken)


def paragraphs(text: str) -> Iterator[list[Read]]:
    """Yield sentences by paragraph or line; the lines under a heading are in its scope.

    Lines under a heading that ends what stands below it ("Old rules") are data.
    """
    held: list[Read] = []
    headed = heading = ended = False
    for unit in units(text):
        if unit.opens and held:
            yield held
            held = []
        headed = heading or (headed and not unit.blank)
        title = unit.opens and (text[unit.start] == "#" or unit.plain.endswith((":", "：")))
        ended = is_ended(unit.plain) if title else ended and not (unit.blank and headed)
        data = len(unit.plain) > LONGEST or unit.plain.endswith("?") or ended
        read = Read(unit, "" if data else unit.plain, headed)
        heading = unit.opens and unit.plain.endswith(":") and read.joins
        held.append(read)
    if held:
        yield held


def is_ended(heading: str) -> bool:
    """Return whether what stands under a heading, folded, is not in force."""
    return any(one.search(heading) for one in (cues.ENDED, cues.LIFTED))


def _binds(plain: str) -> bool:
    return bool(cues.BINDING.search(plain) or cues.OBLIGED.search(plain))


def _permits(plain: str) -> bool:
    """Return whether a sentence permits something for good: "you may push from now on"."""
    bare = cues.DECISIVE.without(plain).lstrip(" ,:")
    # A permission after a demand leaves the demand: "from now on ask Anna; she can help".
    allowed = cues.PERMITTED.search(re.split("[,;:.]", bare)[0])
    return bool(allowed) and not (_binds(plain) or cues.HINT.search(plain))


def _punished(plain: str) -> str | None:
    """Return the condition before a sanction, as in "whoever does so is suspended", or None."""
    for match in cues.CONDITION.find(plain):
        behind = plain[match.end() : match.end() + _FAR]
        # In "if the account is suspended, call them" the sanction is the condition.
        if match[0] in ("if", "si"):
            behind = behind.partition(",")[2]
        if cues.SANCTION.search(behind):
            return match[0]
    return None
