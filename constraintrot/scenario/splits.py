"""Splits of a scenario's phrasings, and the versions of its texts.

Phrasings with an even place in their list are ``tuning``, those with an odd
place ``held_out``. Scaffolds, prompts and attacks are worked out on ``tuning``
alone, so that no result is taken on a sentence that somebody tuned for.
``private`` is in no list: a key makes it (see ``private``).
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

Split: TypeAlias = Literal["held_out", "tuning", "all", "private"]
SPLITS: tuple[Split, ...] = ("held_out", "tuning", "all", "private")
DEFAULT_SPLIT: Split = "held_out"
QUALIFICATION_SEEDS = range(60, 96)
"""The seeds on which a subject qualifies; results are taken on those below.

Every family has variants for them.
"""


def places(count: int, split: Split) -> range:
    """The places of a split's phrasings in a list of them.

    Args:
        count: how many phrasings the list holds; a single one is of every split.
        split: whose.
    """
    if count == 1 or split in ("all", "private"):
        return range(count)
    return range(split == "held_out", count, 2)


def place(count: int, split: Split, at: int) -> int:
    """The place of the phrasing that a walk through a split comes to, around and around.

    Args:
        count: how many phrasings the list holds.
        split: whose.
        at: the step of the walk, from 0.
    """
    held = places(count, split)
    return held[at % len(held)]


TEXTS = 4
"""The version of today's texts; a sample states it as the fact ``texts``."""

PHRASINGS = 2
"""The version in which the paper's families got further phrasings of their policies."""

HOSTS = 3
"""The version in which invented hosts moved to the domains that RFC 2606 reserves in .com, .net and .org."""

WORDED = 4
"""The version in which the other three wordings got more than two phrasings in English."""


def version(facts: Mapping[str, Any]) -> int:
    """Return the version of a sample's texts.

    Args:
        facts: the sample's metadata; the versions before 3 did not state theirs.
    """
    return int(facts.get("texts", PHRASINGS if "policy_phrasing" in facts else 1))
