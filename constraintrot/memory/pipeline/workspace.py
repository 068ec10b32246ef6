"""A workspace that is assembled anew for every decision, from entries whose value is learned.

Nothing grows and nothing is compacted: each decision chooses entries by their learned scores. The
registry's pins are its invariants, which no budget and no learning touches.

Three loops learn, as in the specification: an entry in a context that won gains .1, and in one that
lost loses .05; after every 50 outcomes the categories' totals move tokens to those that did well; a
change of regime halves all that was learned. A rule's effect is often a refusal, which looks like a
loss. So a refusal does not count as an outcome here, and rules have no scores.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from constraintrot.defenses.pinning.pins import Pins
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.context import DEFAULT, Budget, PipelineOverflowError, size
from constraintrot.tokens import count

WON: Final = 0.1
LOST: Final = -0.05
EVERY: Final = 50
DECAY: Final = 0.5
# No category loses more than half of its tokens.
FLOOR: Final = 0.5
LEARNED: Final = ("memory", "retrieval", "domain")
Outcome: TypeAlias = Literal["won", "lost", "refused"]


@dataclass(frozen=True)
class Entry:
    """A text that may be put into a context."""

    key: str
    text: str
    category: str = "memory"  # ``memory``, ``retrieval`` or ``domain``
    rule: bool = False  # whether it is a rule, which is always included and never scored

    def __post_init__(self) -> None:
        if self.category not in LEARNED:
            raise ParameterError(f"category is one of {', '.join(LEARNED)}, not {self.category!r}")


class Allocation:
    """The learned scores of entries, and the part of the budget for each category.

    Args:
        budget: the categories' initial parts.
        every: the number of outcomes after which the parts are divided anew.
        refusals: ``ignored``, or ``lost``, which counts them so and exists to be measured.
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
        return self._parts[category]

    def outcome(self, entries: Iterable[Entry], what: Outcome) -> None:
        """Learn from the outcome of a context."""
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
        """Halve all that was learned, after a change of regime."""
        self._scores = {key: DECAY * value for key, value in self._scores.items()}
        for name in self._totals:
            self._totals[name] *= DECAY
        self._share()

    def chosen(self, entries: Sequence[Entry], most: int) -> list[Entry]:
        """Return the rules, and the best of the other entries up to a number."""
        rules = [entry for entry in entries if entry.rule]
        rest = [entry for entry in entries if not entry.rule]
        rest.sort(key=lambda entry: -self.score(entry.key))
        return [*rules, *rest[:most]]

    def _share(self) -> None:
        """Divide the categories' tokens anew; their sum does not grow."""
        base = {name: int(getattr(self.budget, name)) for name in LEARNED}
        whole = sum(base.values())
        span = max((abs(total) for total in self._totals.values()), default=0.0) or 1.0
        weight = {n: base[n] * (1 + self._totals[n] / span / 2) for n in LEARNED}
        floors = {name: int(FLOOR * base[name]) for name in LEARNED}
        free = whole - sum(floors.values())
        heavy = sum(weight.values())
        self._parts = {n: floors[n] + int(free * weight[n] / heavy) for n in LEARNED}


@dataclass(frozen=True)
class Assembled:
    """The workspace at one moment."""

    messages: tuple[ChatMessage, ...]  # the messages for the model, without the situation
    entries: tuple[Entry, ...]  # the chosen entries, for ``Allocation.outcome``
    manifest: str  # the manifest of its pins


class Workspace:
    """A context that is assembled from entries, with the pins as invariants.

    ``entries`` returns the current entries; ``system`` is the agent's instructions.
    """

    def __init__(
        self,
        pins: Registry | Pins,
        entries: Callable[[], Sequence[Entry]],
        *,
        system: str = "",
        allocation: Allocation | None = None,
        budget: Budget = DEFAULT,
    ) -> None:
        self.pins = Pins(pins) if isinstance(pins, Registry) else pins
        self.entries, self.system = entries, system
        self.allocation = allocation or Allocation(budget)
        self.budget = budget

    @property
    def manifest(self) -> str:
        return self.pins.rendering().manifest

    def assemble(self) -> Assembled:
        """Return the workspace at this moment."""
        # First, so that a pin that comes while entries are chosen makes the manifest stale.
        manifest = self.manifest
        chosen = self._chosen(self.entries())
        system: list[ChatMessage] = [ChatMessageSystem(content=self.system)] if self.system else []
        told = [_told(name, [e for e in chosen if e.category == name]) for name in LEARNED]
        messages = self.pins.inject([*system, *(one for one in told if one is not None)])
        if size(messages) > self.budget.total:
            raise PipelineOverflowError(
                f"instructions, pins and rules take {size(messages)} tokens, and the budget is"
                f" {self.budget.total}"
            )
        return Assembled(tuple(messages), tuple(chosen), manifest)

    def request(self, situation: str) -> list[ChatMessage]:
        return [*self.assemble().messages, ChatMessageUser(content=situation)]

    def _chosen(self, entries: Sequence[Entry]) -> list[Entry]:
        most = {"memory": self.budget.most_memories, "retrieval": self.budget.most_retrieved}
        kept: list[Entry] = []
        for name in LEARNED:
            mine = [entry for entry in entries if entry.category == name]
            used = 0
            for entry in self.allocation.chosen(mine, most.get(name, len(mine))):
                cost = count(entry.text)
                if entry.rule or used + cost <= self.allocation.tokens(name):
                    kept.append(entry)
                    used += 0 if entry.rule else cost
        return kept


class Prebuilt:
    """A workspace that is built ahead, so that a decision need not wait for it.

    Args:
        workspace: the workspace to build.
        every: the number of decisions after which it is built anew.
        keyed: rebuild also when the pins have changed. Without it a new policy waits for the next
            build; that exists to be measured.
    """

    def __init__(self, workspace: Workspace, *, every: int = 50, keyed: bool = True) -> None:
        if every < 1:
            raise ParameterError("every is a number of decisions, at least 1")
        self.workspace, self.every, self.keyed = workspace, every, keyed
        self._built: Assembled | None = None
        self._served = 0

    def get(self) -> Assembled:
        """Return the workspace that was built ahead, or a new one."""
        built = self._built
        stale = self.keyed and built is not None and built.manifest != self.workspace.manifest
        if built is None or stale or self._served >= self.every:
            built = self._built = self.workspace.assemble()
            self._served = 0
        self._served += 1
        return built


def _told(name: str, entries: Sequence[Entry]) -> ChatMessage | None:
    if not entries:
        return None
    lines = "\n".join(f"- {entry.text}" for entry in entries)
    return ChatMessageUser(content=f"<{name}>\n{lines}\n</{name}>")
