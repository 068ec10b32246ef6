"""Sessions of free prose whose author did not know the code: the doctor's verdicts against labels.

The sessions and labels are ``results/reading/sessions``: 24 invented sessions, written from the
definitions alone (``results/reading.md``). Those of even number are held out.
``python -m results.tools.doctor.free`` asks the local reader, and keeps its answers in
``free_local.json``, from which ``results/doctor.md`` is written.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
from constraintrot.doctor.reading import WordsFirst, find
from constraintrot.doctor.rules import Rule, folded
from constraintrot.doctor.states import conclude
from constraintrot.doctor.verdicts import observe
from constraintrot.rule_text import reader as reading
from constraintrot.rule_text.reader import FoundRule, Passage, Reader, Reading
from constraintrot.rule_text.words import WordsReader
from results.tools.doctor.counts import share

FOLDER = Path(__file__).parents[2] / "reading" / "sessions"
ANSWERS = Path(__file__).with_name("free_local.json")
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


class Recorded:
    """The local reader, whose answers are kept in a file beside this one.

    Args:
        reader: who is asked what the file does not hold; None to refuse.
    """

    def __init__(self, reader: Reader | None = None) -> None:
        self.name = "local"
        self._reader = reader
        kept = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.is_file() else {}
        # Answers of an earlier adapter do not count for this one.
        self.whose: str = reader.name if reader else kept["reader"]
        self.answers: dict[str, Any] = kept["answers"] if kept.get("reader") == self.whose else {}

    async def states(self, rules: Sequence[reading.Rule], texts: Sequence[str]) -> list[Reading]:
        """The state of each rule."""
        found: list[Reading] = []
        for rule in rules:
            key = _digest(rule.text, *texts)
            if key not in self.answers:
                (one,) = await self._asked().states([rule], texts)
                self.answers[key] = [one.state, round(one.bound, 4), one.quote]
            found.append(Reading(*self.answers[key]))
        return found

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        """The standing instructions of passages, the unlikely ones too."""
        found: list[list[FoundRule]] = []
        for passage in passages:
            key = _digest(passage.speaker, passage.text)
            if key not in self.answers:
                (some,) = await self._asked().rules([passage])
                self.answers[key] = [
                    [one.clause, one.start, one.end, round(one.probability, 4)] for one in some
                ]
            found.append([FoundRule(*one) for one in self.answers[key]])
        return found

    def _asked(self) -> Reader:
        if self._reader is None:
            raise RuntimeError(f"{ANSWERS} lacks an answer: run python -m {__spec__.name}")
        return self._reader

    def write(self) -> None:
        """Keep the answers, and whose they are."""
        kept = {"reader": self.whose, "answers": self.answers}
        ANSWERS.write_text(json.dumps(kept, ensure_ascii=False, indent=0) + "\n", "utf-8")


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@dataclass
class Counted:
    """The counts of one reader on some sessions.

    Attributes:
        sessions: how many.
        rules: labelled rules, of these found, rules listed, and of these labelled.
        lost: labelled lost, called so, and rightly; likewise ``kept`` and ``revoked``.
        untold: rules of which it said nothing, of all that were in the context.
        broken: labelled breaches, called so by a draft, and rightly.
    """

    sessions: int = 0
    rules: Counter[str] = field(default_factory=Counter[str])
    lost: Counter[str] = field(default_factory=Counter[str])
    kept: Counter[str] = field(default_factory=Counter[str])
    revoked: Counter[str] = field(default_factory=Counter[str])
    broken: Counter[str] = field(default_factory=Counter[str])
    untold: Counter[str] = field(default_factory=Counter[str])


def counted(some: Sequence[Labelled], reader: Reader, local: bool) -> Counted:
    """Count what a reader says of sessions: of rules that it finds, and of those that are labelled."""
    all_ = Counted(len(some))
    for one in some:
        texts = (
            [rule.text for rule in find(one.session, reader, "local")]
            if local
            else [history.rule.text for history in observe(one.session, None).histories]
        )
        clauses = [rule["clause"] for rule in one.rules]
        all_.rules.update(
            labelled=len(clauses), listed=len(texts),
            found=sum(any(same(text, clause) for text in texts) for clause in clauses),
            true=sum(any(same(text, clause) for clause in clauses) for text in texts),
        )  # fmt: skip
        if clauses:
            asyncio.run(_verdicts(one, reader, all_))
    return all_


async def _verdicts(one: Labelled, reader: Reader, all_: Counted) -> None:
    rules = [Rule(f"r{at}", told["clause"]) for at, told in enumerate(one.rules)]
    found = observe(one.session, rules)
    for history in found.histories:
        history.accept_draft()
    await conclude(found, reader)
    for history, told in zip(found.histories, one.rules, strict=True):
        outcome = found.compactions[-1].changes[history.number].outcome
        truth = told["after_compaction"]
        if truth in ("kept", "lost") and outcome != "not there":
            all_.lost.update(labelled=truth == "lost", said=outcome == "lost",
                             right=truth == outcome == "lost")  # fmt: skip
            kept = outcome == "survived"
            all_.kept.update(labelled=truth == "kept", said=kept, right=kept and truth == "kept")
            all_.untold.update(all=1, untold=outcome == "cannot be told")
        turn, its = told["revoked_turn"], history.revoked.line if history.revoked else None
        all_.revoked.update(labelled=turn is not None, said=its is not None,
                            right=turn is not None and turn == its)  # fmt: skip
        broken = {each.line for each in history.broken}
        all_.broken.update(labelled=len(told["broken_by"]), said=len(broken),
                           right=len(broken & set(told["broken_by"])))  # fmt: skip


def measured() -> Iterator[str]:
    """The table of the page."""
    yield "| reader | sessions | rules found | listed, of these rules | false a session | lost: precision | lost: recall | survived: precision | survived: recall | cannot be told | revoked: precision | revoked: recall | broken, by drafts |"
    yield "| --- |" + " --- |" * 12
    for name, reader, local in (
        ("words", WordsReader(), False),
        ("local", WordsFirst(Recorded()), True),
    ):
        for held_out in (False, True):
            some = [one for one in listed() if one.held_out == held_out]
            all_ = counted(some, reader, local)
            half = "held out" if held_out else "looked at"
            rules, wrong = all_.rules, all_.rules["listed"] - all_.rules["true"]
            yield (
                f"| {name} | {all_.sessions}, {half} | {share(rules['found'], rules['labelled'])} |"
                f" {share(rules['true'], rules['listed'])} | {wrong / all_.sessions:.2f} |"
                f" {_pair(all_.lost)} | {_pair(all_.kept)} |"
                f" {share(all_.untold['untold'], all_.untold['all'])} | {_pair(all_.revoked)} |"
                f" {all_.broken['right']} of {all_.broken['labelled']}, {all_.broken['said']} said |"
            )


def _pair(counts: Counter[str]) -> str:
    return (
        f"{share(counts['right'], counts['said'])} | {share(counts['right'], counts['labelled'])}"
    )


def record() -> None:
    from constraintrot.evaluation.readers import local

    recorded = Recorded(local(least=0.0))
    reader = WordsFirst(recorded)
    before, spent = len(recorded.answers), time.process_time()
    for one in listed():
        counted([one], reader, local=True)
        recorded.write()
        print(one.name, len(recorded.answers) - before, f"{time.process_time() - spent:.0f} CPU s")


if __name__ == "__main__":
    record()
