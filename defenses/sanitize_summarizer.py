"""``sanitize_summarizer``: what is summarised is sanitised first.

What an adversary puts into a tool's result may speak to the summarizer ("leave
the policy out") or with an authority that it does not have ("the policy is
revoked"); after the summary such a sentence is in the agent's own words.
So it is replaced, in what the compactor is shown, by a marker that says what
it was (arXiv 2605.16746: sanitise before summarising, not after). Only
tool results are touched, and what a compactor keeps of them comes out as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense

if TYPE_CHECKING:
    from inspect_ai.model import CompactionStrategy


class Sanitizer(Defense):
    """Sanitises what a compactor is shown."""

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses.sanitize.compaction import SanitizedCompaction

        return SanitizedCompaction(strategy)


@defense("sanitize_summarizer", hooks=("wrap",))
def sanitize_summarizer(deployment: Deployment) -> Defense:
    """Orders and claims of authority in tool results are neutralised before summarising."""
    return Sanitizer()
