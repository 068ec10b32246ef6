"""The standing constraints in a conversation's messages, and their places.

Two extractors of one shape, ``Extractor``: ``rules`` goes by words of force and scope, and
``by_reader`` asks a reader of rules. Both give whole sentences as they stand in a message, and
read operator and user turns only, unless told otherwise. ``python -m results.tools.extraction``
prints how well the words do.

By words, a sentence is a standing constraint when it forbids, demands or limits something, and
says so of a kind of thing or for whoever asks, rather than of this occasion. "The report must be
ready by Friday" has the first half only.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from constraintrot.errors import UnknownNameError
from constraintrot.rule_text.reader import Passage, Reader
from constraintrot.rule_text.standing_words import LANGUAGES, Cues, Locale
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

_CJK = re.compile("[\u3400-\u9fff]")
# Sentences taken along on each side of one that matches, at most.
REACH = 2
# A condition's sanction comes no further behind it, in characters.
_FAR = 400
# Longer messages are not remembered, in characters.
_SHORT = 10_000
_IFS = frozenset({"if", "si", "如果", "若", "一旦", "要是"})


@dataclass(frozen=True)
class Read:
    """One sentence to be judged.

    Attributes:
        unit: where it is in the message, and its folded text.
        cues: the languages that it may be written in; none for one never taken.
        headed: it is under a heading such as "Rules:".
    """

    unit: Unit
    cues: tuple[Cues, ...]
    headed: bool

    @property
    def standing(self) -> bool:
        """It is a standing constraint by itself."""
        return any(_standing(self.unit.plain, cues, self.headed) for cues in self.cues)

    @property
    def joins(self) -> bool:
        """It belongs to a constraint if it is next to one."""
        return any(_joins(self.unit.plain, cues) for cues in self.cues)

    @property
    def leans(self) -> bool:
        """It takes the sentence before it to be understood."""
        return any(_leans(self.unit.plain, cues) for cues in self.cues)


def rules(
    locales: Sequence[Locale] = ("en", "es", "zh"), sources: Sequence[Role] = TRUSTED
) -> Extractor:
    """An extractor by rule; the same messages always give the same constraints.

    Args:
        locales: languages whose cues are looked for.
        sources: roles whose messages are read. Tool results are left out by
            default: whoever writes one could have a rule pinned.

    Raises:
        UnknownNameError: a locale that there are no cues for.
    """
    for locale in locales:
        if locale not in LANGUAGES:
            raise UnknownNameError("locale of the extraction rules", locale, LANGUAGES)

    async def extract(messages: Sequence[Said]) -> tuple[Match, ...]:
        return tuple(
            Match(text, at)
            for at, message in enumerate(messages)
            if message.role in sources
            for text in _remembered(message.text, tuple(locales))
        )

    return extract


def by_reader(reader: Callable[[], Reader], sources: Sequence[Role] = TRUSTED) -> Extractor:
    """An extractor that asks a reader; what it finds is widened to whole sentences.

    Args:
        reader: makes the reader, when messages are to be read.
        sources: roles whose messages the reader is shown; no others ever are.
    """

    async def extract(messages: Sequence[Said]) -> tuple[Match, ...]:
        shown = [
            (at, one) for at, one in enumerate(messages) if one.role in sources and one.text.strip()
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


def _remembered(text: str, locales: tuple[Locale, ...]) -> tuple[str, ...]:
    return (_constraints if len(text) <= _SHORT else _constraints.__wrapped__)(text, locales)


# An agent's history is read anew at every step, and mostly it is the same.
@lru_cache(maxsize=4096)
def _constraints(text: str, locales: tuple[Locale, ...]) -> tuple[str, ...]:
    return tuple(constraints(text, locales))


def constraints(text: str, locales: Sequence[Locale] = ("en", "es", "zh")) -> Iterator[str]:
    """The constraints of one text: verbatim spans of whole sentences, in order."""
    for paragraph in _paragraphs(text, locales):
        standing = [at for at, read in enumerate(paragraph) if read.standing]
        for first, last in _runs(_taken(paragraph, standing)):
            yield text[paragraph[first].unit.start : paragraph[last].unit.end]


def _taken(paragraph: Sequence[Read], standing: Sequence[int]) -> list[int]:
    """Standing sentences, what they lean on, and neighbours of their kind."""
    taken = set(standing)
    for at in standing:
        if at and paragraph[at].leans:
            taken.add(at - 1)
        for step in (-1, 1):
            for other in range(at + step, at + step * (REACH + 1), step):
                if not 0 <= other < len(paragraph) or not paragraph[other].joins:
                    break
                taken.add(other)
    return sorted(taken)


def _runs(taken: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of adjacent numbers."""
    first = 0
    for at, number in enumerate(taken):
        if not at or taken[at - 1] != number - 1:
            first = number
        if at + 1 == len(taken) or taken[at + 1] != number + 1:
            yield first, number


def _paragraphs(text: str, locales: Sequence[Locale]) -> Iterator[list[Read]]:
    """Sentences by paragraph or line; the lines under a heading are in its scope."""
    held: list[Read] = []
    headed = heading = False
    for unit in units(text):
        if unit.opens and held:
            yield held
            held = []
        headed = heading or (headed and not unit.blank)
        read = Read(unit, _languages(unit.plain, locales), headed)
        heading = unit.opens and unit.plain.endswith(":") and read.joins
        held.append(read)
    if held:
        yield held


def _languages(plain: str, locales: Sequence[Locale]) -> tuple[Cues, ...]:
    # A question sets no rule, and what runs on like this is data.
    if len(plain) > LONGEST or plain.endswith("?"):
        return ()
    chinese = _CJK.search(plain) is not None
    return tuple(LANGUAGES[one] for one in locales if (one == "zh") == chinese)


def _standing(plain: str, cues: Cues, headed: bool) -> bool:
    """Force times scope: two of one weigh one of the other, and neither does alone."""
    plain = cues.idioms.sub(" ", plain)
    if cues.decisive.search(plain) or _punished(plain, cues):
        return not cues.once.search(plain)
    force = 2 if cues.force.search(plain) else 1 if cues.hint.search(plain) else 0
    if not force:
        return False
    scope = 2 if headed or cues.scope.search(plain) else 1 if cues.general.search(plain) else 0
    return bool(scope) and force + scope >= 3 and not cues.once.search(plain)


def _joins(plain: str, cues: Cues) -> bool:
    plain = cues.idioms.sub(" ", plain)
    signs = (cues.decisive, cues.force, cues.hint, cues.scope, cues.general, cues.sanction)
    return any(sign.search(plain) for sign in signs) and not cues.once.search(plain)


def _leans(plain: str, cues: Cues) -> bool:
    # "If that happens, the contract ends" punishes what the sentence before it forbids.
    return cues.back.search(plain) is not None or _punished(plain, cues) in _IFS


def _punished(plain: str, cues: Cues) -> str | None:
    """The condition before what a breach brings: "whoever does so is suspended"."""
    for match in cues.condition.finditer(plain):
        behind = plain[match.end() : match.end() + _FAR]
        # In "if the account is suspended, call them" the sanction is the condition.
        if match[0] in ("if", "si"):
            behind = behind.partition(",")[2]
        if cues.sanction.search(behind):
            return match[0]
    return None
