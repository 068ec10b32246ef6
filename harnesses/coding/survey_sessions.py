"""Rows of the survey beside those of episodes: what a sub-agent is told, what a long session keeps.

Each is one conversation of ``many_rules``. What each of its requests held is kept in the
folder of the logs, and is read from there the next time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, TypeAlias

import anyio

from constraintrot import files
from constraintrot.errors import ConstraintRotError
from constraintrot.evaluation.play_settings import Network
from constraintrot.harnesses.coding import install, many_rules
from constraintrot.harnesses.coding.catalogue import Package
from constraintrot.harnesses.coding.survey import CHANNELS, Cell, Fate, fate, is_known
from constraintrot.tokens import count

Session: TypeAlias = Literal["sub-agent", "long"]
SESSIONS: tuple[Session, ...] = ("sub-agent", "long")
Requests: TypeAlias = Sequence[Mapping[str, Any]]


def survey_session(
    packages: Sequence[Package],
    log_dir: str,
    tell: Callable[[str], None],
    *,
    session: Session,
    network: Network = "none",
    known: Sequence[Cell] = (),
) -> list[Cell]:
    """Have the conversations of which no record is there, and nothing is known.

    Args:
        packages: the agents, which are installed.
        log_dir: where records go, and those of finished conversations are found.
        tell: is told of each cell as it is done.
        session: which conversation.
        network: as the task's parameter.
        known: cells of an earlier survey; they are not among what is returned.
    """
    cells: list[Cell] = []
    for package in packages:
        version = install.needed(package).version
        if _known(known, package.title, version, session):
            continue
        place = Path(log_dir) / f"{package.agent}-{version}-{session}.json"
        try:
            record = _record(package, place, session, network)
        except ConstraintRotError as error:
            record = {"run": _today(), "requests": [], "error": str(error)}
        head = (package.title, version)
        cells += _sub_agent(head, record) if session == "sub-agent" else [_long(head, record)]
    for cell in cells:
        tell(f"{cell.session}, {cell.channel}: {cell.told} {cell.evidence}{cell.error}")
    return cells


def _known(known: Sequence[Cell], title: str, version: str, session: Session) -> bool:
    if session == "sub-agent":
        return is_known(known, title, version, session, CHANNELS[0])
    return is_known(known, title, version, "auto", "user", 1, _long_tokens())


def _long_tokens() -> int:
    """The length of the long conversation."""
    return sum(count(turn.user) + count(turn.reply) for turn in many_rules.long().turns)


def _record(package: Package, place: Path, session: Session, network: Network) -> dict[str, Any]:
    if place.exists():
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return found
    agent = resolve_name(f"constraintrot.harnesses.coding.{package.agent}:AGENT")
    requests = anyio.run(many_rules.converse, agent, session, network)
    record = {"run": _today(), "requests": requests, "error": ""}
    place.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(record, indent=1).encode()
    files.replace(place, data, ConstraintRotError, mode=0o644)
    return record


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _sub_agent(head: tuple[str, str], record: Mapping[str, Any]) -> list[Cell]:
    """A cell for each who gave a rule to the agent: whether its sub-agent was told."""
    if record["requests"] is None:
        return [_cell(head, "sub-agent", who, "no sub-agents", record) for who in CHANNELS]
    if record["error"]:
        return [_cell(head, "sub-agent", who, "error", record) for who in CHANNELS]
    requests: Requests = record["requests"]
    after = next(one for one in requests if one["kind"] == "sub-agent")
    before = [one for one in requests if one["number"] < after["number"]]
    numbers = {"before": str(before[-1]["number"]), "after": str(after["number"])}
    cells: list[Cell] = []
    for who in CHANNELS:
        known = any(who in one["rules"] for one in before)
        told: Fate = "told" if who in after["rules"] else "not told" if known else "not given"
        cells.append(_cell(head, "sub-agent", who, told, record, **numbers))
    return cells


def _long(head: tuple[str, str], record: Mapping[str, Any]) -> Cell:
    """The cell of what the user said, in each turn of a long conversation."""
    size = _long_tokens()
    if record["error"]:
        return _cell(head, "auto", "user", "error", record, tokens=size)
    requests: Requests = record["requests"]
    summaries = [one for one in requests if one["kind"] == "summary"]
    agents = [one for one in requests if one["kind"] == "agent"]
    first, after = summaries[0]["number"], agents[-1]
    before = [one for one in agents if one["number"] < first]
    fates = {
        turn: fate(_of(turn, before), _of(turn, summaries), *_of(turn, [after]))
        for turn in many_rules.long().rules
    }
    kept = [turn for turn, how in fates.items() if how in ("verbatim", "re-attached")]
    whole = len(kept) == len(fates)
    return _cell(
        head, "auto", "user", fates[next(iter(fates))] if whole or not kept else "in part", record,
        detail="" if whole or not kept else f"turns {_spans(kept)} of {len(fates)}",
        before=str(before[-1]["number"]),
        summary=", #".join(str(one["number"]) for one in summaries),
        after=str(after["number"]),
        tokens=size,
    )  # fmt: skip


def _of(who: str, requests: Requests) -> list[dict[str, Any]]:
    return [{"policy_in": one["rules"].get(who, [])} for one in requests]


def _spans(turns: Sequence[str]) -> str:
    """The numbers of turns, those in a row as one span."""
    numbers = [int(turn.rpartition("_")[2]) for turn in turns]
    begins = [one for one in numbers if one - 1 not in numbers]
    ends = [one for one in numbers if one + 1 not in numbers]
    spans = zip(begins, ends, strict=True)
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans)


def _cell(
    head: tuple[str, str],
    mode: str,
    channel: str,
    fate: Fate,
    record: Mapping[str, Any],
    **given: Any,
) -> Cell:
    title, version = head
    return Cell(
        title, version, mode, channel, fate, run=record["run"], error=record["error"], **given
    )
