"""Answers of scripted models in the roles of a playbook and of a wiki.

The Reflector takes each line of the summary that the script would write as an insight, and the
writer of a wiki puts each on one page, so a style that keeps or drops policies does so here too.
An error that the environment reported is a pitfall, and bullets on its tool helped or harmed. The
Curator adds every insight that the playbook does not hold word for word. The rewriter writes its
notes and the new lines, and drops the oldest lines that exceed its word budget.

Two more styles see every line that they are shown as worth keeping: ``hoard``, whose notes grow
without end, and ``collapse``, whose notes grow to ``COLLAPSES_AT`` tokens and are then rewritten
in one sentence, as the paper saw it of a model (Figure 2). They show what the probe sees, and say
nothing about a model.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from constraintrot.memory.playbook import prompts
from constraintrot.memory.playbook.bullets import Bullet, PlaybookError, read_rendered
from constraintrot.memory.wiki.roles import WRITER, source_in
from constraintrot.models.scripted.roles import ROLES, Question, Role
from constraintrot.tokens import count

STYLES = ("hoard", "collapse")
COLLAPSES_AT = 18_000
COLLAPSED = "The team keeps notes on several sites; work carefully and check codes before use."
_WORDS = re.compile(r"Use at most (\d+) words")
_ERROR = re.compile(r"^Environment: error: (?P<form>(?P<tool>\w+) .*)$", re.MULTILINE)
_TOOL = re.compile(r'"tool": "(\w+)"')
_OK = re.compile(r"^Environment: ok$", re.MULTILINE)


_LEARNERS = (prompts.REFLECTOR, prompts.CURATOR, prompts.REWRITER)


def _learned(question: Question) -> str:
    text, style = question.text, question.style
    if text.startswith(prompts.CURATOR):
        return _curated(text)
    lines = list(_worth_keeping(question.before, question.summary, style))
    if text.startswith(prompts.REWRITER):
        return _rewritten([*prompts.notes_in(text).splitlines(), *lines], text, style)
    return _reflected(text, question.before, lines)


def _worth_keeping(before: Sequence[str], summary: Callable[[], str], style: str) -> Iterator[str]:
    transcript = "\n".join(before)
    if errors := [found["form"] for found in _ERROR.finditer(transcript)]:
        yield from errors
    elif style in STYLES:
        yield from (line for line in transcript.splitlines() if line.strip() not in ("", "Noted."))
    elif not _OK.search(transcript):
        yield from (line for line in summary().splitlines() if line.strip())


def _reflected(text: str, before: Sequence[str], lines: Sequence[str]) -> str:
    transcript = "\n".join(before)
    kind = "pitfall" if _ERROR.search(transcript) else "fact"
    insights = [{"text": line, "kind": kind, "section": "conversation"} for line in lines]
    verdict = "helpful" if _OK.search(transcript) else "harmful" if kind == "pitfall" else ""
    used: list[dict[str, str]] = []
    tools = _TOOL.findall(transcript)
    for bullet in _bullets(text) if verdict else ():
        if bullet.text.startswith(tuple(f"{tool} " for tool in tools)):
            used.append({"id": bullet.id, "verdict": verdict})
    return json.dumps({"insights": insights, "used": used}, ensure_ascii=False)


def _curated(text: str) -> str:
    known = {bullet.text for bullet in _bullets(text)}
    operations: list[dict[str, Any]] = [
        {"op": "ADD", **one} for one in prompts.insights_in(text) if one["text"] not in known
    ]
    return json.dumps({"operations": operations}, ensure_ascii=False)


def _bullets(question: str) -> list[Bullet]:
    try:
        return list(read_rendered(prompts.playbook_in(question)))
    except PlaybookError:
        return []


def _rewritten(lines: Sequence[str], question: str, style: str) -> str:
    """Return the latest lines within the word budget, each once."""
    found = _WORDS.search(question)
    left = int(found[1]) if found else None
    kept: list[str] = []
    for line in reversed(dict.fromkeys(filter(str.strip, lines))):
        left = None if left is None else left - len(line.split())
        if left is not None and left < 0:
            break
        kept.append(line)
    text = "\n".join(reversed(kept))
    return COLLAPSED if style == "collapse" and count(text) > COLLAPSES_AT else text


def _written(question: Question) -> str:
    source = source_in(question.text)
    title, _, body = source.partition("\n\n")
    text = body.partition("\n\nAnswer with")[0] if source else question.summary()
    lines = [line for line in text.splitlines() if line.strip()]
    page = {
        "kind": "concept", "title": title.strip() or "Conversation so far",
        "summary": lines[0] if source and lines else "What was said and done so far",
        "add": lines,
    }  # fmt: skip
    return json.dumps({"pages": [page], "analysis": None}, ensure_ascii=False)


ROLES("playbook")(Role(lambda text: text.startswith(_LEARNERS), _learned, STYLES))
ROLES("wiki")(Role(lambda text: text.startswith(WRITER), _written))
