"""Compactors that keep a playbook, a wiki, or notes that a model rewrites as a whole.

The message in place of the older turns carries the playbook or the vault in its metadata, so
a conversation carries its own state.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionStrategy,
    Model,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, budget_tokens, compactor, prompts
from constraintrot.compactors.turns import (
    InPlace,
    OlderTurns,
    Span,
    flat,
    state_in,
    state_message,
    summarizer,
    summary_body,
    summary_message,
)
from constraintrot.errors import EpisodeError
from constraintrot.memory.playbook.playbook import Playbook, PlaybookOverflowError
from constraintrot.memory.playbook.prompts import rewrite
from constraintrot.memory.playbook.refinement import (
    APPEND_ONLY,
    COUNTERS_ONLY,
    LAZY,
    PROACTIVE,
    Applied,
    Refinement,
)
from constraintrot.memory.playbook.roles import ask, curate, reflect, role
from constraintrot.memory.playbook.similarity import Similarity, minilm
from constraintrot.memory.wiki import Memory, Source, Wiki
from constraintrot.memory.wiki.roles import ROLE, written

PLAYBOOK: Final = "playbook"
WIKI: Final = "wiki"
HEADING: Final = "Playbook: what is known so far, in bullets.\n"


class PlaybookCompaction(OlderTurns):
    """A compactor that replaces the older turns by a playbook and adds to it at each compaction.

    The arguments are those of ``Playbook``, and the size at which Inspect compacts.
    """

    def __init__(
        self, *, budget: int | None = None, refinement: Refinement = PROACTIVE,
        similarity: Similarity | None = None, pins: Callable[[], str] | None = None,
        threshold: int | float = 0.9,
    ) -> None:  # fmt: skip
        super().__init__(threshold=threshold)
        self.budget, self.refinement, self.pins = budget, refinement, pins
        self.similarity = similarity

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        try:
            playbook = Playbook(
                budget=self.budget, refinement=self.refinement, similarity=self.similarity,
                pins=self.pins,
            )  # fmt: skip
            held, new = state_in(PLAYBOOK, flat(span.older))
            if held is not None:
                playbook.fill(held["learned"])
            if new:
                await self._learn(playbook, model, [*span.protected, *new], tools)
        except PlaybookOverflowError as error:
            raise EpisodeError(f"the playbook overflows: {error}") from error
        message = playbook_message(playbook)
        return [message], message

    async def _learn(
        self, playbook: Playbook, model: Model, shown: list[ChatMessage], tools: list[ToolInfo]
    ) -> None:
        text = playbook.render()
        reflection = await reflect(role("reflector", model), shown, text, tools=tools)
        delta, cost = await curate(role("curator", model), text, reflection)
        applied = playbook.apply(delta, source=f"compaction {playbook.deltas + 1}")
        record(applied, {"reflector": asdict(reflection.cost), "curator": asdict(cost)}, playbook)


def record(applied: Applied, costs: dict[str, Any], playbook: Playbook) -> None:
    """Log the outcome of a delta in Inspect's transcript (source ``playbook``)."""
    told = {name: value for name, value in asdict(applied).items() if value}
    size = {"bullets": len(playbook.bullets), "tokens": playbook.tokens}
    # A transcript takes JSON, which has no tuples.
    transcript().info(json.loads(json.dumps({**told, **size, "cost": costs})), source=PLAYBOOK)


def playbook_message(playbook: Playbook) -> ChatMessageUser:
    """Return the message that shows a playbook and carries its state in the metadata."""
    return state_message(PLAYBOOK, HEADING + playbook.render(), learned=playbook.plain())


def _made(
    settings: Settings, refinement: Refinement, similarity: Similarity | None = None
) -> CompactionStrategy:
    budget = None
    if refinement.when != "never":
        assert settings.budget_words is not None
        budget = budget_tokens(settings.budget_words)
    return PlaybookCompaction(
        budget=budget, refinement=refinement, similarity=similarity, threshold=settings.threshold
    )


@compactor("playbook", takes=("budget_words",), budget_words=200)
def playbook(settings: Settings) -> CompactionStrategy:
    """Bullets, de-duplicated by words after every delta; constraints are never touched."""
    return _made(settings, PROACTIVE)


@compactor("playbook_lazy", takes=("budget_words",), budget_words=200)
def playbook_lazy(settings: Settings) -> CompactionStrategy:
    """Bullets, de-duplicated by words only when the budget is exceeded."""
    return _made(settings, LAZY)


@compactor("playbook_minilm", takes=("budget_words",), budget_words=200)
def playbook_minilm(settings: Settings) -> CompactionStrategy:
    """Bullets, de-duplicated by embeddings after every delta (extra ``embed``)."""
    return _made(settings, PROACTIVE, minilm())


@compactor("playbook_append")
def playbook_append(settings: Settings) -> CompactionStrategy:
    """Bullets that are only appended, without a budget."""
    return _made(settings, APPEND_ONLY)


@compactor("playbook_counters", takes=("budget_words",), budget_words=200)
def playbook_counters(settings: Settings) -> CompactionStrategy:
    """The paper's pruning: the least helpful bullets are removed, constraints included."""
    return _made(settings, COUNTERS_ONLY)


class RewriteCompaction(OlderTurns):
    """A compactor that replaces the older turns by notes, which a model rewrites as a whole."""

    def __init__(self, *, words: int, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold)
        self.words = words

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        older = flat(span.older)
        notes = [m for m in older if PLAYBOOK in (m.metadata or {})]
        new = [m for m in older if PLAYBOOK not in (m.metadata or {})]
        before = "\n".join(summary_body(one.text) for one in notes)
        question = ChatMessageUser(content=rewrite(before, self.words))
        limit = prompts.max_tokens("tight", self.words)
        text, cost = await ask(
            role("curator", model), [*span.protected, *new, question], tools, limit
        )
        transcript().info({"cost": {"rewriter": asdict(cost)}}, source=PLAYBOOK)
        message = summary_message(text.strip())
        message.metadata = {**(message.metadata or {}), PLAYBOOK: True}
        return [message], message


@compactor("playbook_rewrite", takes=("budget_words",), budget_words=200)
def playbook_rewrite(settings: Settings) -> CompactionStrategy:
    """Notes in place of bullets, rewritten as a whole at each compaction."""
    assert settings.budget_words is not None
    return RewriteCompaction(words=settings.budget_words, threshold=settings.threshold)


# A fixed time, so that the same conversation makes the same vault.
_TIME: Final = "2026-01-01T00:00:00Z"


class WikiCompaction(OlderTurns):
    """A compactor that ingests the older turns into a wiki and shows a query's answer."""

    def __init__(self, *, budget: int, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold)
        self.budget = budget

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        held, new = state_in(WIKI, flat(span.older))
        wiki = Wiki(Memory(held["files"])) if held else Wiki.create(Memory(), time=_TIME)
        if new:
            await _ingested(wiki, model, span.protected, new, tools)
        question = "\n".join(one.text for one in span.recent if one.role == "user")
        answer = wiki.query(question, budget=self.budget, schema=False)
        assert isinstance(wiki.store, Memory)
        message = state_message(WIKI, answer.render(), files=dict(wiki.store.texts))
        return [message], message


async def _ingested(
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
    transcript().info(told, source=WIKI)


@compactor("wiki", takes=("budget_words",), budget_words=300)
def wiki(settings: Settings) -> CompactionStrategy:
    """A wiki: the older turns are ingested, and the answer to a query takes their place."""
    assert settings.budget_words is not None
    return WikiCompaction(budget=budget_tokens(settings.budget_words), threshold=settings.threshold)
