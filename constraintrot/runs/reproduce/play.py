"""The play of a registration: look by look, the episodes of undecided claims, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from inspect_ai.model import Model

from constraintrot.command_line import model_in_role, named_model
from constraintrot.errors import ConstraintRotError
from constraintrot.report import qualification as qualifying
from constraintrot.report.claims.looks import Looked, Sizes, looked
from constraintrot.report.episode_counts import PlannedEpisodes, errors
from constraintrot.report.frame import samples
from constraintrot.report.qualification import Qualification
from constraintrot.report.qualified import usable
from constraintrot.runs.plan import Size
from constraintrot.runs.play import alone, continued
from constraintrot.runs.prices import cost, price_of
from constraintrot.runs.qualify import play as play_qualification
from constraintrot.runs.reproduce import kept
from constraintrot.runs.reproduce.cells import (
    Cell,
    Chunk,
    cells,
    chunks,
    of_tests,
    requests,
    seeds,
)
from constraintrot.runs.reproduce.kept import Meter
from constraintrot.runs.reproduce.planning import (
    dollars_of,
    models_in,
    qualification_size,
    size_of,
)
from constraintrot.runs.reproduce.registration import Registration
from constraintrot.tasks.pin_stress import pin_stress

QUALIFICATION = "qualification.json"
# The folder of its logs.
QUALIFIED = "qualification"
# How often an episode is tried that ends in an error.
_TRIES = 2
# Of one evaluation, the largest share of episodes that may be lost before it counts as an outage.
_MOST_LOST = 0.1
# Safety factor on the ratio of cost to estimate that the chunks so far had.
_CAUTION = 1.25


@dataclass(frozen=True)
class State:
    """The progress of a reproduction.

    Attributes:
        look: the last complete look; 0 before the first.
        looked: the claims after that look; None before the first.
        stopped: why it ended before all claims were decided or all looks taken; else empty.
    """

    look: int
    looked: Looked | None
    frame: pd.DataFrame | None
    stopped: str = ""
    dollars: float = 0.0

    @property
    def decided(self) -> Mapping[str, int]:
        return {} if self.looked is None else self.looked.decided


def qualify(
    registration: Registration, folder: Path, *, accept_lost: bool = False
) -> Qualification:
    """Play the rest of the subject's qualification and write its file, or read that file.

    Raises:
        ConstraintRotError: it may cost more than the limit, or an outage lost episodes.
    """
    path = folder / QUALIFICATION
    if path.exists():
        return qualifying.read(path)
    if not any(one.pairs for one in registration.planned):
        raise ConstraintRotError(
            "no claim is planned, so there is nothing to play; plan anew, into another folder (-o)"
        )
    named_model("--model", registration.model, memoize=True, **registration.model_args)
    task_args = {
        **registration.settings,
        "families": list(registration.families),
        "variants": registration.qualification.variants,
    }
    with alone(folder), Meter(folder, registration.prices) as meter:
        purse = _Purse(meter, registration, folder)
        if why := purse.forbids(purse.qualification):
            raise ConstraintRotError(f"the qualification was not played: {why}")
        ended: ConstraintRotError | None = None
        with purse.pays(purse.qualification, folder / QUALIFIED):
            try:
                frame = play_qualification(
                    registration.model,
                    registration.model_args,
                    _roles(registration),
                    task_args,
                    folder / QUALIFIED,
                )
            except ConstraintRotError as error:
                ended = error
    if not accept_lost:
        planned = purse.qualification.size.episodes
        _stop_at_an_outage("the qualification", folder / QUALIFIED, planned)
    if ended is not None:
        raise ended
    found = qualifying.qualification(frame)
    path.write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return found


def sizes_of(registration: Registration, families: tuple[str, ...]) -> dict[str, Sizes]:
    """Return, by claim, for each look the seed before which each family's episodes count."""
    if not families:
        raise ConstraintRotError(
            f"{registration.model} qualifies on no family, so no claim can be asked of it: nothing"
            " was played; take a larger model, other --families or -T scaffold=review, and another"
            " folder (-o)"
        )
    by_title = {claim.title: claim for claim in registration.claims.claims}
    found: dict[str, Sizes] = {}
    for one in registration.planned:
        if not one.pairs:
            continue
        asked = by_title[one.title], registration.claims, families
        grown = requests(*asked, registration.seed)
        together = [tuple(grown)] if registration.format == 1 else of_tests(*asked)
        looks = range(1, registration.looks + 1)
        counts = (
            seeds(grown, -(-one.pairs * look // registration.looks), together) for look in looks
        )
        found[one.title] = [
            {name: registration.seed + count for name, count in of.items()} for of in counts
        ]
    return found


def play(
    registration: Registration,
    folder: Path,
    tell: Callable[[str], None],
    *,
    hours: float | None = None,
    accept_lost: bool = False,
) -> State:
    """Play the missing episodes, and decide the claims look by look.

    The folder holds the qualification. ``tell`` is called with each line of progress; ``hours``
    is the time limit of this call. With ``accept_lost``, episodes that end in an error count as
    unknown, however many they are.

    Raises:
        ConstraintRotError: more than a tenth of an evaluation's episodes ended in an error.
    """
    if (folder / kept.EPISODES).exists() and not kept.has_logs(folder):
        raise ConstraintRotError(
            f"{folder} has no logs to go on from; `constraintrot reproduce page {folder}` makes its"
            " page, and a new folder plays anew"
        )
    began = time.monotonic()
    played, ends = 0, None if hours is None else began + 3600 * hours
    sizes = sizes_of(registration, qualified(registration, folder))
    state = State(0, None, None)
    with alone(folder), Meter(folder, registration.prices) as meter:
        purse = _Purse(meter, registration, folder)
        for look in range(1, registration.looks + 1):
            needed, there = needs(registration, sizes, state.decided, look)
            left = list[Chunk]()
            for chunk in chunks(needed, there, registration.seed):
                if finished(folder, chunk):
                    purse.recall(chunk)
                else:
                    left.append(chunk)
            for at, chunk in enumerate(left):
                stopped = purse.forbids(purse.of(chunk))
                if ends is not None and time.monotonic() > ends:
                    stopped = f"the limit of {hours:g} hours is reached"
                if stopped:
                    return replace(state, stopped=stopped, dollars=meter.dollars)
                more = sum(one.episodes for one in left[at:])
                minutes = (time.monotonic() - began) / 60 / played * more if played else None
                soon = "" if minutes is None else f", about {minutes:.0f} minutes"
                tell(
                    f"look {look} of {registration.looks}: {chunk.label}, {chunk.episodes} episodes;"
                    f" {more} left in this look{soon}"
                )
                _play(registration, folder, chunk, purse, accept_lost=accept_lost)
                played += chunk.episodes
            state = State(look, *after(registration, sizes, folder, look), "", meter.dollars)
            tell(progress(registration, state))
            if len(state.decided) == len(sizes):
                break
    return state


def qualified(registration: Registration, folder: Path) -> tuple[str, ...]:
    level, path = registration.qualification.level, folder / QUALIFICATION
    if not path.exists():
        raise ConstraintRotError(
            f"{path} is not there yet; run `constraintrot reproduce qualify {folder}` first"
        )
    named = {one.family for one in usable(qualifying.read(path), level)}
    return tuple(name for name in registration.families if name in named)


def needs(
    registration: Registration, sizes: Mapping[str, Sizes], decided: Mapping[str, int], look: int
) -> tuple[dict[Cell, dict[str, int]], dict[Cell, dict[str, int]]]:
    """Return, by cell and family, the end of the seeds for a look, and that for earlier looks.

    ``decided`` holds the earlier look at which a claim was decided, by title.
    """
    there: dict[Cell, dict[str, int]] = {}
    needed: dict[Cell, dict[str, int]] = {}
    for at in range(1, look + 1):
        there = {cell: dict(families) for cell, families in needed.items()}
        for claim in registration.claims.claims:
            if claim.title not in sizes or decided.get(claim.title, at) < at:
                continue
            for cell, families in cells(claim, registration.claims, registration).items():
                held = needed.setdefault(cell, {})
                for name in families:
                    number = sizes[claim.title][at - 1].get(name, 0)
                    if number > held.get(name, 0):
                        held[name] = number
    return needed, there


def after(
    registration: Registration, sizes: Mapping[str, Sizes], folder: Path, look: int
) -> tuple[Looked, pd.DataFrame]:
    """Return the claims after a look, and all episodes so far.

    Episodes beyond a claim's size at a look do not count for it, so later episodes change no
    earlier look.
    """
    frame = kept.episodes(folder)
    frame = frame[frame["seed"].astype(int) >= registration.seed]
    return looked(registration.claims, frame, sizes, look), frame


def finished(folder: Path, chunk: Chunk) -> bool:
    return (folder / kept.LOGS / chunk.name / kept.DONE).exists()


def progress(registration: Registration, state: State) -> str:
    assert state.looked is not None
    verdicts = {one.claim.title: one.verdict for one in state.looked.answered}
    told = [f"{title}: {verdicts[title]}" for title in state.decided]
    return (
        f"look {state.look} of {registration.looks}: {len(told)} of {len(verdicts)} claims decided,"
        f" $ {state.dollars:.2f}{''.join(f'{chr(10)}  {one}' for one in told)}"
    )


def _roles(registration: Registration) -> dict[str, Model]:
    given = registration.roles.items()
    return {role: model_in_role(role, name, memoize=True) for role, name in given}


def _play(
    registration: Registration, folder: Path, chunk: Chunk, purse: _Purse, *, accept_lost: bool
) -> None:
    logs = folder / kept.LOGS / chunk.name
    roles = _roles(registration)
    if chunk.cell.summarizer is not None:
        roles["summarizer"] = model_in_role("summarizer", chunk.cell.summarizer, memoize=True)
    is_subject = chunk.cell.agent == registration.model
    for _ in range(_TRIES):
        with purse.pays(purse.of(chunk), logs):
            whole, _ = continued(
                [pin_stress(**chunk.args)],
                str(logs),
                model=chunk.cell.agent,
                model_args=dict(registration.model_args) if is_subject else {},
                model_roles=roles or None,
                display="none",
                log_level="error",
            )
        if whole:
            break
    else:
        if not accept_lost:
            _stop_at_an_outage(chunk.label, logs, chunk.episodes)
    # The few episodes without a verdict are lost and count as unknown: a look's data are final.
    kept.finish(logs)


def _answered(logs: Path) -> bool:
    """Return whether an episode of a folder was finished."""
    walked = (one for path in logs.glob("*.eval") for one in samples(path, PlannedEpisodes()))
    return any(sample is not None and sample.error is None for _, sample in walked)


def _stop_at_an_outage(what: str, logs: Path, planned: int) -> None:
    """Raise if so many of the planned episodes have no verdict that the cause is hardly in them."""
    collected = PlannedEpisodes()
    for path in sorted(logs.glob("*.eval")):
        for _ in samples(path, collected):
            pass
    lost = collected.rows()
    if len(lost) > _MOST_LOST * planned:
        why = errors(row for row in lost if row["reason"] is not None)
        raise ConstraintRotError(
            f"{len(lost)} of {planned} episodes of {what} have no verdict; the same command plays"
            " them again, and with --accept-lost they count as unknown"
            + "".join(f"\n{one}" for one in why)
        )


@dataclass(frozen=True)
class _Expense:
    """The qualification, or a chunk.

    Attributes:
        most: its cost by the estimate, without the models of other roles; None without a price.
        paid: dollars of ``most`` that are paid already.
    """

    name: str
    model: str
    size: Size
    most: float | None
    paid: float = 0.0


class _Purse:
    """The limit in dollars, held against the real usage so far."""

    def __init__(self, meter: Meter, registration: Registration, folder: Path) -> None:
        self._meter, self._registration = meter, registration
        size = qualification_size(registration)
        found = cost(registration.model, size, registration.prices)
        self.qualification = _Expense(
            "the qualification", registration.model, size, found and found[1], meter.dollars
        )
        # What earlier calls of the command paid, and what had been estimated for it.
        self._paid, self._estimated = meter.dollars, 0.0
        if (folder / QUALIFICATION).exists() and (folder / QUALIFIED).is_dir():
            self._estimated = self.qualification.most or 0.0

    def of(self, chunk: Chunk) -> _Expense:
        found = dollars_of([chunk], self._registration.prices)
        return _Expense("the next episodes", chunk.cell.agent, size_of(chunk), found and found[1])

    def recall(self, chunk: Chunk) -> None:
        """Take the estimate of a chunk that an earlier call of the command played."""
        self._estimated += self.of(chunk).most or 0.0

    def forbids(self, expense: _Expense) -> str:
        """Return why the limit forbids an expense; empty if it does not."""
        limit, spent = self._registration.dollars, self._meter.dollars
        if limit is None:
            return ""
        prices = self._registration.prices
        others = models_in(self._registration.roles)
        unpriced = [one for one in others if price_of(one, prices) is None]
        if expense.most is None or unpriced:
            name = expense.model if expense.most is None else unpriced[0]
            return f"there is no price of {name}, so that no limit can be kept (--prices)"
        # Above 1, the models of other roles cost what no estimate has.
        ratio = self._paid / self._estimated if self._estimated else 1.0
        share = max(ratio, min(1.0, _CAUTION * ratio))
        more = max(0.0, expense.most * share - expense.paid)
        if spent + more > limit:
            return f"$ {spent:.2f} of $ {limit:.2f} are spent, and {expense.name} may cost $ {more:.2f}"
        return ""

    @contextmanager
    def pays(self, expense: _Expense, logs: Path) -> Generator[None]:
        """Charge what an expense cost; the estimate if the provider answers and reports no usage."""
        calls, dollars = self._meter.calls, self._meter.dollars
        try:
            yield
        finally:
            unreported = self._meter.calls == calls and self._registration.dollars is not None
            if unreported and _answered(logs):
                most = {
                    "input_tokens": expense.size.input_tokens[1],
                    "output_tokens": expense.size.output_tokens[1],
                }
                self._meter.write(expense.model, most)
            self._paid += self._meter.dollars - dollars
            self._estimated += expense.most or 0.0
