"""The episodes that a run takes: ``--limit`` and ``--sample-id`` may unbalance its conditions."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import overload

from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.log import transcript

logger = logging.getLogger(__name__)


@dataclass
class Selection:
    """The episodes that a run takes, by condition.

    Attributes:
        counts: number of samples of each condition, without epochs; empty until a dataset is made.
    """

    counts: dict[str, int] = field(default_factory=dict[str, int])
    _warned: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def unbalanced(self) -> bool:
        return len(set(self.counts.values())) > 1

    def take(self, samples: Iterable[Sample], conditions: Iterable[str]) -> None:
        found = Counter(str((sample.metadata or {})["condition"]) for sample in samples)
        self.counts = {name: found[name] for name in conditions}

    def warn(self) -> None:
        """Warn of an unbalanced selection in the sample's transcript, and once in the log."""
        if not self.unbalanced:
            return
        counts = ", ".join(f"{name} {n}" for name, n in self.counts.items())
        told = (
            f"--limit or --sample-id leaves the conditions unbalanced: {counts}. Their rates are not"
            " of the same variants; compare paired episodes only, or use -T variants= for a smaller"
            " run."
        )
        transcript().info(told, source="unbalanced conditions")
        if self.counts != self._warned:
            self._warned = dict(self.counts)
            logger.warning(told)


class EpisodeDataset(MemoryDataset):
    """A dataset that notes which of its episodes Inspect selects."""

    def __init__(self, samples: list[Sample], name: str, selection: Selection) -> None:
        super().__init__(samples, name=name)
        self.selection = selection
        self.conditions = tuple(
            dict.fromkeys(str((sample.metadata or {})["condition"]) for sample in samples)
        )
        selection.take(samples, self.conditions)

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: int | slice) -> Sample | Dataset:
        """Return a sample, or the episodes that ``--limit`` leaves."""
        found = super().__getitem__(index)
        if isinstance(found, Dataset):
            self.selection.take(found, self.conditions)
        return found

    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> MemoryDataset:
        """Return the episodes that ``--sample-id`` leaves."""
        found = super().filter(predicate, name)
        self.selection.take(found, self.conditions)
        return found
