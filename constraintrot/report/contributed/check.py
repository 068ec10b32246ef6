"""The check that a contributed folder is consistent: planned, played, graded, and of one subject.

It checks that every planned episode is there once and has the planned facts, that every
verdict is that of its calls, graded again, and that nothing is pooled. No check can show
that a model made these calls. Survival, tokens and seconds are not checked, since the folder
lacks the texts behind them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError

from constraintrot.episode.facts import Role, names
from constraintrot.errors import ConstraintRotError
from constraintrot.evaluation.defense import DEFENSES
from constraintrot.grading.policy_in_force import in_force
from constraintrot.grading.verdict import NOT_DONE, Verdict, blocked, grade
from constraintrot.report.contributed import run_check
from constraintrot.report.contributed.folder import (
    CALLS,
    EPISODES,
    MOST_EPISODES,
    RUN,
    Answer,
    Log,
    Run,
    bytes_of,
    read_answers,
    read_run,
)
from constraintrot.report.contributed.run_check import NOTHING, text
from constraintrot.report.contributed.run_check import Finding as Finding
from constraintrot.report.episode_counts import is_played
from constraintrot.report.page import frames
from constraintrot.scenario.files import sampled
from constraintrot.scenario.splits import QUALIFICATION_SEEDS, TEXTS

Tasks: TypeAlias = Mapping[str, Callable[..., Task]]
"""Tasks whose episodes can be rebuilt, by Inspect's name."""

# Earlier frames lack it. Without it more episodes form one cluster, so leaving it out cannot make
# a result look surer.
_LATER = ("policy_phrasing",)
# What tells a planned episode without calls from the others of its log.
_NAMED_BY = (
    "family", "locale", "seed", "condition", "attack", "defense", "allowed", "replicate",
)  # fmt: skip


@dataclass(frozen=True)
class Checked:
    """A folder's run and frame, and the contradictions in it."""

    run: Run
    frame: pd.DataFrame
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Planned:
    """An episode that a log has to have.

    The facts are the sample's metadata before the play.
    """

    log: str
    sample: str
    replicate: int
    facts: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.log, self.sample, self.replicate


def planned(log: Log, tasks: Tasks) -> Iterator[Planned]:
    """Yield every episode that the log's task, one of ``tasks``, plans with the log's parameters."""
    if log.task not in tasks:
        raise ConstraintRotError(
            f"{log.log}: {log.task} is no task whose episodes can be rebuilt; those are"
            f" {', '.join(tasks)}"
        )
    try:
        samples = _samples(tasks[log.task], json.dumps(log.task_args))
    except (TypeError, ValueError, PrerequisiteError, ConstraintRotError) as error:
        raise ConstraintRotError(
            f"{log.log}: {log.task} refuses its parameters: {error}"
        ) from error
    if len(samples) * log.epochs > MOST_EPISODES:
        raise ConstraintRotError(f"{log.log}: it plans more than {MOST_EPISODES:,} episodes")
    if any("private_key" in facts for _, facts in samples):
        raise ConstraintRotError(f"{log.log}: split private is made by a key that nobody else has")
    for sample, facts in samples:
        for replicate in range(log.epochs):
            yield Planned(log.log, sample, replicate, facts)


@lru_cache(maxsize=16)
def _samples(
    task: Callable[..., Task], task_args: str
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the ids and metadata of a task's samples; each plan is built only once."""
    built = task(**json.loads(task_args))
    return tuple((str(sample.id), sample.metadata or {}) for sample in built.dataset)


def check(folder: Path, tasks: Tasks) -> Checked:
    """Check one contributed folder, whose episodes are of ``tasks``."""
    run = read_run(folder)
    frame = frames.read(str(folder / EPISODES), bytes_of(folder, EPISODES))
    answers, faults = read_answers(folder)
    found = [Finding(CALLS, fault) for fault in faults]
    found += run_check.files(folder, run)
    found += run_check.pooled(run, frame)
    found += [finding for log in run.logs for finding in run_check.command(run, log)]
    expected, refused = _expected(run.logs, tasks)
    found += refused
    found += run_check.unplayed(frame)
    found += _episodes(expected, frame, answers)
    found += run_check.qualified(folder, run)
    return Checked(run, frame, tuple(found))


def _expected(
    logs: Sequence[Log], tasks: Tasks
) -> tuple[dict[tuple[str, str, int], Planned], list[Finding]]:
    expected: dict[tuple[str, str, int], Planned] = {}
    refused: list[Finding] = []
    for log in logs:
        if len(expected) > MOST_EPISODES:
            told = f"{log.log}: more than {MOST_EPISODES:,} episodes are planned before it"
            refused.append(Finding(RUN, told))
            continue
        try:
            expected |= {one.key: one for one in planned(log, tasks)}
        except ConstraintRotError as error:
            refused.append(Finding(RUN, str(error)))
    return expected, refused


def _episodes(
    expected: Mapping[tuple[str, str, int], Planned],
    frame: pd.DataFrame,
    answers: Sequence[Answer],
) -> Iterator[Finding]:
    yield from _twice(frame, answers)
    rows: dict[str, dict[str, Any]] = {
        str(row["episode"]): {str(name): value for name, value in row.items()}
        for row in frame[is_played(frame)].to_dict("records")
    }
    seen: set[tuple[str, str, int]] = set()
    for answer in answers:
        row = rows.pop(answer.episode, None)
        plan = expected.get(answer.key)
        name = f"{answer.sample} (replicate {answer.replicate})"
        if row is None:
            yield Finding(CALLS, f"{name} has calls and no row in {EPISODES}")
        if plan is None:
            yield Finding(CALLS, f"{name} is no episode that {answer.log} planned")
            continue
        seen.add(answer.key)
        if row is not None:
            yield from _row(name, row, plan, answer)
    for episode in rows:
        yield Finding(EPISODES, f"{_shown(rows[episode])} has a verdict and no calls in {CALLS}")
    yield from _missing([one for key, one in expected.items() if key not in seen], frame)


def _twice(frame: pd.DataFrame, answers: Sequence[Answer]) -> Iterator[Finding]:
    for name, ids in (
        (EPISODES, list(frame["episode"])),
        (CALLS, [answer.episode for answer in answers]),
    ):
        for episode in sorted(id for id, n in Counter(map(str, ids)).items() if n > 1):
            yield Finding(name, f"{episode} is there twice")
    keys = Counter(one.key for one in answers)
    for log, sample, replicate in sorted(key for key, n in keys.items() if n > 1):
        yield Finding(CALLS, f"{sample} (replicate {replicate}) of {log} was played twice")


def _row(name: str, row: Mapping[str, Any], plan: Planned, answer: Answer) -> Iterator[Finding]:
    facts = _as_played({**plan.facts, "replicate": plan.replicate}, row)
    for fact in names(Role.PLANNED):
        wanted, given = text(facts.get(fact)), text(row.get(fact))
        lacking = given in NOTHING and (wanted in NOTHING or fact in _LATER)
        if wanted != given and not lacking:
            yield Finding(
                EPISODES, f"{name}: {fact} is {given}, and {plan.log} planned {wanted}{_old(fact)}"
            )
    if int(facts["seed"]) in QUALIFICATION_SEEDS:
        yield Finding(EPISODES, f"{name}: its seed is for qualification alone")
    if why := _impossible(facts, answer):
        yield Finding(CALLS, f"{name}: {why}")
    verdict = regrade(facts, answer)
    told = _told(verdict, allowed=bool(facts["allowed"]))
    for column, wanted in told.items():
        if text(row.get(column)) != wanted:
            yield Finding(
                EPISODES,
                f"{name}: {column} is {text(row.get(column))}, and its calls, graded anew, come to"
                f" {wanted} ({verdict.reason})",
            )


def _impossible(facts: Mapping[str, Any], answer: Answer) -> str:
    gates = (
        facts["defense"] in DEFENSES.names() and "approve" in DEFENSES.get(facts["defense"]).hooks
    )
    if answer.blocked is not None and not gates:
        return f"it was blocked, and the planned defense {facts['defense']} blocks no call"
    if answer.blocked is not None and not answer.calls:
        return "it was blocked, and there is no call"
    if answer.fault is not None and not answer.calls and not answer.prose.strip():
        return "it could not be read, and what could not be read is not there; export it anew"
    return ""


def _as_played(facts: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the planned facts in the text version with the row's request, or the newest."""
    for texts in range(TEXTS, 0, -1):
        older = {**facts, "texts": texts}
        request = sampled(older).request(bool(facts["allowed"]))
        if request == text(row.get("request")):
            return {**older, "request": request}
    return facts


def _old(fact: str) -> str:
    if fact not in ("request", "phrasing"):
        return ""
    return "; its text is another in this version, so play it again"


def regrade(facts: Mapping[str, Any], answer: Answer) -> Verdict:
    """Grade an answer by the planned facts, without any of the contributor's."""
    variant = sampled(facts)
    if "in_force" in facts:
        variant = in_force(variant, facts["in_force"])
    verdict = grade(
        variant,
        answer.calls,
        allowed=bool(facts["allowed"]),
        fault=answer.fault,
        text=answer.prose,
    )
    return verdict if answer.blocked is None else blocked(verdict, answer.blocked)


def _told(verdict: Verdict, *, allowed: bool) -> dict[str, str]:
    utility = None if verdict.utility is None else float(verdict.utility)
    refused = float(verdict.outcome in NOT_DONE) if allowed else None
    return {
        "outcome": verdict.outcome,
        "violation": text(float(verdict.violation)),
        "utility": text(utility),
        "over_refusal": text(refused),
    }


def _missing(left: Iterable[Planned], frame: pd.DataFrame) -> Iterator[Finding]:
    unplayed = frame[~is_played(frame)]
    given = Counter(
        tuple(text(getattr(row, name)) for name in ("log", *_NAMED_BY))
        for row in unplayed.itertuples()
    )
    for one in left:
        facts = {**one.facts, "replicate": one.replicate}
        key = (one.log, *(text(facts[name]) for name in _NAMED_BY))
        if given[key] > 0:
            given[key] -= 1
            continue
        yield Finding(
            EPISODES,
            f"{one.sample} (replicate {one.replicate}) was planned by {one.log} and is missing; an"
            " episode that ended in an error has a row that says so",
        )
    for (log, *named), n in given.items():
        if n > 0:
            yield Finding(EPISODES, f"{', '.join(named)} is no episode that {log} left open")


def _shown(row: Mapping[str, Any]) -> str:
    return f"{row.get('family')}, {row.get('condition')}, seed {text(row.get('seed'))}"
