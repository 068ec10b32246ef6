"""Relevance gating (section 3.2): its savings in tokens and its cost in success."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from inspect_ai import Task, task

from constraintrot.defenses.rampart import CosineGate, Embedder
from constraintrot.defenses.rampart.registry import Registry
from constraintrot.models.config_errors import plain_errors
from constraintrot.tasks.probes import _reading, firmware
from constraintrot.tasks.probes._cells import Cell, assemble
from constraintrot.tasks.probes.firmware import CRITICAL, OWNER, REQUESTS, SIZE

if TYPE_CHECKING:
    import numpy as np
    from inspect_ai.dataset import Sample
    from numpy.typing import NDArray

ARMS = ("full", "promoted", "gated", "gated_promoted")
HASHING = "hashing"
DIMENSIONS = 512
_WORD = re.compile(r"[a-z]+|[0-9]+")


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return hashed word-stem vectors of n texts, shape (n, 512), usable as an embedder."""
    import numpy as np

    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in _WORD.findall(text.lower()):
            code = int.from_bytes(blake2b(_stem(word).encode(), digest_size=8).digest(), "big")
            row[code % DIMENSIONS] += 1 if code >> 63 else -1
    return vectors


def _stem(word: str) -> str:
    """Return the first letters, so that ``initialise`` and ``initialisation`` are equal."""
    return word[:7]


@task
def rampart_gate(
    arms: str | Sequence[str] = ("full", "promoted", "gated"),
    embedder: str | Embedder = "all-MiniLM-L6-v2",
    most: int = 10,
    n: int = 5,
    seed: int = 42,
    **unknown: object,
) -> Task:
    """Tokens and success with and without a gate. ``inspect eval constraintrot/rampart_gate``.

    ``full`` compiles all 31 blocks in file order, ``promoted`` the same with the
    critical block first, ``gated`` the blocks closest to the request, in file order.
    ``gated_promoted`` is ``gated`` with the critical block first, if the gate admits it.

    Args:
        arms: names of the arms.
        embedder: a model of the paper's Table 1, ``hashing`` for word overlap
            without a model, or from Python any callable of texts.
        most: number of blocks that the gate admits.
        n: requests per arm.
        seed: seed of the first request.
        unknown: unknown parameters, which are refused.
    """
    with plain_errors():
        _reading.refuse(unknown, ("arms", "embedder", "most", "n", "seed"))
        chosen = _reading.names("arms", arms, ARMS)
        gate = CosineGate(-1.0, _reading.whole("most", most, 1, SIZE))
        seeds = _reading.seeds(seed, n, REQUESTS)
        gated = any(arm.startswith("gated") for arm in chosen)
        embed = _embedder(embedder) if gated else None
        samples = [sample for arm in chosen for sample in _samples(arm, seeds, embed, gate)]
        return assemble("rampart_gate", samples)


def _samples(
    arm: str, seeds: Sequence[int], embed: Embedder | None, gate: CosineGate
) -> list[Sample]:
    registry = Registry(OWNER, label="firmware", embedder=embed, gate=gate)
    registry.load(firmware.SEEDS, by=OWNER)
    if arm.endswith("promoted"):
        firmware.place(registry, [CRITICAL], 0)
    samples: list[Sample] = []
    for seed in seeds:
        query = firmware.request(seed) if arm.startswith("gated") else None
        compiled = registry.compile(query=query)
        facts = {
            "blocks": len(compiled.names),
            "registry_tokens": compiled.tokens,
            "critical_at": compiled.names.index(CRITICAL) if CRITICAL in compiled.names else None,
        }
        samples.append(Cell(arm, compiled.prompt, facts=facts).sample(seed))
    return samples


def _embedder(given: str | Embedder) -> Embedder:
    if callable(given):
        return given
    if given == HASHING:
        return embed
    from constraintrot.defenses.rampart import embedder

    return embedder(given)
