"""Helpers of the compactors: chat messages as turns, and the summary message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model, get_model

# Number of turns at the end of the history that no compactor of this package changes.
RECENT_TURNS = 2
SUMMARY = "summary"
# In a summary's metadata: how often the summarizer wrote nothing before it.
RETRIES = "empty_summaries"
_FRAME = re.compile(
    r"""\[Summary\ of\ the\ conversation\ so\ far\]\n?(?P<ours>.*)
      | \[CONTEXT\ COMPACTION\ SUMMARY\]\n\n(?:[^\n]*:\n\n)?(?P<theirs>.*?)
        (?:\n\nPlease\ continue\ working\ on\ this\ task[^\n]*)?\Z""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Partition:
    """A history, split.

    Attributes:
        protected: system messages and the sample's input, which are never compacted.
        turns: the turns after them.
    """

    protected: list[ChatMessage]
    turns: list[list[ChatMessage]]

    def split(
        self, recent: int = RECENT_TURNS
    ) -> tuple[list[list[ChatMessage]], list[ChatMessage]]:
        """The older turns, and the messages of the last ``recent`` turns."""
        at = max(0, len(self.turns) - recent)
        return self.turns[:at], flat(self.turns[at:])


def partition(messages: list[ChatMessage]) -> Partition:
    """Split a history into its protected messages and its turns.

    A turn starts at a user message, or at an assistant message that follows
    another. So a tool call, its result and the reply are in one turn.
    """
    protected = [m for m in messages if m.role == "system" or m.source == "input"]
    turns: list[list[ChatMessage]] = []
    before: ChatMessage | None = None
    for message in messages:
        if message.role == "system" or message.source == "input":
            continue
        after_reply = isinstance(before, ChatMessageAssistant) and not before.tool_calls
        starts = message.role == "user" or (message.role == "assistant" and after_reply)
        if starts or not turns:
            turns.append([])
        turns[-1].append(message)
        before = message
    return Partition(protected, turns)


def flat(turns: list[list[ChatMessage]]) -> list[ChatMessage]:
    """The messages of turns, in order."""
    return [message for turn in turns for message in turn]


def summary_message(text: str, retries: int = 0) -> ChatMessageUser:
    """A summary as it stands in the compacted history, in the user's role.

    Args:
        text: what the summarizer wrote.
        retries: how often it wrote nothing before.
    """
    return ChatMessageUser(
        content=f"[Summary of the conversation so far]\n{text}",
        metadata={SUMMARY: True, RETRIES: retries},
    )


def summary_body(text: str) -> str:
    """What the summarizer wrote, without what our strategies or Inspect's put around it."""
    found = _FRAME.match(text)
    return text if found is None else found["ours"] or found["theirs"] or ""


def summarizer(agent: Model) -> Model:
    """The model of role ``summarizer``; the agent's model if that role is not given."""
    return get_model(role="summarizer", default=agent)
