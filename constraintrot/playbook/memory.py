"""Memories that learn from what happened: a playbook by deltas, and notes rewritten as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from inspect_ai.model import ChatMessage, ChatMessageUser, Model, get_model

from constraintrot import tokens
from constraintrot.playbook import prompts
from constraintrot.playbook.playbook import Playbook
from constraintrot.playbook.roles import MAX_TOKENS, Cost, ask, curate, reflect


class Memory(Protocol):
    """What an agent is shown of earlier work, and how it learns."""

    def render(self) -> str:
        """The memory as it stands in a prompt."""
        ...

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        """Learn from messages that end before the question.

        Args:
            messages: what happened.
            feedback: what the environment said of the outcome; may be empty.
            source: what the messages are called.
        """
        ...


class Nothing:
    """No memory; the baseline."""

    def render(self) -> str:
        return ""

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        return Cost()


class PlaybookMemory:
    """A playbook that a Reflector and a Curator add to (ACE).

    Args:
        playbook: the playbook.
        reflector: the model of that role, or its name.
        curator: the model of that role, or its name.
        rounds: how often the Reflector is asked of one trajectory at most; the paper has 5.
    """

    def __init__(
        self, playbook: Playbook, reflector: str | Model, curator: str | Model, rounds: int = 1
    ) -> None:
        self.playbook, self.rounds = playbook, rounds
        self.reflector, self.curator = get_model(reflector), get_model(curator)

    def render(self) -> str:
        return self.playbook.render()

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        text = self.playbook.render()
        found = await reflect(self.reflector, messages, text, feedback, rounds=self.rounds)
        delta, cost = await curate(self.curator, text, found)
        self.playbook.apply(delta, source=source)
        return found.cost.plus(cost)


class RewrittenMemory:
    """Notes that a model rewrites as a whole at each step (Dynamic Cheatsheet, cumulative).

    Args:
        rewriter: the model, or its name.
        words: word budget of the notes, in words; None for any number.
    """

    def __init__(self, rewriter: str | Model, words: int | None = None) -> None:
        self.rewriter, self.words = get_model(rewriter), words
        self.notes = ""

    def render(self) -> str:
        return self.notes

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        said = [ChatMessageUser(content=f"Feedback: {feedback}")] if feedback else []
        question = ChatMessageUser(content=prompts.rewrite(self.notes, self.words))
        # All notes have to fit into the answer, or the limit would be the collapse.
        limit = MAX_TOKENS + (3 * self.words if self.words else 2 * tokens.count(self.notes))
        text, cost = await ask(self.rewriter, [*messages, *said, question], [], limit)
        self.notes = text.strip()
        return cost
