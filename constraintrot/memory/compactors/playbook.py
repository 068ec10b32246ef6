"""A playbook as the memory of a conversation: bullets and the recent turns are the new context.

What leaves the context goes to the Reflector, the Curator proposes a delta, and code merges
it (ACE, sections 3.1 and 3.2). The playbook stands in one message, in the user's role; what
is in it is kept in that message's metadata, so that a conversation carries its own state.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, budget_tokens, compactor
from constraintrot.compactors.turns import InPlace, OlderTurns, Span, flat, state_in, state_message
from constraintrot.errors import EpisodeError
from constraintrot.memory.playbook.playbook import Applied, Playbook, PlaybookOverflowError
from constraintrot.memory.playbook.refinement import (
    APPEND_ONLY,
    COUNTERS_ONLY,
    LAZY,
    PROACTIVE,
    Refinement,
)
from constraintrot.memory.playbook.roles import curate, reflect, role
from constraintrot.memory.playbook.similarity import Similarity, minilm

STATE: Final = "playbook"
HEADING: Final = "Playbook: what is known so far, in bullets.\n"
DEFAULT_WORDS: Final = 200


class PlaybookCompaction(OlderTurns):
    """Replace the older turns by a playbook that each compaction adds to.

    Args:
        budget: tokens of the playbook at most, pins included; None for any number.
        refinement: how it is kept compact.
        similarity: measure of likeness; by words unless given.
        pins: gives the text of a section that comes first and that nothing touches, as
            ``Registry.pinned_text``.
        rounds: how often the Reflector is asked of one span.
        threshold: size at which Inspect compacts.
    """

    def __init__(
        self, *, budget: int | None = None, refinement: Refinement = PROACTIVE,
        similarity: Similarity | None = None, pins: Callable[[], str] | None = None,
        rounds: int = 1, threshold: int | float = 0.9,
    ) -> None:  # fmt: skip
        super().__init__(threshold=threshold)
        self.budget, self.refinement, self.pins = budget, refinement, pins
        self.similarity, self.rounds = similarity, rounds

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Bring the older turns into the playbook, and put it in their place.

        Raises:
            EpisodeError: pins and constraints are over the budget.
        """
        try:
            playbook = self.playbook()
            held, new = state_in(STATE, flat(span.older))
            if held is not None:
                playbook.fill(held["learned"])
            if new:
                await self._learn(playbook, model, [*span.protected, *new], tools)
        except PlaybookOverflowError as error:
            raise EpisodeError(f"the playbook overflows: {error}") from error
        message = playbook_message(playbook)
        return [message], message

    def playbook(self) -> Playbook:
        """An empty playbook with these settings."""
        return Playbook(
            budget=self.budget, refinement=self.refinement, similarity=self.similarity,
            pins=self.pins,
        )  # fmt: skip

    async def _learn(
        self, playbook: Playbook, model: Model, shown: list[ChatMessage], tools: list[ToolInfo]
    ) -> None:
        text = playbook.render()
        reflection = await reflect(
            role("reflector", model), shown, text, tools=tools, rounds=self.rounds
        )
        delta, cost = await curate(role("curator", model), text, reflection)
        applied = playbook.apply(delta, source=f"compaction {playbook.deltas + 1}")
        record(applied, {"reflector": asdict(reflection.cost), "curator": asdict(cost)}, playbook)


def record(applied: Applied, costs: dict[str, Any], playbook: Playbook) -> None:
    """Write what became of a delta into Inspect's transcript (source ``playbook``)."""
    told = {name: value for name, value in asdict(applied).items() if value}
    size = {"bullets": len(playbook.bullets), "tokens": playbook.tokens}
    # A transcript takes JSON, which has no tuples.
    transcript().info(json.loads(json.dumps({**told, **size, "cost": costs})), source=STATE)


def playbook_message(playbook: Playbook) -> ChatMessageUser:
    """The message that holds a playbook, and its state in the metadata."""
    return state_message(STATE, HEADING + playbook.render(), learned=playbook.plain())


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


@compactor("playbook", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def playbook(settings: Settings) -> CompactionStrategy:
    """Bullets, de-duplicated by words after every delta; constraints are never touched."""
    return _made(settings, PROACTIVE)


@compactor("playbook_lazy", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def playbook_lazy(settings: Settings) -> CompactionStrategy:
    """The same, de-duplicated only when the budget is exceeded."""
    return _made(settings, LAZY)


@compactor("playbook_minilm", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def playbook_minilm(settings: Settings) -> CompactionStrategy:
    """As ``playbook``, de-duplicated by embeddings (extra ``embed``)."""
    return _made(settings, PROACTIVE, minilm())


@compactor("playbook_append")
def playbook_append(settings: Settings) -> CompactionStrategy:
    """Bullets are only appended, and no budget is kept."""
    return _made(settings, APPEND_ONLY)


@compactor("playbook_counters", takes=("budget_words",), budget_words=DEFAULT_WORDS)
def playbook_counters(settings: Settings) -> CompactionStrategy:
    """The paper's pruning: what helped least goes, a constraint like any other bullet."""
    return _made(settings, COUNTERS_ONLY)
