"""Playbooks: a context that learns in bullets and keeps its rules (ACE, arXiv 2510.04618).

Bullets with identifiers and counters; deltas that plain code merges; refinement that never
touches a constraint. ``roles`` asks models (Generator, Reflector, Curator), ``adaptation``
learns from tasks, offline over epochs or online at test time. Only these two need Inspect.
"""

from constraintrot.memory.playbook.bullets import (
    Bullet,
    Kind,
    PlaybookError,
    read_rendered,
    rendered,
)
from constraintrot.memory.playbook.delta import Add, Count, Delete, Delta, Merge, Update, read_delta
from constraintrot.memory.playbook.playbook import Playbook, PlaybookOverflowError, load, save
from constraintrot.memory.playbook.refinement import (
    APPEND_ONLY,
    COUNTERS_ONLY,
    LAZY,
    PROACTIVE,
    Applied,
    Refinement,
)
from constraintrot.memory.playbook.similarity import Similarity, Vectors, Words, minilm, opposed

__all__ = [
    "APPEND_ONLY",
    "COUNTERS_ONLY",
    "LAZY",
    "PROACTIVE",
    "Add",
    "Applied",
    "Bullet",
    "Count",
    "Delete",
    "Delta",
    "Kind",
    "Merge",
    "Playbook",
    "PlaybookError",
    "PlaybookOverflowError",
    "Refinement",
    "Similarity",
    "Update",
    "Vectors",
    "Words",
    "load",
    "minilm",
    "opposed",
    "read_delta",
    "read_rendered",
    "rendered",
    "save",
]
