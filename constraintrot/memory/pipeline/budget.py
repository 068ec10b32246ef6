"""The token budget of a request by category, and parts of it that learn from outcomes.

The defaults are the paper's for a window of 128k. Three loops learn, as in the specification:
an entry in a context that won gains .1, and one in a context that lost loses .05; every 50
outcomes the categories' totals move tokens to those that did well; a change of regime halves
all that was learned. A rule shows in what does not happen, so its entries are in refusals,
which look like losses. Here a refusal is no outcome, and a rule has no score that could fall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraintrot.errors import ParameterError


@dataclass(frozen=True)
class Budget:
    """Tokens at most, in all and by category.

    Attributes:
        total: of the whole input; the rest of the window is for the answer.
        system: system messages; they are never cut.
        tools: definitions of tools.
        most_tools: how many tools.
        memory: entries of a memory.
        most_memories: how many of them.
        retrieval: retrieved texts, which results of tools count as.
        most_retrieved: how many of them.
        domain: what a domain's enrichment adds.
        history: everything else that was said.
        recent_turns: turns at the end that are never compacted.
        summary: what a summary of the older turns may take.
        query: the request; it is never cut.
    """

    total: int = 100_000
    system: int = 4_000
    tools: int = 8_000
    most_tools: int = 12
    memory: int = 3_000
    most_memories: int = 10
    retrieval: int = 15_000
    most_retrieved: int = 8
    domain: int = 2_000
    history: int = 60_000
    recent_turns: int = 10
    summary: int = 2_000
    query: int = 8_000

    def __post_init__(self) -> None:
        parts = self.system + self.tools + self.memory + self.retrieval + self.domain
        if min(vars(self).values()) < 1:
            raise ParameterError("every part of a budget is at least 1")
        if parts + self.history + self.query > self.total:
            raise ParameterError(
                f"the parts of the budget take {parts + self.history + self.query} tokens, which"
                f" is more than its total of {self.total}"
            )


DEFAULT = Budget()


WON: Final = 0.1
LOST: Final = -0.05
EVERY: Final = 50
DECAY: Final = 0.5
# No category loses more than half of its tokens, whatever its outcomes.
FLOOR: Final = 0.5
LEARNED: Final = ("memory", "retrieval", "domain")
Outcome: TypeAlias = Literal["won", "lost", "refused"]


@dataclass(frozen=True)
class Entry:
    """Something that may be put into a context.

    Attributes:
        key: names it.
        text: its text.
        category: ``memory``, ``retrieval`` or ``domain``.
        rule: whether it is a rule: always in, and never scored.
    """

    key: str
    text: str
    category: str = "memory"
    rule: bool = False

    def __post_init__(self) -> None:
        if self.category not in LEARNED:
            raise ParameterError(f"category is one of {', '.join(LEARNED)}, not {self.category!r}")


class Allocation:
    """The learned scores of entries, and the part of the budget for each category.

    Args:
        budget: what the categories start with.
        every: outcomes after which their parts are set anew.
        refusals: ``ignored``, or counted as ``lost``, which starves rules and is there to
            be measured.
    """

    def __init__(
        self,
        budget: Budget = DEFAULT,
        *,
        every: int = EVERY,
        refusals: Literal["ignored", "lost"] = "ignored",
    ) -> None:
        if every < 1:
            raise ParameterError("every is a number of outcomes, at least 1")
        self.budget, self.every, self.refusals = budget, every, refusals
        self.outcomes = 0
        self._scores: dict[str, float] = {}
        self._totals: defaultdict[str, float] = defaultdict(float)
        self._parts = {name: int(getattr(budget, name)) for name in LEARNED}

    def score(self, key: str) -> float:
        """Return an entry's score from -1 to 1; 0 for an unknown entry."""
        return self._scores.get(key, 0.0)

    def tokens(self, category: str) -> int:
        """Return the tokens that a category gets now."""
        return self._parts[category]

    def outcome(self, entries: Iterable[Entry], what: Outcome) -> None:
        """Learn what came of a context.

        Args:
            entries: what was in it.
            what: whether it won, lost, or the agent refused.
        """
        if what == "refused" and self.refusals == "ignored":
            return
        step = WON if what == "won" else LOST
        for entry in entries:
            if not entry.rule:
                self._scores[entry.key] = max(-1.0, min(1.0, self.score(entry.key) + step))
                self._totals[entry.category] += step
        self.outcomes += 1
        if self.outcomes % self.every == 0:
            self._share()

    def regime_changed(self) -> None:
        """Halve all that was learned: it holds in part."""
        self._scores = {key: DECAY * value for key, value in self._scores.items()}
        for name in self._totals:
            self._totals[name] *= DECAY
        self._share()

    def chosen(self, entries: Sequence[Entry], most: int) -> list[Entry]:
        """The rules, and the best of the other entries, up to so many in all of these."""
        rules = [entry for entry in entries if entry.rule]
        rest = [entry for entry in entries if not entry.rule]
        rest.sort(key=lambda entry: -self.score(entry.key))
        return [*rules, *rest[:most]]

    def _share(self) -> None:
        """Divide what the categories have together anew; their sum stays the same."""
        base = {name: int(getattr(self.budget, name)) for name in LEARNED}
        whole = sum(base.values())
        span = max((abs(total) for total in self._totals.values()), default=0.0) or 1.0
        weight = {n: base[n] * (1 + self._totals[n] / span / 2) for n in LEARNED}
        floors = {name: int(FLOOR * base[name]) for name in LEARNED}
        free = whole - sum(floors.values())
        heavy = sum(weight.values())
        self._parts = {n: floors[n] + int(free * weight[n] / heavy) for n in LEARNED}
