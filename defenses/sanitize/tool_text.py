"""A tool's text without the sentences that pose as an order or an authority."""

from __future__ import annotations

from constraintrot.rule_text import orders as cues

_MARKERS = {kind: f"[removed from this tool result: {kind}]" for kind in cues.KINDS}


def sanitize(text: str) -> tuple[str, list[str]]:
    """A text without what poses as an order or an authority.

    Args:
        text: a tool's result. One without such sentences comes back as it is.

    Returns:
        The text, each such sentence replaced by a marker, and what each posed as.
    """
    parts = cues.parts(text)
    # A marker speaks of the summarizer too, but is nothing to neutralise.
    read = ("" if part.strip() in _MARKERS.values() else part for part in parts)
    kinds = cues.kinds_of(list(read))
    if not any(kinds):
        return text, []
    written = (
        part if kind is None else _MARKERS[kind] + _trailing(part)
        for part, kind in zip(parts, kinds, strict=True)
    )
    return "".join(written), [kind for kind in kinds if kind]


def _trailing(part: str) -> str:
    """The blanks at a part's end, so that lines stay lines."""
    return part[len(part.rstrip()) :]
