"""Small sessions of Claude Code, as lines of its files; invented."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import Session
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.states import conclude
from constraintrot.doctor.verdicts import diagnose, observe
from constraintrot.rule_text import reader
from constraintrot.rule_text.survival.states import SurvivalState

FORCE_PUSH = "Never force-push to the release branch."
SUMMARY = "The importer drops no row any more. The demo is on Thursday."


def line(kind: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "cwd": "/srv/shop", "sessionId": "s1",
        "version": "2.1", "type": kind, "uuid": f"u{number}",
        "timestamp": f"2026-10-05T14:{number:02}:00.000Z", **more,
    }  # fmt: skip


def user(number: int, text: str) -> dict[str, Any]:
    return line("user", number, message={"role": "user", "content": text})


def reply(number: int, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return line("assistant", number, message={"role": "assistant", "content": content})


def call(number: int, name: str, arguments: dict[str, Any], result: str) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
    given = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
    return [
        line("assistant", number, message={"role": "assistant", "content": [use]}),
        line("user", number, message={"role": "user", "content": [given]}),
    ]


def compacted(number: int, summary: str, **meta: Any) -> list[dict[str, Any]]:
    return [
        line(
            "system",
            number,
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", **meta},
        ),
        line("user", number, isCompactSummary=True, message={"role": "user", "content": summary}),
    ]


def write(path: Path, *records: dict[str, Any] | str) -> Path:
    """A file of lines; a text is written as it is."""
    told = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join(told) + "\n", encoding="utf-8")
    return path


def opened(path: Path) -> Session:
    (found,) = sessions(path)
    assert isinstance(found, Session), found
    return found


class Scripted:
    """A reader that answers by words of the text: each with a state and the probability of it.

    Attributes:
        asked: rules and texts of each question.
    """

    name = "scripted"

    def __init__(self, answers: Mapping[str, tuple[SurvivalState, float]]) -> None:
        self._answers = answers
        self.asked: list[tuple[list[str], list[str]]] = []

    async def rules(self, passages: Sequence[reader.Passage]) -> list[list[reader.FoundRule]]:
        return [[] for _ in passages]

    async def states(
        self, rules: Sequence[reader.Rule], texts: Sequence[str]
    ) -> list[reader.Reading]:
        """The answer of the first word that stands in the texts, for all rules."""
        self.asked.append(([one.text for one in rules], list(texts)))
        told = next(
            (answer for word, answer in self._answers.items() if word in "".join(texts)),
            ("lost", 0.02),
        )
        return [reader.Reading(told[0], told[1]) for _ in rules]


def read(
    path: Path, answers: Mapping[str, tuple[SurvivalState, float]], *rules: Rule, **more: Any
) -> Diagnosis:
    found = observe(opened(path), rules or None)
    asyncio.run(conclude(found, Scripted(answers), **more))
    return found


def diagnosed(path: Path, *rules: Rule) -> Diagnosis:
    return diagnose(opened(path), rules or None)


def lost_session(path: Path, *after: dict[str, Any]) -> Path:
    """A session whose one rule does not survive its compaction."""
    return write(
        path, user(1, FORCE_PUSH), reply(2, "Understood."), user(3, "Please look at the importer."),
        reply(4, "The last row was dropped."), *compacted(5, SUMMARY), *after,
    )  # fmt: skip
