"""The findings as plain data, with secrets masked; every file is written from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from constraintrot.coding_agents.sessions.events import CERTAINTY, Refused
from constraintrot.doctor.closest import changes
from constraintrot.doctor.context import Place
from constraintrot.doctor.findings import Broken, Change, Compacted, Diagnosis, History
from constraintrot.doctor.wording import advice, became, clock, lived, source
from constraintrot.redaction import masked_texts

VERSION = 2
_LONGEST = 2_000


def data(
    found: Sequence[Diagnosis],
    refused: Sequence[Refused],
    mask: Callable[[str], str],
    read_by: Mapping[str, str] | None = None,
    seeds: str = "",
) -> dict[str, Any]:
    """The content of ``doctor.json``.

    Args:
        found: the sessions.
        refused: the files that are not sessions.
        mask: masks secrets; every text goes through it.
        read_by: the reader's ``name``, ``why`` it was chosen, and how far to ``trust`` it.
        seeds: the folder that lost rules are written to.
    """
    told = {
        "version": VERSION,
        "reader": dict(read_by or {"name": "words", "why": "", "trust": ""}),
        "sessions": [_session(one, mask, seeds) for one in found],
        "refused": [{"path": str(one.path), "why": one.why} for one in refused],
        "totals": totals(found),
        "probe": [],
    }
    shown: dict[str, Any] = masked_texts(told, mask)
    return shown


def totals(found: Sequence[Diagnosis]) -> dict[str, int]:
    """The number of each."""
    outcomes = [
        change.outcome
        for one in found
        for made in one.compactions
        for change in made.changes.values()
    ]
    broken = [each for one in found for history in one.histories for each in history.broken]
    return {
        "sessions": len(found),
        "compactions": sum(len(one.compactions) for one in found),
        "rules": len({history.rule.folded for one in found for history in one.histories}),
        "survived": outcomes.count("survived"),
        "lost": outcomes.count("lost"),
        "revoked_by_you": outcomes.count("revoked by you"),
        "sent_by_the_agent": outcomes.count("sent by the agent"),
        "cannot_be_told": outcomes.count("cannot be told"),
        "broken": len(broken),
        "broken_unknowing": sum(each.knew is False for each in broken),
        "not_judged": sum(not history.judged for one in found for history in one.histories),
        "broken_lines": sum(one.losses.broken + one.losses.too_long for one in found),
    }


def _session(one: Diagnosis, mask: Callable[[str], str], seeds: str) -> dict[str, Any]:
    return {
        "name": one.session.name,
        "agent": one.session.title,
        "session": one.facts.session,
        "cwd": one.facts.cwd,
        "agent_version": one.facts.version,
        "bytes": one.session.size,
        "messages": one.messages,
        "calls": one.calls,
        "rules": [_history(one, history, seeds) for history in one.histories],
        "compactions": [
            _compacted({each.number: each for each in one.histories}, made, mask)
            for made in one.compactions
        ],
        "unread": {
            "broken_lines": one.losses.broken,
            "too_long_lines": one.losses.too_long,
            "first_line": one.losses.first,
            "unknown_records": one.losses.unknown,
            "notes": list(dict.fromkeys(one.losses.notes)),
            "error": one.error,
        },
    }


def _history(one: Diagnosis, history: History, seeds: str) -> dict[str, Any]:
    given = history.given
    return {
        "name": history.rule.name,
        "text": history.rule.text,
        "clause": history.rule.clause,
        "from": history.rule.file or "said in the session",
        "came_by": source(history),
        "channel": given.message.channel if given else None,
        "line": given.message.line if given else None,
        "time": given.message.time if given else None,
        "sent_by_the_agent": history.sent_by_agent,
        "lost_at_compaction": history.lost_at,
        "lived": lived(history) if given else None,
        "turns": history.turns,
        "seconds": history.seconds,
        "said_again_at": history.said_again,
        "revoked_at": history.revoked.line if history.revoked else None,
        "revoked_by": history.revoked.text if history.revoked else "",
        "confirmed": history.accepted,
        "advice": advice(one, history, seeds) if history.lost_at is not None else "",
        "judged": history.judged,
        "breach_draft": history.draft,
        "broken": [_broken(each) for each in history.broken],
    }


def _broken(each: Broken) -> dict[str, Any]:
    return {
        "line": each.line, "time": each.time, "call": each.call, "why": each.why,
        "was_in_context": each.knew, "by": each.by,
    }  # fmt: skip


def _compacted(
    histories: Mapping[int, History], made: Compacted, mask: Callable[[str], str]
) -> dict[str, Any]:
    return {
        "number": made.number,
        "line": made.line,
        "time": made.time,
        "clock": clock(made.time),
        "trigger": made.trigger,
        "certainty": made.certainty,
        "how_sure": CERTAINTY[made.certainty],
        "rules": [
            _change(histories[number], change, mask)
            for number, change in sorted(made.changes.items())
        ],
        "new_context": made.summary,
    }


def _change(history: History, change: Change, mask: Callable[[str], str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": history.rule.name,
        "text": history.rule.text,
        "outcome": change.outcome,
        "before": change.before,
        "after": change.after,
        "in_words": became(change),
        "probability_in_force": change.reading.bound if change.reading else None,
        "stood": _place(change.came_by, mask),
        "stands": _place(change.stands, mask),
    }
    if change.outcome in ("lost", "cannot be told"):
        quote = change.reading.quote if change.reading else ""
        instead = quote or change.instead.text
        before = change.came_by.found.window if change.came_by else history.rule.text
        # Masked before they are cut and compared: of a secret in parts, no part looks like one.
        before, instead = mask(before)[:_LONGEST], mask(instead)[:_LONGEST]
        told["instead"] = instead
        told["diff"] = [list(one) for one in changes(before, instead)]
    return told


def _place(place: Place | None, mask: Callable[[str], str]) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "line": place.message.line,
        "time": place.message.time,
        "channel": place.message.channel,
        "origin": mask(place.message.origin)[:300],
        "text": mask(place.found.window)[:_LONGEST],
        "cue": place.found.cue,
    }
