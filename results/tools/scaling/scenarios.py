"""The sweeps that are simulated: measured costs, and what is assumed of models and stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from results.tools.scaling.simulation import Costs, simulate

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
CELLS_A_WORKER = 4
LINEAR = 0.9
"""The share of so many times one worker's pace, below which a sweep is called linear no more."""

# Assumed, for no model server and no bucket were at hand. Of an answer: a second, as of a small
# model; of a put into a bucket: three round trips of 0.1 s, any number at once.
ANSWER, SLOTS, WORKERS_A_SERVER, FIXED_SERVERS = 1.0, 64, 4, 16
PER_MINUTE = 30_000
STORE = 0.3
CALLS, AT_ONCE = 2, 10

_Scenario = Callable[[Costs, int], Costs]
SCENARIOS: Mapping[str, tuple[str, _Scenario]] = {
    "scripts": (
        "models in the workers, a folder for the logs: nothing but this project's own costs",
        lambda costs, workers: costs,
    ),
    "servers": (
        f"a model server for every {WORKERS_A_SERVER} workers, {SLOTS} answers at once each, a bucket",
        lambda costs, workers: replace(
            costs, calls=CALLS, call_seconds=ANSWER, store_seconds=STORE,
            slots=SLOTS * max(1, workers // WORKERS_A_SERVER),
        ),
    ),
    "sixteen servers": (
        f"{FIXED_SERVERS} model servers, however many workers, {SLOTS} answers at once each, a bucket",
        lambda costs, workers: replace(
            costs, calls=CALLS, call_seconds=ANSWER, store_seconds=STORE,
            slots=SLOTS * FIXED_SERVERS,
        ),
    ),
    "budget": (
        f"an API of any number of answers at once, {PER_MINUTE:,} requests a minute for all, a bucket",
        lambda costs, workers: replace(
            costs, calls=CALLS, call_seconds=ANSWER, store_seconds=STORE,
            reserve_seconds=60 / PER_MINUTE,
        ),
    ),
}  # fmt: skip


def of(measured: Mapping[str, Any]) -> Costs:
    """The measured costs."""
    costs, run = measured["costs"], measured["runs"][-1]
    return Costs(
        episodes=run["episodes"] // run["cells"],
        calls=0,
        at_once=AT_ONCE,
        import_seconds=costs["import_seconds"],
        cell_seconds=costs["cell_seconds"],
        episode_seconds=costs["episode_seconds"],
        start_seconds=run["driver_start"],
        end_seconds=run["driver_end"],
        store_seconds=costs["folder_store_seconds"],
    )


def lines(measured: Mapping[str, Any], workers: Sequence[int] = WORKERS) -> list[dict[str, Any]]:
    """The rows of the table, a scenario after the other."""
    found: list[dict[str, Any]] = []
    for name, (_, made) in SCENARIOS.items():
        first = 0.0
        for number in workers:
            came = simulate(made(of(measured), number), number, CELLS_A_WORKER * number)
            first = first or came.rate / workers[0]
            full = max(came.used, key=lambda one: came.used[one])
            found.append(
                {
                    "scenario": name, "workers": number, "episodes": came.episodes,
                    "seconds": round(came.seconds, 1), "episodes_a_second": round(came.rate, 2),
                    "of_linear": round(came.rate / (first * number), 3), "busiest": full,
                    **{f"{one}_busy": round(share, 3) for one, share in came.used.items()},
                }
            )  # fmt: skip
    return found


def page(measured: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The page: what was measured, what was simulated, and where it stops being linear."""
    machine, runs = measured["machine"], measured["runs"]
    text = [
        "# How a sweep scales",
        "",
        "Made by `python -m results.tools.scaling simulate`; change that instead. Every row of the"
        " simulation is in [scaling.csv](scaling.csv).",
        "",
        "## Measured",
        "",
        f"`quick` with scripted models on a Ray cluster of one machine: {machine['cores']} cores"
        f" ({machine['processor']}), on which {machine['load']} processes wanted to run when it"
        " began. Scripts take no time to answer, so a worker keeps a core busy, and more workers"
        " than cores gain nothing.",
        "",
        "| workers | cells | episodes | seconds | episodes a second | of one worker's |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    first = runs[0]["episodes"] / runs[0]["seconds"]
    for run in runs:
        rate = run["episodes"] / run["seconds"]
        text.append(
            f"| {run['workers']} | {run['cells']} | {run['episodes']:,} | {run['seconds']:.1f} |"
            f" {rate:.1f} | {rate / first:.2f} |"
        )
    costs = measured["costs"]
    text += [
        "",
        f"An episode takes {1000 * costs['episode_seconds']:.0f} ms of a worker's processor, a cell"
        f" {costs['cell_seconds']:.2f} s besides, a worker's first import"
        f" {costs['import_seconds']:.1f} s, a frame into a store in a folder"
        f" {1000 * costs['folder_store_seconds']:.0f} ms. The driver takes"
        f" {1000 * runs[-1]['driver_start']:.1f} ms to hand over a cell and"
        f" {1000 * runs[-1]['driver_end']:.1f} ms to book it.",
        "",
        "## Simulated",
        "",
        "A cell's path as queues (`results/tools/scaling/simulation.py`): driver, workers of a core"
        " each, shared budget, model servers, store. The measured costs, and assumed: an answer in"
        f" {ANSWER:g} s, {CALLS} calls an episode, {AT_ONCE} episodes of a worker at once,"
        f" {STORE:g} s to put a log and its frame into a bucket, {CELLS_A_WORKER} cells a worker."
        " No faults, no other machine's delay, and of Ray no more than the driver's time.",
        "",
        f"| sweep | linear (at least {100 * LINEAR:.0f} %) to | episodes a second there | at"
        f" {WORKERS[-1]:,} workers | of linear | busiest there |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (what, _) in SCENARIOS.items():
        own = [row for row in rows if row["scenario"] == name]
        held = own[0]
        for row in own:
            if row["of_linear"] < LINEAR:
                break
            held = row
        last = own[-1]
        busy = f"{last['busiest']}, {100 * last[last['busiest'] + '_busy']:.0f} %"
        text.append(
            f"| {name}: {what} | {held['workers']:,} | {held['episodes_a_second']:,.1f} |"
            f" {last['episodes_a_second']:,.1f} | {100 * last['of_linear']:.0f} % | {busy} |"
        )
    return "\n".join([*text, ""])
