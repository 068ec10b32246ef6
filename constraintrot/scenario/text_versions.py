"""Versions of the benchmark's texts, so that an older log is graded against what it was played with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXTS = 3
"""The version of today's texts; a sample states it as the fact ``texts``."""

PHRASINGS = 2
"""The version in which the paper's families got further phrasings of their policies."""

HOSTS = 3
"""The version in which invented hosts moved to the domains that RFC 2606 reserves in .com, .net and .org."""


def version(facts: Mapping[str, Any]) -> int:
    """Return the version of a sample's texts.

    Args:
        facts: the sample's metadata; the versions before 3 did not state theirs.
    """
    return int(facts.get("texts", PHRASINGS if "policy_phrasing" in facts else 1))
