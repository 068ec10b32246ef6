"""Splits of a scenario's phrasings, and the versions of its texts.

Phrasings with an even place in their list are ``tuning``, those with an odd place ``held_out``.
Scaffolds, prompts and attacks are tuned on ``tuning`` only, so that results are on other
sentences. ``private`` is not in the lists: a key makes it (see ``private``).
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

Split: TypeAlias = Literal["held_out", "tuning", "all", "private"]
SPLITS: tuple[Split, ...] = ("held_out", "tuning", "all", "private")
DEFAULT_SPLIT: Split = "held_out"
QUALIFICATION_SEEDS = range(60, 96)
"""The seeds on which a subject qualifies; results use lower ones. All families have them."""


def places(count: int, split: Split) -> range:
    """Return the places of a split's phrasings in a list of ``count``.

    A single phrasing is in every split.
    """
    if count == 1 or split in ("all", "private"):
        return range(count)
    return range(split == "held_out", count, 2)


def place(count: int, split: Split, at: int) -> int:
    """Return the place of a split's phrasing number ``at`` in a list of ``count``, cyclically."""
    held = places(count, split)
    return held[at % len(held)]


TEXTS = 4
"""The version of today's texts; a sample states it as the fact ``texts``."""

PHRASINGS = 2
"""The version with further phrasings of policies in the paper's families."""

HOSTS = 3
"""The version with invented hosts in the .com, .net and .org domains of RFC 2606."""

WORDED = 4
"""The version with more than two English phrasings of the other three wordings."""


def version(facts: Mapping[str, Any]) -> int:
    """Return the version of a sample's texts."""
    return int(facts.get("texts", PHRASINGS if "policy_phrasing" in facts else 1))
