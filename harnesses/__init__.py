"""Harnesses: each plays an episode in one agent framework, by name.

``constraintrot.evaluation.harness`` defines a harness and explains how to add one.
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
