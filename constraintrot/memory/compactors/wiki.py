"""A wiki as the memory of a conversation: a query of it and the recent turns are the new context.

What leaves the context becomes a source, the writer (role ``wiki_writer``) says what it changes
in the pages, and code does the six writes. The agent is then as after a restart: it sees what a
query on its recent turns gives, within the budget, and nothing else of what went. The vault is
kept in the message's metadata, so that a conversation carries its own state.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    CompactionStrategy,
    Model,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, budget_tokens, compactor
from constraintrot.compactors.turns import (
    InPlace,
    OlderTurns,
    Span,
    flat,
    state_in,
    state_message,
    summarizer,
)
from constraintrot.memory.wiki import Memory, Source, Wiki
from constraintrot.memory.wiki.query import query
from constraintrot.memory.wiki.roles import ROLE, written

STATE: Final = "wiki"
DEFAULT_WORDS: Final = 300
# The same conversation makes the same vault, whenever it is held.
_TIME: Final = "2026-01-01T00:00:00Z"


class WikiCompaction(OlderTurns):
    """Replace the older turns by what a query of the wiki gives that they went into.

    Args:
        budget: tokens of what the query gives at most.
        threshold: size at which Inspect compacts.
    """

    def __init__(self, *, budget: int, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold)
        self.budget = budget

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Ingest the older turns, and put what the wiki has on the recent ones in their place."""
        held, new = state_in(STATE, flat(span.older))
        wiki = Wiki(Memory(held["files"])) if held else Wiki.create(Memory(), time=_TIME)
        if new:
            await _learn(wiki, model, span.protected, new, tools)
        question = "\n".join(one.text for one in span.recent if one.role == "user")
        answer = query(wiki.store, question, budget=self.budget, schema=False)
        assert isinstance(wiki.store, Memory)
        message = state_message(STATE, answer.render(), files=dict(wiki.store.texts))
        return [message], message


async def _learn(
    wiki: Wiki, model: Model, protected: list[ChatMessage], span: list[ChatMessage],
    tools: list[ToolInfo],
) -> None:  # fmt: skip
    number = sum(one.operation == "ingest" for one in wiki.log()) + 1
    text = "\n\n".join(f"{one.role}: {one.text}" for one in span if one.text)
    source = Source(f"Conversation part {number}", text, "transcript")
    writer = get_model(role=ROLE, default=summarizer(model))
    plan, cost = await written(writer, wiki.store, source, [*protected, *span], tools)
    done = wiki.ingest(source, plan, time=_TIME)
    told: dict[str, Any] = {
        "source": done.source, "pages": list(done.pages), "refused": list(done.refused),
        "unlinked": list(done.unlinked), "graph": wiki.graph().plain(),
        "cost": {"writer": asdict(cost)},
    }  # fmt: skip
    transcript().info(told, source=STATE)


@compactor("wiki", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def wiki(settings: Settings) -> CompactionStrategy:
    """A wiki that the older turns are ingested into; what a query of it gives is kept."""
    assert settings.budget_words is not None
    return WikiCompaction(budget=budget_tokens(settings.budget_words), threshold=settings.threshold)
