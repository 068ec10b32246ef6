"""The doctor's verdicts as scanners for Inspect Scout.

::

    scout scan constraintrot/rule_survival -T logs/ -S rules=rules.yaml

Scout finds them through this package's entry point for Inspect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from constraintrot.coding_agents.sessions.events import Event, Losses, Session
from constraintrot.coding_agents.sessions.inspect_messages import conversation
from constraintrot.coding_agents.sessions.scout import SERVICES
from constraintrot.doctor.context import Place
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.rules import Rule, read
from constraintrot.doctor.states import conclude
from constraintrot.doctor.verdicts import observe
from constraintrot.doctor.wording import STATE
from constraintrot.evaluation.readers import make
from constraintrot.redaction import Masker


@scanner(messages="all", events=["model", "compaction"])
def rule_survival(rules: str | None = None, reader: str | None = None) -> Scanner[Transcript]:
    """Scan for lost rules: one result per rule and compaction, with the outcome as its value.

    Args:
        rules: a rules file; by default the rules that were said in each transcript.
        reader: ``words``, ``local`` or ``judge``; by default ``judge`` if a model has that role,
            else ``words``.
    """
    return _scan(rules, reader, _survival)


@scanner(messages="all", events=["model", "compaction"])
def rule_broken(rules: str, reader: str | None = None) -> Scanner[Transcript]:
    """Scan for broken rules: one result per rule with a breach, with the count as its value.

    Args:
        rules: a rules.yaml in which rules have a ``breach``.
        reader: as in ``rule_survival``; it decides whether a rule was in the context.
    """
    return _scan(rules, reader, _broken)


def _scan(
    rules: str | None, reader: str | None, results: Callable[[Diagnosis], Iterator[Result]]
) -> Scanner[Transcript]:
    async def scan(transcript: Transcript) -> list[Result]:
        return list(results(await diagnosis(transcript, rules, reader)))

    return scan


async def diagnosis(
    transcript: Transcript, rules: str | None, reader: str | None = None
) -> Diagnosis:
    session = Session(
        Path(transcript.source_uri or "transcript"), transcript.transcript_id, "scout",
        transcript.source_type or "transcript", 0, (), partial(_events, transcript),
    )  # fmt: skip
    found = observe(session, None if rules is None else _read(rules))
    await conclude(found, make(reader, Masker()))
    return found


@cache
def _read(path: str) -> list[Rule]:
    return read(Path(path))


def _events(transcript: Transcript, losses: Losses) -> Iterator[Event]:
    yield from conversation(
        transcript.transcript_id, transcript.messages, transcript.events,
        by_input=transcript.source_type in SERVICES,
    )  # fmt: skip


def _survival(found: Diagnosis) -> Iterator[Result]:
    for made, history, change in found.changed():
        if change.outcome == "not there":
            continue
        after = change.after or "lost"
        yield Result(
            value=change.outcome,
            label=history.rule.name,
            # In a list of results Scout keeps the explanations but not the metadata.
            explanation=f"{history.rule.text}: {STATE[after]} after compaction"
            f" {made.number} ({made.certainty} context)",
            metadata={
                "compaction": made.number, "before": change.before, "after": change.after,
                "certainty": made.certainty,
            },
            references=[*_references(change.came_by), *_references(change.stands)],
        )  # fmt: skip


def _broken(found: Diagnosis) -> Iterator[Result]:
    for one in found.histories:
        if one.rule.breach is None:
            continue
        calls: list[dict[str, Any]] = [
            {"call": each.call, "why": each.why, "was_in_context": each.knew} for each in one.broken
        ]
        yield Result(
            value=len(calls), label=one.rule.name, explanation=one.rule.text,
            metadata={"calls": calls},
        )  # fmt: skip


def _references(place: Place | None) -> list[Reference]:
    if place is None or not place.message.key:
        return []
    return [Reference(type="message", id=place.message.key)]
