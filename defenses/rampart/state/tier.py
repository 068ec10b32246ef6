"""The order of blocks within one tier."""

from bisect import bisect_left
from collections.abc import Sequence

from constraintrot.defenses.rampart.state.record_factory import Entry

# The room between two labels allows as many halvings as this has bits.
_GAP = 1 << 40


class Tier:
    """Entries in their order, each with a label by which bisection finds it.

    Labels rise along the order, and a moved entry gets one between those of its neighbours. So
    a move, and every look-up by key, takes logarithmically many steps and one shift of a list's
    pointers.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._labels: list[int] = []
        self._label: dict[str, int] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[Entry]:
        return self._entries.copy()

    def insert(self, entry: Entry, at: int | None) -> None:
        """Insert a new entry before position ``at``, or last."""
        self._put(entry, len(self._entries) if at is None else at)
        self.tokens += entry.tokens

    def replace(self, key: str, entry: Entry) -> None:
        at = bisect_left(self._labels, self._label[key])
        self._label[entry.key] = self._label.pop(key)
        self.tokens += entry.tokens - self._entries[at].tokens
        self._entries[at] = entry

    def remove(self, key: str) -> None:
        self.tokens -= self._take(key).tokens

    def to_front(self, key: str) -> None:
        # An agent does this at every turn, so it skips the steps of the general case.
        entries, labels = self._entries, self._labels
        at = bisect_left(labels, self._label[key])
        if at:
            del labels[at]
            self._label[key] = label = labels[0] - _GAP
            labels.insert(0, label)
            entries.insert(0, entries.pop(at))

    def move(self, keys: Sequence[str], position: int) -> None:
        """Move a group, in the order of ``keys``, so that ``position`` others come before it."""
        group = [self._take(key) for key in keys]
        first = min(position, len(self._entries))
        for at, entry in enumerate(group, first):
            self._put(entry, at)

    def _take(self, key: str) -> Entry:
        at = bisect_left(self._labels, self._label.pop(key))
        del self._labels[at]
        return self._entries.pop(at)

    def _put(self, entry: Entry, at: int) -> None:
        labels = self._labels
        if not labels:
            label = 0
        elif at == 0:
            label = labels[0] - _GAP
        elif at >= len(labels):
            label = labels[-1] + _GAP
        else:
            label = (labels[at - 1] + labels[at]) // 2
            if label == labels[at - 1]:
                self._relabel()
                self._put(entry, at)
                return
        labels.insert(at, label)
        self._entries.insert(at, entry)
        self._label[entry.key] = label

    def _relabel(self) -> None:
        """Make room between all labels; needed after at least some forty moves to one place."""
        self._labels = list(range(0, len(self._entries) * _GAP, _GAP))
        self._label = {
            entry.key: label for entry, label in zip(self._entries, self._labels, strict=True)
        }
