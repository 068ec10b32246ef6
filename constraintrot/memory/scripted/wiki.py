"""Answers of scripted models as the writer of a wiki.

The writer puts each line of the summary that the script would write on one page, so a style
that keeps or drops policies does so here too; a source that it is shown it copies line by line.
"""

from __future__ import annotations

import json

from constraintrot.memory.wiki.roles import WRITER, source_in
from constraintrot.models.scripted.roles import ROLES, Question, Role

PAGE = "Conversation so far"


def asked(text: str) -> bool:
    """Return whether a message is a question to the writer."""
    return text.startswith(WRITER)


def answer(question: Question) -> str:
    """The answer to such a question."""
    source = source_in(question.text)
    title, _, body = source.partition("\n\n")
    text = body.partition("\n\nAnswer with")[0] if source else question.summary()
    lines = [line for line in text.splitlines() if line.strip()]
    page = {
        "kind": "concept", "title": title.strip() or PAGE,
        "summary": lines[0] if source and lines else "What was said and done so far",
        "add": lines,
    }  # fmt: skip
    return json.dumps({"pages": [page], "analysis": None}, ensure_ascii=False)


ROLES("wiki")(Role(asked, answer))
