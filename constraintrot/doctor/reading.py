"""The doctor's reader: the rules that it finds in a session, its choice, its cost, and its progress.

Without a file of rules, the reader ``judge`` sees the messages of the user, rules files and MCP
servers. The local reader misses most rules, and word lists have many false positives, so both are
used: a rule is listed if the local reader is sure of it, or if word lists find it and the local
reader does not rule it out (results/doctor.md). ``local`` is the default if its weights and llama.cpp
are on the machine; it sends nothing away.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.coding_agents.sessions.events import Losses, Message, Session
from constraintrot.doctor.documents import kind
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.rules import Rule, folded, named
from constraintrot.doctor.states import characters, conclude
from constraintrot.doctor.verdicts import MOST_RULES, observe
from constraintrot.errors import ConstraintRotError, WeightsError
from constraintrot.extras import installed
from constraintrot.redaction import Masker, beginning
from constraintrot.rule_text.reader import (
    FoundRule,
    Passage,
    Reader,
    ReaderName,
    Reading,
    Speaker,
)
from constraintrot.rule_text.reader import Rule as ReadRule
from constraintrot.rule_text.words import WordsReader

# Least probability of a rule that word lists found too, of one by the local reader alone, and of
# one by a judge; chosen on the development half of results/doctor.md.
AGREED, ALONE, JUDGED = 0.2, 0.4, 0.5
# First characters of a session that a reader is shown: most rules are stated early.
_SHOWN = {"judge": 60_000, "local": 4_000}


def passages(session: Session, reader: ReaderName) -> list[tuple[Message, Passage]]:
    """Return the messages of a session that may set rules, up to the reader's limit."""
    left, found = _SHOWN.get(reader, 0), list[tuple[Message, Passage]]()
    for event in session.events(Losses()):
        if left > 0 and isinstance(event, Message) and event.text and kind(event) == "rules":
            found.append((event, Passage(beginning(event.text, left), _speaker(event))))
            left -= len(event.text)
    return found


def find(session: Session, reader: Reader, name: ReaderName) -> list[Rule]:
    """Return the rules of a session, each once, by the readers ``judge`` or ``local``."""
    told = passages(session, name)
    answers = asyncio.run(reader.rules([passage for _, passage in told]))
    pairs = list(zip([message for message, _ in told], answers, strict=True))
    found = [] if name == "judge" else list(_agreed(session, pairs))
    least = JUDGED if name == "judge" else ALONE
    for message, rules in pairs:
        for one in rules:
            text = " ".join(one.clause.split())
            if one.probability >= least and not any(_same(text, rule.text) for rule in found):
                found.append(
                    Rule(
                        named(text, [rule.name for rule in found]), text, channel=message.channel,
                        origin=message.origin, line=message.line, time=message.time,
                        session=session.name,
                    )
                )  # fmt: skip
    return [one for one in found if one.is_telling][:MOST_RULES]


def _agreed(
    session: Session, pairs: Sequence[tuple[Message, Sequence[FoundRule]]]
) -> Iterator[Rule]:
    """Yield the rules that word lists find, except those that the local reader rules out."""
    shown = {message.line for message, _ in pairs}
    likely = [one for _, rules in pairs for one in rules if one.probability >= AGREED]
    for history in observe(session, None).histories:
        rule = history.rule
        if rule.line not in shown or any(_same(rule.text, one.clause) for one in likely):
            yield rule


def _same(text: str, other: str) -> bool:
    one, two = folded(text), folded(other)
    return one in two or two in one


def _speaker(message: Message) -> Speaker:
    if message.channel in ("project file", "nested file"):
        return "project file"
    return "user" if message.channel == "user" else "tool"


if TYPE_CHECKING:
    from inspect_ai.model import Model

# Characters that the local model reads in a second on one core: `python -m results.tools.doctor.free`.
RATE = 230
# Characters read per character of a text: once whole, and its sentence in a question's form.
_PER_CHARACTER = 5
# Most seconds for which the local reader is used by default.
LONGEST = 600


@dataclass(frozen=True)
class Chosen:
    """The reader of a run."""

    kind: ReaderName  # ``words``, ``local`` or ``judge``
    reader: Reader
    why: str  # the reason for the choice, in words
    trust: str  # how far its answers can be trusted, in a sentence

    @property
    def line(self) -> str:
        return f"Read by {self.reader.name} ({self.why}). {self.trust}"


def choose(name: ReaderName | None, judge: Callable[[], Model] | None = None) -> Chosen:
    """Return the named reader, or without a name the default of this machine.

    ``judge`` makes the model of the reader ``judge``, if one was named.
    """
    missing = lacking() if name in (None, "local") else ""
    if name == "local" and missing:
        raise ConstraintRotError(f"--reader local: {missing}; or choose --reader words")
    if name == "judge":
        if judge is None:
            raise ConstraintRotError("--reader judge: name the model with --model")
        return _judge(judge())
    if name == "words" or missing:
        return Chosen("words", WordsReader(), missing or "as asked", _WORDS)
    return _local("as asked" if name else "its weights are on this machine")


def lacking() -> str:
    """Return why the local reader cannot be used here; empty if it can."""
    if not installed("xllamacpp") or not installed("inspect_ai"):
        return "llama.cpp is not installed: pip install 'constraintrot[local,eval]'"
    from constraintrot.models.in_process import weights
    from constraintrot.rule_text.rule_reader import adapter

    try:
        cached = weights.path(adapter.BASE)
    except WeightsError as error:
        return str(error)
    if cached is None:
        return f"its weights are not on this machine: constraintrot models pull {adapter.BASE}"
    return "" if adapter.is_installed() else "this installation has no adapter for it"


@dataclass(frozen=True)
class Cost:
    """The cost of a read."""

    questions: int  # number of questions, over all rules and texts
    characters: int  # number of characters that are read for them
    rules: int  # number of rules that are asked about
    compactions: int  # number of compactions whose new contexts are read
    seconds: float  # estimated duration with the local model on this machine


def finding_seconds(size: int) -> float:
    return size * _PER_CHARACTER / (RATE * _cores())


def _cores() -> int:
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)


def cost(found: Sequence[Diagnosis]) -> Cost:
    asked = [characters(one) for one in found]
    questions, size = sum(one for one, _ in asked), sum(size for _, size in asked)
    rules = sum(len(one.histories) for one in found if one.compactions)
    compactions = sum(len(one.compactions) for one in found)
    return Cost(questions, size, rules, compactions, size / (RATE * _cores()))


def read(found: Sequence[Diagnosis], chosen: Chosen, tell: Callable[[str], None]) -> None:
    """Fill in the verdicts of sessions.

    ``tell`` shows a line of progress, which the next one replaces.
    """
    whole = cost(found).characters
    begun, done = time.monotonic(), 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        left = (time.monotonic() - begun) * max(0, whole - done) / max(1, done)
        tell(f"{min(done, whole):,} of {whole:,} characters read, about {left:.0f} s left")

    async def each() -> None:
        for one in found:
            await conclude(one, chosen.reader, count, together=chosen.kind == "judge")

    asyncio.run(each())


_WORDS = (
    "Word lists decide only whether a rule's own words stand, and whether nothing of it does; all"
    " else cannot be told by them."
)


def _local(why: str) -> Chosen:
    from constraintrot.evaluation.readers import local
    from constraintrot.rule_text.rule_reader import adapter

    told = adapter.claim(adapter.reader_name()) or "how often it errs was not measured"
    trust = f"Its answers are likely, no proof: {told}; on sessions it misses a third of the rules (results/doctor.md)."
    return Chosen("local", WordsFirst(local(least=AGREED)), why, trust)


class WordsFirst:
    """The local reader, used only if word lists are undecided: they are surer, and cost nothing."""

    def __init__(self, reader: Reader) -> None:
        self.name, self._reader, self._words = reader.name, reader, WordsReader()

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        return await self._reader.rules(passages)

    async def states(self, rules: Sequence[ReadRule], texts: Sequence[str]) -> list[Reading]:
        found = await self._words.states(rules, texts)
        left = [at for at, one in enumerate(found) if one.state == "cannot tell"]
        asked = await self._reader.states([rules[at] for at in left], texts) if left else []
        for at, reading in zip(left, asked, strict=True):
            found[at] = reading
        return found


def _judge(model: Model) -> Chosen:
    from constraintrot.rule_text.judge_reader import JudgeReader

    trust = (
        "Its probabilities are the model's own word and were calibrated on nothing; what it is"
        " sent leaves this machine."
    )
    return Chosen("judge", JudgeReader(model, mask=Masker()), "as asked", trust)
