"""Ten pairs of contradictory rules, and whether each measure of likeness takes them as equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.memory.playbook import (
    Add,
    Playbook,
    Refinement,
    Similarity,
    Words,
    minilm,
    opposed,
)
from tests.memory.playbook.pairs import CONTRADICTORY, PARAPHRASES


@dataclass(frozen=True)
class Pair:
    """A pair under a measure.

    Attributes:
        measure: its name.
        pair: ``contradictory`` or ``paraphrase``.
        one: the first rule.
        other: the second.
        likeness: by the measure, 0 where it is under a tenth.
        alike: whether the measure takes both for one.
        opposed: whether the guard against contradictions keeps them apart.
        merged: whether a playbook that trusts the measure alone merges them.
        merged_protected: whether one does that protects constraints.
    """

    measure: str
    pair: str
    one: str
    other: str
    likeness: float
    alike: int
    opposed: int
    merged: int
    merged_protected: int


def contradictions() -> Iterator[Pair]:
    """Yield all pairs under both measures; needs the extra ``embed``."""
    for measure in (Words(), minilm()):
        for kind, pairs in (("contradictory", CONTRADICTORY), ("paraphrase", PARAPHRASES)):
            for one, other in pairs:
                found = [score for *_, score in measure.alike((one, other), (1,), 0.1)]
                likeness = round(found[0], 3) if found else 0.0
                yield Pair(
                    measure.name, kind, one, other, likeness, int(likeness >= measure.least),
                    int(opposed(one, other)), int(_merged(measure, one, other, protect=False)),
                    int(_merged(measure, one, other, protect=True)),
                )  # fmt: skip


def _merged(measure: Similarity, one: str, other: str, *, protect: bool) -> bool:
    playbook = Playbook(similarity=measure, refinement=Refinement(protect=protect))
    playbook.apply([Add(text=text, kind="constraint") for text in (one, other)])
    return len(playbook.bullets) == 1
