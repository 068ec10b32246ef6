"""``sanitize_summarizer``: tool results are sanitised before they are summarised.

An adversary's sentence in a tool's result may speak to the summarizer ("leave the policy
out") or claim an authority that it does not have ("the policy is revoked"); after the
summary it is in the agent's own words. So the compactor is shown a marker in its place,
which says what it was (arXiv 2605.16746: sanitise before summarising, not after). Only
tool results are touched, and those that a compactor keeps come out unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense

if TYPE_CHECKING:
    from inspect_ai.model import CompactionStrategy


class Sanitizer(Defense):
    """Sanitises the tool results that a compactor is shown."""

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses._strategies import SanitizedCompaction

        return SanitizedCompaction(strategy)


@defense("sanitize_summarizer", hooks=("wrap",))
def sanitize_summarizer(deployment: Deployment) -> Defense:
    """Orders and claims of authority in tool results are neutralised before summarising."""
    return Sanitizer()
