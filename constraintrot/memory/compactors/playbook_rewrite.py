"""Monolithic rewriting, the playbook's counterpart: one model rewrites all notes at each step."""

from __future__ import annotations

from dataclasses import asdict

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor, prompts
from constraintrot.compactors.turns import (
    InPlace,
    OlderTurns,
    Span,
    flat,
    summary_body,
    summary_message,
)
from constraintrot.memory.compactors.playbook import DEFAULT_WORDS, STATE
from constraintrot.memory.playbook.prompts import rewrite
from constraintrot.memory.playbook.roles import ask, role


class RewriteCompaction(OlderTurns):
    """Replace the older turns by notes that a model rewrites as a whole.

    Args:
        words: word budget of the notes.
        threshold: size at which Inspect compacts.
    """

    def __init__(self, *, words: int, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold)
        self.words = words

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Have the notes rewritten with what is new in the older turns."""
        older = flat(span.older)
        notes = [m for m in older if STATE in (m.metadata or {})]
        new = [m for m in older if STATE not in (m.metadata or {})]
        before = "\n".join(summary_body(one.text) for one in notes)
        question = ChatMessageUser(content=rewrite(before, self.words))
        limit = prompts.max_tokens("tight", self.words)
        text, cost = await ask(
            role("curator", model), [*span.protected, *new, question], tools, limit
        )
        transcript().info({"cost": {"rewriter": asdict(cost)}}, source=STATE)
        message = summary_message(text.strip())
        message.metadata = {**(message.metadata or {}), STATE: True}
        return [message], message


@compactor("playbook_rewrite", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def playbook_rewrite(settings: Settings) -> CompactionStrategy:
    """Notes in place of bullets, rewritten as a whole at each compaction."""
    assert settings.budget_words is not None
    return RewriteCompaction(words=settings.budget_words, threshold=settings.threshold)
