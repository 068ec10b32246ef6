"""The doctor on the sessions of ``sessions/``, which real agents wrote: right or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import Session
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.last_context import read as last_context
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.verdicts import diagnose
from constraintrot.harnesses.message_match import plain
from results.tools.doctor import sanitise, script
from results.tools.doctor.script import Script, Truth

FOLDER = Path(__file__).parent / "sessions"
AGENTS = ("claude", "codex", "opencode", "gemini", "pi")
# Stands in each project's instruction file, which the agents send with each request.
PROJECT_RULE = "Never commit straight to the main branch."
# pi has no MCP, so what the others get by it comes by a tool there.
_WITHOUT_MCP = frozenset(["pi"])


@dataclass(frozen=True)
class Driven:
    """A session that an agent wrote, and what is true of it.

    Attributes:
        made: its name, agent and truths; without steps.
        version: the agent's.
        rule_file: its name of the project's instruction file.
        project_rule: whether that file's rule was in the first request after each compaction.
        held: what the script said that the agent's last request holds.
        not_held: what it does not.
    """

    made: Script
    version: str
    rule_file: str
    project_rule: tuple[bool, ...]
    held: tuple[str, ...]
    not_held: tuple[str, ...]


def listed() -> list[Driven]:
    """All of them, by agent."""
    found = [_read(path) for path in FOLDER.glob("*.yaml")]
    return sorted(found, key=lambda one: (AGENTS.index(one.made.form), one.made.name))


def _read(path: Path) -> Driven:
    told: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    truths = tuple(
        Truth(**one | {"via": _via(told["agent"], one["via"]), "states": tuple(one["states"])})
        for one in told["truths"]
    )
    return Driven(
        Script(path.stem, told["agent"], told["half"], (), truths), told["version"],
        told["rule_file"], tuple(told["project_rule"]), tuple(told["in_context"]),
        tuple(told["out_of_context"]),
    )  # fmt: skip


def _via(agent: str, via: str) -> str:
    return "tool" if via == "mcp" and agent in _WITHOUT_MCP else via


def opened(one: Driven, scratch: Path) -> Session:
    """A session, as the doctor reads it."""
    path = FOLDER / f"{one.made.name}.jsonl"
    if not path.exists():
        path = sanitise.rebuilt(path.with_suffix(".sql"), scratch / f"{one.made.name}.db")
    (session,) = sessions(path)
    assert isinstance(session, Session), session
    return session


def diagnosed(one: Driven, session: Session) -> tuple[Diagnosis, Diagnosis]:
    """The doctor's two readings: with the rules named, and without."""
    rules = [_rule(told) for told in script.rules().values() if told["half"] == one.made.half]
    project = Rule("project", PROJECT_RULE, file=f"/srv/shop/{one.rule_file}")
    return diagnose(session, [*rules, project]), diagnose(session, None)


def _rule(told: dict[str, Any]) -> Rule:
    check = dict(told.get("check") or {})
    if "tool" in check:
        # They put the server's name before its tools' names, each in its own way.
        flags, pattern = ("(?i)", check["tool"].removeprefix("(?i)"))
        check["tool"] = f"{flags}(?:mcp_+|namespace:)?(?:office[_.]+)?(?:{pattern})"
    breach = Breach.read(check, told["id"]) if check else None
    return Rule(told["id"], told["text"], breach=breach, file="rules.yaml")


def context(one: Driven, session: Session) -> tuple[int, int, int]:
    """Texts in the context at the end: told rightly, told to be there, and that are there."""
    # What the agent said last was in none of its requests.
    texts = [plain(message.text) for message in list(last_context(session).held)[:-1]]
    there = [part for part in one.held if any(plain(part) in text for text in texts)]
    wrong = [part for part in one.not_held if any(plain(part) in text for text in texts)]
    return len(there), len(there) + len(wrong), len(one.held)


def project_rule(one: Driven, found: Diagnosis) -> Iterator[tuple[bool, bool]]:
    """For each compaction, whether the project's rule was sent, and what the doctor says."""
    (history,) = [each for each in found.histories if each.rule.name == "project"]
    for sent, made in zip(one.project_rule, found.compactions, strict=False):
        yield sent, made.changes[history.number].outcome == "sent by the agent"


def versions(every: Sequence[Driven]) -> dict[str, str]:
    """The version of each agent."""
    return {one.made.form: one.version for one in every}
