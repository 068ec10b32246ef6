"""How alike two bullets are: by words, without a model, or by embeddings.

``words`` needs nothing and gives the same on every machine. ``minilm`` takes the cosine of
all-MiniLM-L6-v2's vectors (extra ``embed``), as the registry does. Neither is chosen behind
the user's back: a playbook names the measure that it was refined by.

Both leave pairs alone that differ in what turns a meaning around: see ``opposed``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"

# A run of letters or digits with what may stand inside an address, a path or a number; a sign
# before it (#channel, @name); or one Chinese character.
_WORD: Final = re.compile(
    r"[#@$]?[^\W_\u4e00-\u9fff](?:[^\W\u4e00-\u9fff]|[./:@-](?=\w))*|[\u4e00-\u9fff]"
)
# Vectors that are kept: 1,500 bytes each.
_MOST_KNOWN: Final = 20_000
_NEGATION: Final = frozenset(
    ["no", "not", "never", "none", "without", "cannot", "can't", "don't", "doesn't", "isn't", "aren't", "won't", "except", "unless", "only", "all", "any", "some", "before", "after", "above", "below", "more", "less", "on", "off", "enable", "enabled", "enables", "disable", "disabled", "disables", "allow", "allowed", "allows", "deny", "denied", "denies", "accept", "accepted", "reject", "rejected", "sin", "nunca", "ni", "salvo", "solo", "sólo", "todo", "todos", "antes", "después", "más", "menos", "不", "没", "无", "非", "禁", "未", "前", "后", "勿", "仅"]
)  # fmt: skip


class Similarity(Protocol):
    """A measure of likeness."""

    @property
    def name(self) -> str:
        """How it is called in files and reports."""
        ...

    @property
    def least(self) -> float:
        """From which likeness on two texts say the same, by this measure."""
        ...

    def alike(
        self, texts: Sequence[str], first_new: int, least: float
    ) -> Iterator[tuple[int, int, float]]:
        """Pairs (later, earlier, likeness) of texts, with ``later`` at ``first_new`` or behind."""
        ...


class Words:
    """The share of words and of neighbouring words that two texts have in common (Jaccard)."""

    name = "words"
    least = 0.8

    def alike(
        self, texts: Sequence[str], first_new: int, least: float
    ) -> Iterator[tuple[int, int, float]]:
        """Pairs whose sets overlap by at least so much.

        Two sets that overlap by a share t have one of the rarest 1 - t of each in common,
        so only those are looked up (prefix filtering).
        """
        sets = [_features(text) for text in texts]
        common: Counter[str] = Counter()
        for one in sets:
            common.update(one)
        index: defaultdict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(sets):
            rare = sorted(one, key=lambda word: (common[word], word))
            prefix = rare[: len(one) - int(least * len(one) - 1e-9)]
            if at >= first_new:
                yield from self._close(at, {j for word in prefix for j in index[word]}, sets, least)
            for word in prefix:
                # A word of this text alone is never looked up.
                if common[word] > 1:
                    index[word].append(at)

    @staticmethod
    def _close(
        at: int, candidates: set[int], sets: Sequence[frozenset[str]], least: float
    ) -> Iterator[tuple[int, int, float]]:
        mine = sets[at]
        for other in sorted(candidates):
            shared = len(mine & sets[other])
            likeness = shared / (len(mine) + len(sets[other]) - shared)
            if likeness >= least:
                yield at, other, likeness


class Vectors:
    """The cosine of two texts' embeddings.

    Args:
        embed: from texts to unit vectors, one a row.
        name: how the model is called.
        least: cosine from which on two texts say the same.
    """

    def __init__(self, embed: Embed, name: str, least: float = 0.9) -> None:
        self.name, self.least = name, least
        self._embed = embed
        self._known: dict[str, NDArray[np.float32]] = {}

    def alike(
        self, texts: Sequence[str], first_new: int, least: float
    ) -> Iterator[tuple[int, int, float]]:
        """Pairs whose cosine is at least so much; every text is embedded once."""
        import numpy as np

        if first_new >= len(texts):
            return
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known.update(zip(missing, self._embed(missing), strict=True))
        matrix = np.stack([self._known[text] for text in texts])
        cosines = matrix[first_new:] @ matrix.T
        for row, earlier in zip(*np.nonzero(cosines >= least), strict=True):
            if earlier < row + first_new:
                yield int(row) + first_new, int(earlier), float(cosines[row, earlier])


@cache
def minilm() -> Vectors:
    """all-MiniLM-L6-v2 by fastembed, loaded at the first call, which takes seconds.

    Raises:
        EmbeddingError: the extra ``embed`` is not installed, or the weights cannot be had.
    """
    from constraintrot.embedding.embedder import embedder

    return Vectors(embedder(), "minilm")


def opposed(one: str, other: str) -> bool:
    """Whether two texts that read alike may yet say opposite things.

    They may where they differ in a word of negation or degree, a number, an address or a
    channel, or only in the order of their words. Embeddings hardly see these: at a cosine
    of 0.9 MiniLM takes ``example.com`` for ``example.org`` and ``requires`` for ``does not
    require``.
    """
    a, b = Counter(words(one)), Counter(words(other))
    if a == b:
        return words(one) != words(other)
    return any(_telling(word) for word in (a - b) + (b - a))


def _telling(word: str) -> bool:
    folded = word.casefold()
    return folded in _NEGATION or folded.endswith("n't") or not folded.isalpha()


def words(text: str) -> list[str]:
    """The words of a text in their order, in lower case; each Chinese character is one."""
    return _WORD.findall(text.casefold().replace("’", "'"))


@lru_cache(maxsize=4096)
def _features(text: str) -> frozenset[str]:
    found = words(text)
    return frozenset([*found, *(f"{a} {b}" for a, b in pairwise(found))])
