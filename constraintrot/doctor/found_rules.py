"""Rules that a model finds in a session's messages, without a file that names them.

The reader ``judge`` sees the messages of the user, rules files and MCP servers. The local reader
misses most rules, and word lists have many false positives, so both are used: a rule is listed if
the local reader is sure of it, or if word lists find it and the local reader does not rule it out
(results/doctor.md).
"""

import asyncio
from collections.abc import Iterator, Sequence

from constraintrot.coding_agents.sessions.events import Losses, Message, Session
from constraintrot.doctor.documents import kind
from constraintrot.doctor.rules import Rule, folded, named
from constraintrot.doctor.verdicts import MOST_RULES, observe
from constraintrot.redaction import beginning
from constraintrot.rule_text.reader import FoundRule, Passage, Reader, ReaderName, Speaker

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
