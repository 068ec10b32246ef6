"""Measures of the likeness of two bullets: by words, without a model, or by embeddings.

``Words`` needs no model and gives the same result on every machine. ``minilm`` is the cosine of
all-MiniLM-L6-v2's vectors (extra ``embed``), as in the registry. The user chooses the measure.

A protected playbook never joins pairs that may contradict each other: see ``opposed``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from constraintrot.rule_text.quantities import is_quantity, numbers, plain_words, signs, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"

# Up to this number of pairs, comparing all is quicker than an index.
_FEW_PAIRS: Final = 20_000
# The most cached vectors, of 1,500 bytes each.
_MOST_KNOWN: Final = 20_000
# Prefixes that make a word the opposite of another: valid and invalid, upload and download.
_TURNED: Final = (
    ("", "un"), ("", "in"), ("", "im"), ("", "ir"), ("", "il"), ("", "dis"), ("", "non"),
    ("in", "ex"), ("im", "ex"), ("in", "de"), ("in", "out"), ("up", "down"),
)  # fmt: skip
# The likeness by words from which two texts are about the same thing.
_ABOUT_THE_SAME: Final = 0.5
_NEGATION: Final = frozenset(
    ["no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "can't", "don't", "doesn't", "isn't", "aren't", "won't", "except", "unless", "only", "all", "any", "some", "before", "after", "above", "below", "more", "less", "on", "off", "enable", "enabled", "enables", "disable", "disabled", "disables", "allow", "allowed", "allows", "deny", "denied", "denies", "accept", "accepted", "reject", "rejected", "sin", "nunca", "jamás", "nadie", "nada", "ningún", "ninguno", "ninguna", "tampoco", "ni", "salvo", "solo", "sólo", "todo", "todos", "antes", "después", "más", "menos", "不", "没", "沒", "无", "無", "非", "禁", "未", "前", "后", "勿", "别", "別", "莫", "仅"]
)  # fmt: skip


class Similarity(Protocol):
    """A measure of likeness."""

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> float:
        """The likeness from which two texts say the same, by this measure."""
        ...

    def alike(
        self, texts: Sequence[str], focus: Collection[int], least: float
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs (later, earlier, likeness) of texts; at least one of a pair is in focus."""
        ...


class Words:
    """The share of words and of neighbouring words that two texts have in common (Jaccard)."""

    name = "words"
    least = 0.8

    def alike(
        self, texts: Sequence[str], focus: Collection[int], least: float
    ) -> Iterator[tuple[int, int, float]]:
        sets = [_features(text) for text in texts]
        if len(focus) * len(texts) <= _FEW_PAIRS:
            pairs = {(max(i, j), min(i, j)) for i in focus for j in range(len(texts)) if i != j}
        else:
            wanted = set(focus)
            pairs = {(i, j) for i, j in _candidates(sets, least) if i in wanted or j in wanted}
        for later, earlier in pairs:
            one, other = sets[later], sets[earlier]
            if min(len(one), len(other)) < least * max(len(one), len(other)):
                continue
            shared = len(one & other)
            # A text without words is like no other.
            if shared and shared >= least * (len(one) + len(other) - shared):
                yield later, earlier, shared / (len(one) + len(other) - shared)


def _candidates(sets: Sequence[frozenset[str]], least: float) -> Iterator[tuple[int, int]]:
    """Yield pairs (later, earlier) of sets that may overlap by a share.

    Two sets that overlap by a share t have one of the rarest 1 - t words of each in common, so only
    those are looked up (prefix filtering). The rest after the first common word must suffice for
    the share (positional filtering). Xiao et al., "Efficient similarity joins for near-duplicate
    detection", WWW 2008.
    """
    common: Counter[str] = Counter()
    for one in sets:
        common.update(one)
    rank = {word: at for at, word in enumerate(sorted(common, key=common.__getitem__))}
    # For each word, the texts that have it among their rarest, with the number of words from it on.
    index: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    share = least / (1 + least)
    for at, one in enumerate(sets):
        size = len(one)
        rarest = sorted(one, key=rank.__getitem__)[: size - int(least * size - 1e-9)]
        for before, word in enumerate(rarest):
            # A word that no other text has is never looked up.
            if common[word] > 1:
                rest = size - before
                for earlier, other in index[word]:
                    enough = share * (size + len(sets[earlier])) - 1e-9
                    if rest >= enough and other >= enough:
                        yield at, earlier
                index[word].append((at, rest))


class Vectors:
    """The cosine of two texts' embeddings; ``embed`` gives unit vectors, one per row."""

    def __init__(self, embed: Embed, name: str, least: float = 0.9) -> None:
        self.name, self.least = name, least
        self._embed = embed
        self._known: dict[str, NDArray[np.float32]] = {}

    def alike(
        self, texts: Sequence[str], focus: Collection[int], least: float
    ) -> Iterator[tuple[int, int, float]]:
        import numpy as np

        if not focus or len(texts) < 2:
            return
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known.update(zip(missing, self._embed(missing), strict=True))
        matrix = np.stack([self._known[text] for text in texts])
        rows = sorted(focus)
        found = matrix[rows] @ matrix.T
        wanted = set(rows)
        for row, column in zip(*np.nonzero(found >= least), strict=True):
            one, other = rows[row], int(column)
            # A pair with both texts in focus appears twice in the matrix.
            if one != other and (one > other or other not in wanted):
                yield max(one, other), min(one, other), float(found[row, column])


@cache
def minilm() -> Vectors:
    """Return the measure by all-MiniLM-L6-v2 (fastembed); the first call loads it, in seconds."""
    from constraintrot.models.embedding.embedder import embedder

    return Vectors(embedder(), "minilm")


def opposed(one: str, other: str) -> bool:
    """Return whether two texts that read alike may yet say opposite or different things.

    They may if they differ in a word of negation or degree, a prefix that makes an opposite, a
    number or a word beside it, a date, an address or a channel, a sign, or only in the order of
    their words. Embeddings hardly see these: at a cosine of 0.9 MiniLM takes ``example.com`` for
    ``example.org`` and ``requires`` for ``does not require``. Numbers are compared in the form of
    ``quantities``.
    """
    if signs(one) != signs(other):
        return True
    said, told = plain_words(one), plain_words(other)
    a, b = Counter(said), Counter(told)
    if a == b:
        return said != told
    changed = (a - b) + (b - a)
    if any(_negates(one) or is_quantity(one) or not one.isalpha() for one in changed):
        return True
    if _turned(changed):
        return True
    beside = _beside_numbers(said) | _beside_numbers(told)
    return not beside <= a.keys() & b.keys()


def contradicting(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return two of some texts that are about the same thing and may contradict each other.

    They share half of their words, negations, numbers and addresses aside. And they differ in a
    negation, or each has a number or address that the other lacks, or the order of these differs.
    """
    bare = [_bare(text) for text in texts]
    for later, earlier, _ in Words().alike(bare, range(len(bare)), _ABOUT_THE_SAME):
        one, other = texts[earlier], texts[later]
        if _contradict(plain_words(one), plain_words(other)):
            return one, other
    return None


def other_numbers(parts: Sequence[str], merged: str) -> set[str]:
    """Return the numbers that only the parts have, or only the text that replaces them."""
    return set[str]().union(*map(numbers, parts)) ^ numbers(merged)


def _bare(text: str) -> str:
    """Return a text without negations, and with one placeholder for all numbers and addresses."""
    said = ("0" if _particular(word) else word for word in plain_words(text) if not _negates(word))
    # A text of negations alone is kept as it is.
    return " ".join(said) or text


def _contradict(one: Sequence[str], other: Sequence[str]) -> bool:
    a, b = Counter(one), Counter(other)
    changed = (a - b) + (b - a)
    if any(map(_negates, changed)) or _turned(changed):
        return True
    if any(map(_particular, a - b)) and any(map(_particular, b - a)):
        return True
    said, told = ([word for word in text if is_quantity(word)] for text in (one, other))
    return sorted(said) == sorted(told) and said != told


def _particular(word: str) -> bool:
    """Return whether a word is a number, an address or a channel; a hyphen alone is not enough."""
    return is_quantity(word) or any(sign in word for sign in "./:@#$")


def _negates(word: str) -> bool:
    folded = word.casefold()
    return folded in _NEGATION or folded.endswith("n't")


def _turned(changed: Collection[str]) -> bool:
    """Return whether two of the differing words are opposites by their prefixes."""
    return any(
        f"{other}{word.removeprefix(one)}" in changed
        for word in changed
        for one, other in _TURNED
        if word.startswith(one)
    )


def _beside_numbers(said: Sequence[str]) -> set[str]:
    """Return the words beside numbers: a unit, a currency or a zone, which no list holds."""
    at = [place for place, word in enumerate(said) if any(map(str.isnumeric, word))]
    return {said[near] for place in at for near in (place - 1, place + 1) if 0 <= near < len(said)}


@lru_cache(maxsize=4096)
def _features(text: str) -> frozenset[str]:
    found = words(text)
    return frozenset([*found, *(f"{a} {b}" for a, b in pairwise(found))])
