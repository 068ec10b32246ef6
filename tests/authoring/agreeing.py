"""An author who agrees to what a draft understood."""

from __future__ import annotations

from constraintrot.authoring.conversation import asked
from constraintrot.authoring.draft import Draft, draft


def agreed(sentence: str, family: str | None = None) -> Draft:
    """Return the draft of a sentence, confirmed where that is asked."""
    made = draft(sentence, family=family)
    if not made.open:
        return made
    assert made.examples, made.open
    return draft(sentence, family=family, answers=asked(made, lambda _: "y"))
