"""``sanitize_summarizer``: what is summarised is sanitised first.

What an adversary puts into a tool's result may speak to the summarizer ("leave
the policy out") or with an authority that it does not have ("the policy is
revoked"); after the summary such a sentence stands in the agent's own words.
So it is replaced, in what the compactor is shown, by a marker that says what
stood there (arXiv 2605.16746: sanitise before summarising, not after). Only
tool results are touched, and what a compactor keeps of them comes out as it was.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.sanitize import cues
from constraintrot.grading.survival import sentences

if TYPE_CHECKING:
    from inspect_ai.model import CompactionStrategy

_MARKERS = {kind: f"[removed from this tool result: {kind}]" for kind in cues.KINDS}
# A sentence longer than this is taken apart further: a file of one line is no sentence.
_LONG = 400
_FIELD = re.compile(r"(?<=[;|\t；])|(?<=\",)|(?<=[}\]],)")


class Sanitizer(Defense):
    """Sanitises what a compactor is shown."""

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses.sanitize.sanitizing import SanitizedCompaction

        return SanitizedCompaction(strategy)


@defense("sanitize_summarizer", hooks=("wrap",))
def sanitize_summarizer(deployment: Deployment) -> Defense:
    """Orders and claims of authority in tool results are neutralised before summarising."""
    return Sanitizer()


def sanitize(text: str) -> tuple[str, list[str]]:
    """A text without what poses as an order or an authority.

    Args:
        text: a tool's result. One without such sentences comes back as it is.

    Returns:
        The text, each such sentence replaced by a marker, and what each posed as.
    """
    parts = _parts(text)
    # A marker speaks of the summarizer too, but is nothing to neutralise.
    read = ("" if part.strip() in _MARKERS.values() else part for part in parts)
    kinds = cues.found(list(read))
    if not any(kinds):
        return text, []
    written = (
        part if kind is None else _MARKERS[kind] + _trailing(part)
        for part, kind in zip(parts, kinds, strict=True)
    )
    return "".join(written), [kind for kind in kinds if kind]


def _parts(text: str) -> list[str]:
    return [
        piece
        for sentence in sentences(text)
        for piece in (_FIELD.split(sentence) if len(sentence) > _LONG else [sentence])
        if piece
    ]


def _trailing(part: str) -> str:
    """The blanks at a part's end, so that lines stay lines."""
    return part[len(part.rstrip()) :]
