"""RAMPART: a registry of addressable blocks that is compiled into a prompt.

::

    from constraintrot.defenses.rampart import Principal, Registry

    operator = Principal("operator")
    registry = Registry(operator)
    registry.pin("Never send email outside example.com.", by=operator, name="no-external-email")
    prompt = registry.compile(budget=8000).prompt
    assert registry.verify(prompt).held

Needs no Inspect, no inference backend and, once loaded, no disk. The design is from the
paper *RAMPART: Registry-based Agentic Memory with Priority-Aware Runtime Transformation*
(2026); the pinned tier and its guarantees are this project's.
"""

from constraintrot.defenses.rampart.block import Block, Counter, Source
from constraintrot.defenses.rampart.compile import Compiled, Excluded, Plan, Verification
from constraintrot.defenses.rampart.embedding.search import CosineGate, Gate
from constraintrot.defenses.rampart.errors import (
    AuthorityError,
    DuplicateBlockError,
    PinOverflowError,
    RampartError,
    RegistryError,
    SeedError,
    SnapshotError,
    UnknownBlockError,
)
from constraintrot.defenses.rampart.framing import Frame, frame, frames
from constraintrot.defenses.rampart.principal import Principal
from constraintrot.defenses.rampart.registry import Registry
from constraintrot.defenses.rampart.seeds import Seed, SeedLibrary
from constraintrot.defenses.rampart.state.accounting import Scorer, WeightedScorer, default_scorer
from constraintrot.defenses.rampart.state.ledger import Entry, Line, Provenance, chained
from constraintrot.errors import EmbeddingError
from constraintrot.models.embedding.embedder import Embedder, embedder

__all__ = [
    "AuthorityError",
    "Block",
    "Compiled",
    "CosineGate",
    "Counter",
    "DuplicateBlockError",
    "Embedder",
    "EmbeddingError",
    "Entry",
    "Excluded",
    "Frame",
    "Gate",
    "Line",
    "PinOverflowError",
    "Plan",
    "Principal",
    "Provenance",
    "RampartError",
    "Registry",
    "RegistryError",
    "Scorer",
    "Seed",
    "SeedError",
    "SeedLibrary",
    "SnapshotError",
    "Source",
    "UnknownBlockError",
    "Verification",
    "WeightedScorer",
    "chained",
    "default_scorer",
    "embedder",
    "frame",
    "frames",
]
