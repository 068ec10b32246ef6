"""The base class of this package's compactors, turns, and the summary message."""

import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    CompactionStrategy,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import RECENT_TURNS
from constraintrot.episode.model_output import withheld
from constraintrot.episode.scaffold.review import without_thought
from constraintrot.errors import EpisodeError, NoSummaryError

InPlace: TypeAlias = tuple[list[ChatMessage], ChatMessageUser | None]
SUMMARY = "summary"
# In a summary's metadata: how often the summarizer wrote nothing before it.
RETRIES = "empty_summaries"
CUT = "cut_summaries"
SUMMARIZER_OVERFLOWED = (
    "the summarizer's context window overflowed; give it a shorter context_tokens"
)
_FRAME = re.compile(
    r"""\[Summary\ of\ the\ conversation\ so\ far\]\n?(?P<ours>.*)
      | \[CONTEXT\ COMPACTION\ SUMMARY\]\n\n(?:[^\n]*:\n\n)?(?P<theirs>.*?)
        (?:\n\nPlease\ continue\ working\ on\ this\ task[^\n]*)?\Z""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Span:
    """A history as a compactor of older turns sees it; at least one turn is older."""

    protected: list[ChatMessage]
    older: list[list[ChatMessage]]
    recent: list[ChatMessage]


class OlderTurns(CompactionStrategy):
    """Keep the protected messages and the recent turns; subclasses replace the older turns."""

    def __init__(
        self,
        *,
        threshold: int | float = 0.9,
        kind: Literal["summary", "trim"] = "summary",
        recent: int = RECENT_TURNS,
    ) -> None:
        super().__init__(type=kind, threshold=threshold, memory=False)
        self.recent = recent

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> InPlace:
        """Replace the older turns, if there are any."""
        parts = partition(messages)
        span = Span(parts.protected, *parts.split(self.recent))
        if not span.older:
            return messages, None
        kept, summary = await self.replaced(model, span, tools)
        return [*span.protected, *kept, *span.recent], summary

    @abstractmethod
    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Return the messages in place of the older turns, and the summary if one was written."""


@dataclass(frozen=True)
class Partition:
    """A history split into the messages that are never compacted and the turns after them."""

    protected: list[ChatMessage]
    turns: list[list[ChatMessage]]

    def split(
        self, recent: int = RECENT_TURNS
    ) -> tuple[list[list[ChatMessage]], list[ChatMessage]]:
        """Return the older turns, and the messages of the last ``recent`` turns."""
        at = max(0, len(self.turns) - recent)
        return self.turns[:at], flat(self.turns[at:])


def partition(messages: list[ChatMessage]) -> Partition:
    """Split a history into its protected messages and its turns.

    A turn starts at a user message, or at an assistant message that follows one without
    calls. So a tool call, its result and the reply are in one turn.
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
    """Return the messages of turns, in order."""
    return [message for turn in turns for message in turn]


def summary_message(text: str, retries: int = 0) -> ChatMessageUser:
    """Return a summary's message, in the user's role, after ``retries`` blank summaries."""
    return ChatMessageUser(
        content=f"[Summary of the conversation so far]\n{text}",
        metadata={SUMMARY: True, RETRIES: retries},
    )


def state_message(key: str, text: str, **state: Any) -> ChatMessageUser:
    """Return a summary message that carries its own state in its metadata, under a key."""
    message = summary_message(text)
    held = {"text": message.text, **state}
    return message.model_copy(update={"metadata": {**(message.metadata or {}), key: held}})


def state_in(
    key: str, messages: Iterable[ChatMessage]
) -> tuple[dict[str, Any] | None, list[ChatMessage]]:
    """Return the last state that a message holds under a key, and the messages without one."""
    held: dict[str, Any] | None = None
    new: list[ChatMessage] = []
    for message in messages:
        state: dict[str, Any] | None = (message.metadata or {}).get(key)
        if state is None:
            new.append(message)
            continue
        held = state
        # Inspect may have merged the next message into it for a provider.
        rest = message.text.removeprefix(state["text"]).strip()
        if rest:
            new.append(ChatMessageUser(content=rest))
    return held, new


def summary_body(text: str) -> str:
    """Return the summarizer's text without the frame of this package's or Inspect's strategies."""
    found = _FRAME.match(text)
    return text if found is None else found["ours"] or found["theirs"] or ""


def summarizer(agent: Model) -> Model:
    """The model of role ``summarizer``; the agent's model if that role is not given."""
    return get_model(role="summarizer", default=agent)


ATTEMPTS = 2


def check_fits(output: ModelOutput) -> None:
    """Raise EpisodeError if the summarizer's window overflowed, which asking again cannot mend."""
    if output.stop_reason == "model_length":
        raise EpisodeError(SUMMARIZER_OVERFLOWED)


async def asked(
    ask: Callable[[], Awaitable[ModelOutput]], read: Callable[[ModelOutput], str]
) -> tuple[str, int]:
    """Return a summary, and the number of blank, refused or filtered answers before it.

    Each of these is an event of the transcript (source ``empty summary``). A summary's
    ``<think>`` part is left out.

    Raises:
        NoSummaryError: the summarizer wrote nothing even when asked again.
        EpisodeError: the summarizer's context window overflowed.
    """
    reason = ""
    for attempt in range(ATTEMPTS):
        output = await ask()
        check_fits(output)
        text = without_thought(read(output))
        if text and not withheld(output):
            return text, attempt
        reason = str(output.stop_reason)
        transcript().info({"attempt": attempt + 1, "stop_reason": reason}, source="empty summary")
    raise NoSummaryError(
        f"the summarizer wrote no summary (stop reason {reason}), when asked again too, which is no"
        " decay; a model that reasons first may need a larger --max-tokens"
    )
