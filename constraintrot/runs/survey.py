"""The survey of coding agents: the parts of a policy that their compaction keeps, cell by cell.

A cell is one episode of ``soft_email`` with a scripted model and a scripted summarizer that
leaves every policy out, so any remaining part was kept by the agent itself. There are also two
conversations of ``many_rules``: they show the rules that a sub-agent gets, and those that a long
session keeps.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
from inspect_ai.log import EvalLog

from constraintrot import files
from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import Package, instead
from constraintrot.coding_agents.drivers import DRIVERS
from constraintrot.errors import ConstraintRotError
from constraintrot.evaluation.play_settings import Network
from constraintrot.harnesses.coding import many_rules
from constraintrot.runs import play
from constraintrot.runs.play import Finished
from constraintrot.runs.survey_matrix import (
    CHANNELS,
    HEADINGS,
    PIN,
    TOKENS,
    Cell,
    Change,
    Fate,
    changes,
    fate,
    is_known,
)
from constraintrot.tasks.catalogue import soft_email
from constraintrot.tokens import count

MODEL = "scripted/obedient"
_CELL = "constraintrot_agents_survey"
Session: TypeAlias = Literal["sub-agent", "long"]
SESSIONS: tuple[Session, ...] = ("sub-agent", "long")
Requests: TypeAlias = Sequence[Mapping[str, Any]]


def check(package: Package, network: Network) -> str | None:
    """Return why an installed agent does not play one variant's control and compaction; None if it does."""
    task = soft_email(
        harness=f"coding/{package.agent}", conditions="control,compaction",
        variants=1, context_tokens=300, network=network,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        log = play.once(task, model=MODEL, log_dir=folder)
        # While the folder exists: Inspect reads the samples lazily.
        errors = [sample.error.message for sample in log.samples or [] if sample.error]
    if log.error is not None:
        errors.append(log.error.message)
    return errors[0] if errors else None


def survey(
    packages: Sequence[Package],
    log_dir: str,
    tell: Callable[[str], None],
    *,
    mode: str = "auto",
    channels: Sequence[str] = CHANNELS,
    network: Network = "none",
    rounds: int = 1,
    tokens: int = TOKENS,
    known: Sequence[Cell] = (),
) -> list[Cell]:
    """Play the cells that have no finished log and are not known, and return all cells not known.

    The folder also has the logs of finished cells. ``rounds`` is the number of compactions,
    ``tokens`` the length of the history before each; ``known`` are the cells of an earlier survey.
    """
    logs = Finished(log_dir, _CELL)
    cells: list[Cell] = []
    for package in packages:
        version = install.needed(package).version
        for channel in channels:
            if is_known(known, package.title, version, mode, channel, rounds, tokens):
                continue
            task = partial(
                soft_email, harness=f"coding/{package.agent}:{mode}", channel=channel,
                conditions="compaction", variants=1, context_tokens=tokens, rounds=rounds,
                network=network,
            )  # fmt: skip
            key = repr([package.agent, version, mode, channel, rounds, tokens])
            log = logs.played(key, task, model=MODEL)
            cell = replace(
                read(package, version, mode, channel, log), compactions=rounds, tokens=tokens
            )
            tell(f"{package.title}, {HEADINGS[channel]}: {cell.fate} {cell.evidence}{cell.error}")
            cells.append(cell)
    return cells


def survey_session(
    packages: Sequence[Package],
    log_dir: str,
    tell: Callable[[str], None],
    *,
    session: Session,
    network: Network = "none",
    known: Sequence[Cell] = (),
) -> list[Cell]:
    """Hold the conversations without a record or a known cell, and return their cells.

    Other arguments are as in ``survey``.
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


def read(package: Package, version: str, mode: str, channel: str, log: EvalLog) -> Cell:
    head = (package.title, version, mode, channel)
    day = log.eval.created[:10]
    sample = log.samples[0] if log.samples else None
    if sample is None or sample.error is not None:
        problem = sample.error.message if sample and sample.error else str(log.error)
        return Cell(*head, "error", run=day, error=problem)
    requests = sample.metadata["agent_requests"]
    summaries = [one for one in requests if one["kind"] == "summary"]
    agents = [one for one in requests if one["kind"] == "agent"]
    first = summaries[0]["number"]
    before = [one for one in agents if one["number"] < first]
    after = next(
        one for one in agents if one["turn"] == requests[-1]["turn"] and one["number"] > first
    )
    violation = (sample.scores or {})["violation"].value
    return Cell(
        *head,
        fate(before, summaries, after),
        before=str(before[-1]["number"]),
        summary=", #".join(str(one["number"]) for one in summaries),
        after=str(after["number"]),
        violation=str(violation),
        run=day,
    )


def _known(known: Sequence[Cell], title: str, version: str, session: Session) -> bool:
    if session == "sub-agent":
        return is_known(known, title, version, session, CHANNELS[0])
    return is_known(known, title, version, "auto", "user", 1, _long_tokens())


def _long_tokens() -> int:
    return sum(count(turn.user) + count(turn.reply) for turn in many_rules.long().turns)


def _record(package: Package, place: Path, session: Session, network: Network) -> dict[str, Any]:
    if place.exists():
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return found
    requests = anyio.run(many_rules.converse, DRIVERS[package.agent], session, network)
    record = {"run": _today(), "requests": requests, "error": ""}
    place.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(record, indent=1).encode()
    files.replace(place, data, ConstraintRotError, mode=0o644)
    return record


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _sub_agent(head: tuple[str, str], record: Mapping[str, Any]) -> list[Cell]:
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


def compare(
    package: Package,
    newer: Package,
    tell: Callable[[str], None],
    *,
    channels: Sequence[str] = CHANNELS,
    network: Network = "none",
    known: Sequence[Cell] = (),
) -> list[Change]:
    """Play the survey's rows, and one with a pin, in two installed versions of an agent.

    ``package`` is the version that was tried. Its rows in ``known``, an earlier survey, are not
    played again.
    """
    cells = [one for one in known if (one.agent, one.version) == (package.title, package.version)]
    mode = package.modes[0]
    with tempfile.TemporaryDirectory() as folder:
        for version in (package, newer):
            with instead(version):
                cells += survey(
                    [version], folder, tell, mode=mode, channels=channels, network=network,
                    known=tuple(cells),
                )  # fmt: skip
                cells.append(_pin(version, mode, network, folder))
                tell(f"{version.title} {version.version}, pin: {cells[-1].told}")
    return changes(cells)


def _pin(package: Package, mode: str, network: Network, log_dir: str) -> Cell:
    task = soft_email(
        harness=f"coding/{package.agent}:{mode}", channel="tool", conditions="defense_pin",
        variants=1, context_tokens=TOKENS, network=network,
    )  # fmt: skip
    log = play.once(task, model=MODEL, log_dir=log_dir)
    cell = read(package, package.version, mode, PIN, log)
    return cell if cell.fate == "error" else replace(cell, fate="held")
