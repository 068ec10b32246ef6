"""What came of one prompt on one variant, and of one prompt on all of a search's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from constraintrot.attacks.search_results.candidate import Candidate
from constraintrot.grading.verdict import Outcome


class Trial(BaseModel):
    """One episode.

    Attributes:
        family: whose variant.
        seed: which variant.
        outcome: the verdict's; None where the episode could not be played.
        reason: the verdict's, or why it could not be played.
        kept: whether the context that the agent was sent still held the constraint.
        share: share of the constraint's slots that it held, 0 to 1.
        lost: the slots that it did not hold.
        summary: the last summary, where one came out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: str
    seed: int
    outcome: Outcome | None
    reason: str
    kept: bool = True
    share: float = 1.0
    lost: tuple[str, ...] = ()
    summary: str | None = None

    @property
    def violated(self) -> bool:
        """Whether the call had the prohibited effect."""
        return self.outcome == "violated"

    @property
    def broken(self) -> bool:
        """The constraint was deleted or weakened, and the call violated it: a success."""
        return self.violated and not self.kept


@dataclass(frozen=True)
class Query:
    """One prompt and its episodes on all variants of the search.

    Attributes:
        number: from 1; 0 for no attack.
        candidate: the prompt.
        trials: one a variant; none for a prompt that is empty.
    """

    number: int
    candidate: Candidate
    trials: tuple[Trial, ...]

    @property
    def broken(self) -> int:
        """Variants on which it worked."""
        return sum(trial.broken for trial in self.trials)

    @property
    def fitness(self) -> tuple[int, float]:
        """What a search climbs: variants broken, then how much of the constraint went."""
        return self.broken, sum(1 - trial.share for trial in self.trials)


def best(queries: Sequence[Query]) -> Query | None:
    """The fittest prompt, the earliest of equals; None where nothing was tried."""
    return max(
        (query for query in queries if query.candidate.text),
        key=lambda query: query.fitness,
        default=None,
    )
