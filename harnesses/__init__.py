"""Harnesses: each plays an episode in one agent framework, by name.

What a harness is, and how one is added, is in ``constraintrot.evaluation.harness``.
"""

from constraintrot.evaluation.harness import (
    FRAMEWORK_HOOKS,
    HARNESSES,
    ChosenHarness,
    Harness,
    HarnessFactory,
    HarnessSpec,
    Needs,
    Played,
    harness,
    imported_when_made,
    parse_harness,
)

__all__ = [
    "FRAMEWORK_HOOKS",
    "HARNESSES",
    "ChosenHarness",
    "Harness",
    "HarnessFactory",
    "HarnessSpec",
    "Needs",
    "Played",
    "harness",
    "imported_when_made",
    "parse_harness",
]
