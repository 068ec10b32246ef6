"""What scripted models answer as Reflector, Curator and rewriter of a playbook.

The Reflector takes each line of the summary that the script would write as an insight, so a
style that keeps or drops policies does so here too. The Curator adds every insight that the
playbook does not hold word for word. The rewriter writes its notes and what is new, less the
oldest lines where that is over its word budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from constraintrot.playbook import prompts
from constraintrot.playbook.bullets import PlaybookError, read_rendered

_WORDS = re.compile(r"Use at most (\d+) words")


def asked(text: str) -> bool:
    """Whether a message is a question of a playbook's roles."""
    return text.startswith((prompts.REFLECTOR, prompts.CURATOR, prompts.REWRITER))


def answer(text: str, summary: str) -> str:
    """The answer to such a question.

    Args:
        text: the question.
        summary: the script's summary of the messages before it.
    """
    if text.startswith(prompts.CURATOR):
        return _curated(text)
    lines = [line for line in summary.splitlines() if line.strip()]
    if text.startswith(prompts.REWRITER):
        return "\n".join(_within([*prompts.notes_in(text).splitlines(), *lines], text))
    insights = [{"text": line, "kind": "fact", "section": "conversation"} for line in lines]
    return json.dumps({"insights": insights, "used": []}, ensure_ascii=False)


def _curated(text: str) -> str:
    try:
        known = {bullet.text for bullet in read_rendered(prompts.playbook_in(text))}
    except PlaybookError:
        known = set[str]()
    operations = [
        {"op": "ADD", **one} for one in prompts.insights_in(text) if one["text"] not in known
    ]
    return json.dumps({"operations": operations}, ensure_ascii=False)


def _within(lines: Sequence[str], question: str) -> list[str]:
    """The latest lines that the word budget holds, each once."""
    found = _WORDS.search(question)
    left = int(found[1]) if found else None
    kept: list[str] = []
    for line in reversed(dict.fromkeys(filter(str.strip, lines))):
        left = None if left is None else left - len(line.split())
        if left is not None and left < 0:
            break
        kept.insert(0, line)
    return kept
