"""A sweep of many workers as queues: where each second goes, and what is full first.

A discrete-event simulation of the path of a cell. The driver hands it over; a worker makes its
episodes on one processor, some at once; each of their model calls waits for its place in the
shared budget and for a slot of a model server; the finished log is put into the store; the driver
books it. Driver, budget, servers and store are queues, first come, first served, and what each
takes is an argument (``Costs``). Times are fixed, not drawn: it says where a sweep stops being
linear, not how much its runs differ. Faults, and what Ray itself does between driver and worker,
are not in it, beyond the driver's measured seconds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Costs:
    """What things take; seconds.

    Attributes:
        episodes: of a cell.
        calls: of an episode, to a model that is not in the worker; 0 for none.
        at_once: episodes of a cell at once.
        import_seconds: a worker's processor, once, before its first cell.
        cell_seconds: of a worker's processor for a cell besides its episodes.
        episode_seconds: of a worker's processor for an episode.
        start_seconds: the driver's, to hand over a cell.
        end_seconds: the driver's, to book one.
        call_seconds: a model's answer, when nobody else asks.
        slots: calls that all servers answer at once; 0 for any number.
        reserve_seconds: of the shared budget's process, for a call; 0 for none.
        store_seconds: to put a log into the store and its frame.
        store_at_once: puts that the store takes at once; 0 for any number.
        ahead: cells that are handed over beyond the workers, as a share of them.
    """

    episodes: int
    calls: int
    at_once: int
    import_seconds: float
    cell_seconds: float
    episode_seconds: float
    start_seconds: float
    end_seconds: float
    call_seconds: float = 0.0
    slots: int = 0
    reserve_seconds: float = 0.0
    store_seconds: float = 0.0
    store_at_once: int = 0
    ahead: float = 0.1


@dataclass
class Queue:
    """So many servers with one line.

    Attributes:
        places: how many are served at once; 0 for any number.
        busy: seconds of service so far.
    """

    places: int
    busy: float = 0.0
    _free: list[float] = field(default_factory=list[float])

    def serve(self, now: float, seconds: float) -> float:
        """When somebody who comes now is served; to be called in the order of coming."""
        self.busy += seconds
        if not self.places:
            return now + seconds
        begin = now
        if len(self._free) == self.places:
            begin = max(now, heapq.heappop(self._free))
        heapq.heappush(self._free, begin + seconds)
        return begin + seconds

    def used(self, until: float) -> float:
        """The share of its time that it was busy; 0 where nobody waits for anybody."""
        return self.busy / (until * self.places) if self.places and until else 0.0


@dataclass(frozen=True)
class Outcome:
    """What came of a simulated sweep.

    Attributes:
        seconds: from the first cell's start to the last one's end.
        episodes: played.
        used: of driver, budget, servers, store and workers, the share of the time that they were busy.
    """

    seconds: float
    episodes: int
    used: dict[str, float]

    @property
    def rate(self) -> float:
        """Episodes a second."""
        return self.episodes / self.seconds


class _Run:
    """One simulation; events are (when, number, what, of which worker)."""

    def __init__(self, costs: Costs, workers: int, cells: int) -> None:
        self.costs, self.workers, self.left = costs, workers, cells
        self.driver, self.budget, self.store = Queue(1), Queue(1), Queue(costs.store_at_once)
        self.servers = Queue(costs.slots)
        self.processors = [Queue(1) for _ in range(workers)]
        self.events: list[tuple[float, int, str, int, int]] = []
        self.handed: list[float] = []
        self.idle: list[tuple[float, int]] = []
        self.waiting, self.playing = [0] * workers, [0] * workers
        self.number, self.end = 0, 0.0

    def at(self, when: float, what: str, worker: int, step: int = 0) -> None:
        """Note an event."""
        self.number += 1
        heapq.heappush(self.events, (when, self.number, what, worker, step))

    def play(self) -> float:
        """Run to the end; returns when that is."""
        for worker in range(self.workers):
            done = self.processors[worker].serve(0.0, self.costs.import_seconds)
            heapq.heappush(self.idle, (done, worker))
        for _ in range(self.workers + int(self.costs.ahead * self.workers)):
            self._hand_over(0.0)
        while self.events:
            now, _, what, worker, step = heapq.heappop(self.events)
            getattr(self, f"_{what}")(now, worker, step)
        return self.end

    def _hand_over(self, now: float) -> None:
        if self.left:
            self.left -= 1
            self.at(self.driver.serve(now, self.costs.start_seconds), "handed", -1)

    def _handed(self, now: float, worker: int, step: int) -> None:
        self.handed.append(now)
        self._match(now)

    def _match(self, now: float) -> None:
        """Give cells that were handed over to workers that are idle."""
        while self.handed and self.idle:
            free, worker = heapq.heappop(self.idle)
            self.handed.pop()
            begin = max(now, free)
            made = self.processors[worker].serve(begin, self.costs.cell_seconds)
            self.waiting[worker] = self.costs.episodes
            for _ in range(min(self.costs.at_once, self.costs.episodes)):
                self.at(made, "episode", worker)

    def _episode(self, now: float, worker: int, step: int) -> None:
        """An episode begins."""
        if not self.waiting[worker]:
            return
        self.waiting[worker] -= 1
        self.playing[worker] += 1
        self._think(now, worker, 0)

    def _think(self, now: float, worker: int, step: int) -> None:
        """The worker's own part before a call, or after the last."""
        part = self.costs.episode_seconds / (self.costs.calls + 1)
        done = self.processors[worker].serve(now, part)
        self.at(done, "call" if step < self.costs.calls else "ended", worker, step)

    def _call(self, now: float, worker: int, step: int) -> None:
        if self.costs.reserve_seconds:
            self.at(self.budget.serve(now, self.costs.reserve_seconds), "answer", worker, step)
        else:
            self._answer(now, worker, step)

    def _answer(self, now: float, worker: int, step: int) -> None:
        self.at(self.servers.serve(now, self.costs.call_seconds), "think", worker, step + 1)

    def _ended(self, now: float, worker: int, step: int) -> None:
        """An episode ends: the next one, or the cell's log."""
        self.playing[worker] -= 1
        if self.waiting[worker]:
            self._episode(now, worker, 0)
        elif not self.playing[worker]:
            self.at(self.store.serve(now, self.costs.store_seconds), "stored", worker)

    def _stored(self, now: float, worker: int, step: int) -> None:
        heapq.heappush(self.idle, (now, worker))
        self.end = self.driver.serve(now, self.costs.end_seconds)
        self._hand_over(self.end)
        self._match(now)


def simulate(costs: Costs, workers: int, cells: int) -> Outcome:
    """Play so many cells on so many workers."""
    run = _Run(costs, workers, cells)
    end = run.play()
    busy = sum(one.busy for one in run.processors) / (workers * end)
    used = {
        "driver": run.driver.used(end), "budget": run.budget.used(end),
        "servers": run.servers.used(end), "store": run.store.used(end), "workers": busy,
    }  # fmt: skip
    return Outcome(end, cells * costs.episodes, used)
