"""The rules of a session as a model finds them: in what the user, rules files and MCP servers said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from constraintrot.coding_agents.sessions.events import Losses, Message, Session
from constraintrot.doctor.documents import kind
from constraintrot.doctor.rules import Rule, folded, named
from constraintrot.rule_text.reader import Passage, Reader, Speaker

# Characters of a session that are sent, the first ones: rules are mostly said early.
LONGEST = 60_000


def passages(session: Session) -> Iterator[tuple[Message, Passage]]:
    """The messages that may set rules, as passages with their speakers."""
    left = LONGEST
    for event in session.events(Losses()):
        if left > 0 and isinstance(event, Message) and event.text and kind(event) == "rules":
            yield event, Passage(event.text[:left], _speaker(event))
            left -= len(event.text)


def by_judge(session: Session, reader: Reader) -> list[Rule]:
    """Return the rules of a session, each once, from one question to the reader."""
    told = list(passages(session))
    found: dict[str, Rule] = {}
    for (message, _), rules in zip(
        told, asyncio.run(reader.rules([passage for _, passage in told])), strict=True
    ):
        for one in rules:
            text = " ".join(one.clause.split())
            if one.probability >= 0.5 and folded(text) not in found:
                name = named(text, [rule.name for rule in found.values()])
                found[folded(text)] = Rule(
                    name, text, channel=message.channel, origin=message.origin, line=message.line,
                    time=message.time, session=session.name,
                )  # fmt: skip
    return [one for one in found.values() if one.about]


def _speaker(message: Message) -> Speaker:
    if message.channel in ("project file", "nested file"):
        return "project file"
    return "user" if message.channel == "user" else "tool"
