"""The layer of a pipeline at which the policy's words are lost, and the record of each compaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from inspect_ai.model import ChatMessage

from constraintrot.compaction.rounds import Round, round_of
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import before_trigger, message_texts
from constraintrot.memory.pipeline.context import Compaction, Session
from constraintrot.rule_text.survival import mentions

COMPACTING: Final = frozenset({"compaction", "handoff"})


class PolicyWatch:
    """Names the layer behind which the policy's words are no longer there.

    Called with a layer's name and the messages as it leaves them, as ``Pipeline.prepare`` does.

    Args:
        episode: whose policy.
        session: the conversation, which knows what was compacted.

    Attributes:
        lost_at: the layer; None where the words are still there.
    """

    def __init__(self, episode: Episode, session: Session) -> None:
        self._episode, self._session = episode, session
        self._held = False
        self.lost_at: str | None = None

    def start(self, messages: Sequence[ChatMessage]) -> None:
        """A request begins, with these messages."""
        self._held = self.holds(messages)

    def __call__(self, layer: str, messages: Sequence[ChatMessage]) -> None:
        """A layer is done."""
        holds = self.holds(messages)
        if self._held and not holds:
            self.lost_at = self.lost_at or self._loser(layer)
        elif holds:
            self.lost_at = None
        self._held = holds

    def _loser(self, layer: str) -> str:
        """The layer itself; of those that compact, which of the two left the policy out."""
        if layer not in COMPACTING:
            return layer
        history = self._session.history
        left_out = (r.kind for r in history if self.holds(r.shown) and not self.holds(r.kept))
        return next(left_out, layer)

    def holds(self, messages: Sequence[ChatMessage]) -> bool:
        """Return whether the policy's words are in the messages, the request left out."""
        episode = self._episode
        texts = message_texts(before_trigger(messages, episode.trigger.messages[-1].text))
        return mentions(texts, episode.policy, episode.variant.slots).kept


def rounds(history: Sequence[Compaction], policy: str) -> list[Round]:
    """Return the records of a session's compactions."""
    return [
        round_of(number, message_texts(ran.shown), message_texts(ran.kept), policy, ran.summary)
        for number, ran in enumerate(history, start=1)
    ]
