"""A request on its way through a pipeline, its token budget, and the memory of its session."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count as count_from
from typing import Any, Final

from inspect_ai.model import ChatMessage, ChatMessageAssistant, Model, ModelOutput
from inspect_ai.tool import ToolInfo

from constraintrot.episode.messages import last_user_text
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.memory.pipeline.memo import Memo, length_of, parameters_of
from constraintrot.tokens import count


@dataclass(frozen=True)
class Budget:
    """The largest number of tokens, in all and by category."""

    total: int = 100_000  # the whole input; the rest of the window is for the answer
    system: int = 4_000  # system messages; they are never cut
    tools: int = 8_000  # definitions of tools
    most_tools: int = 12  # the number of tools
    memory: int = 3_000  # entries of a memory
    most_memories: int = 10  # the number of these entries
    retrieval: int = 15_000  # retrieved texts, including results of tools
    most_retrieved: int = 8  # the number of retrieved texts
    domain: int = 2_000  # texts that a domain's enrichment adds
    history: int = 60_000  # all other messages
    query: int = 8_000  # the request; it is never cut

    def __post_init__(self) -> None:
        parts = self.system + self.tools + self.memory + self.retrieval + self.domain
        if min(vars(self).values()) < 1:
            raise ParameterError("every part of a budget is at least 1")
        if parts + self.history + self.query > self.total:
            raise ParameterError(
                f"the parts of the budget take {parts + self.history + self.query} tokens, which"
                f" is more than its total of {self.total}"
            )


DEFAULT = Budget()
# Of the layers' own compactor: turns that stay, and tokens of the summary of all others.
RECENT_TURNS: Final = 10
MOST_SUMMARY: Final = 2_000


# Metadata key of a message's budget category, if a caller sets one.
CATEGORY: Final = "category"
_MOST_SESSIONS: Final = 4096


class PipelineOverflowError(ConstraintRotError, ValueError):
    """A request cannot be brought under its budget without cutting what must stay whole."""


@dataclass(frozen=True)
class Compaction:
    """A compaction or a hand-off that ran."""

    kind: str  # ``compaction`` or ``handoff``
    shown: tuple[ChatMessage, ...]
    kept: tuple[ChatMessage, ...]  # what came out
    summary: ChatMessage | None  # the summary's message, if there is one


@dataclass
class Session:
    """A pipeline's memory of one conversation."""

    id: str
    covered: tuple[ChatMessage, ...] = ()  # the client's messages that ``compacted`` replaces
    # Their replacement; None before the first compaction.
    compacted: list[ChatMessage] | None = None
    compactions: int = 0  # the number of compactions since the last hand-off
    handoffs: int = 0
    # All compactions and hand-offs, in order.
    history: list[Compaction] = field(default_factory=list[Compaction])
    # Personal data by the placeholder that stands for it.
    vault: dict[str, str] = field(default_factory=dict[str, str])
    # Of placeholders; each is given once, in concurrent requests too.
    numbers: Iterator[int] = field(default_factory=lambda: count_from(1))
    # The manifest and the masked messages of the last masking.
    masked: tuple[str, Memo[ChatMessage, ChatMessage] | None] = ("", None)

    def resumed(self, messages: Sequence[ChatMessage]) -> list[ChatMessage] | None:
        """Return the messages, with the compacted ones in their compacted form.

        Returns None if the client's history is no longer the compacted one. The replacement is then
        dropped, because it may hold what the client took back.
        """
        if self.compacted is None:
            return list(messages)
        given = messages[: len(self.covered)]
        if len(given) == len(self.covered) and all(map(same, given, self.covered)):
            return [*self.compacted, *messages[len(given) :]]
        self.covered, self.compacted, self.compactions = (), None, 0
        return None

    def replace(self, covered: Sequence[ChatMessage], ran: Compaction) -> None:
        self.covered, self.compacted = tuple(covered), list(ran.kept)
        self.history.append(ran)
        if ran.kind == "handoff":
            self.compactions, self.handoffs = 0, self.handoffs + 1
        else:
            self.compactions += 1


class Sessions:
    """The conversations of a pipeline, by tenant and id; the longest unused are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def get(self, tenant: str, id: str) -> Session:
        """Return a conversation, or a new one; a conversation without an id is not remembered."""
        if not id:
            return Session(id)
        found = self._known.setdefault((tenant, id), Session(id))
        self._known.move_to_end((tenant, id))
        while len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)
        return found


@dataclass(frozen=True)
class Context:
    """A request on its way through the layers; a layer gives back another one."""

    messages: tuple[ChatMessage, ...]  # the conversation, without the pins
    tools: tuple[ToolInfo, ...]
    session: Session
    tenant: str = ""  # the tenant of the request; nothing is shared between tenants
    manifest: str = ""  # hash over the pins that are in force; empty without pins
    # The pins' texts, which are added to ``messages`` after all layers.
    pinned: tuple[str, ...] = ()
    pinned_tokens: int = 0  # the pins' tokens; repeated pins count twice
    budget: Budget = DEFAULT
    model: Model | None = None  # the agent's model, for layers that ask one, if there is one
    compact_now: bool = False  # compact the history regardless of its size
    layers: str = ""  # names the pipeline's layers; equal only if the layers are the same objects
    # Further conditions of the answer as a text, such as sampling and choice of tools; None if no
    # cache may answer the request.
    settings: str | None = ""
    chosen: str = ""  # name of the tool that the answer must call, if any. No layer removes it.
    # The messages as the client sent them, after compacted history was resumed.
    client: tuple[ChatMessage, ...] | None = None
    answer: ModelOutput | None = None  # an answer from a cache, for which no model is asked
    backend: str | None = None  # the backend that affinity chose

    @property
    def query(self) -> str:
        return last_user_text(self.messages)

    @property
    def tokens(self) -> int:
        """Tokens of the messages and the tools' definitions, without the pins."""
        return self.message_tokens + self.tools_tokens

    @cached_property
    def message_tokens(self) -> int:
        return size(self.messages)

    @cached_property
    def tools_tokens(self) -> int:
        return sum(map(tool_tokens, self.tools))

    def sized_as(self, before: Context) -> Context:
        """Return this context, its size derived from the one before by counting the changes."""
        if self is before:
            return self
        # Cached properties keep their values here. Counting anew would cost more than most layers.
        known, was, now = vars(self), before.messages, self.messages
        if self.tools is before.tools:
            known["tools_tokens"] = before.tools_tokens
        if now is was:
            known["message_tokens"] = before.message_tokens
        elif len(now) == len(was):
            others = [(new, old) for new, old in zip(now, was, strict=True) if new is not old]
            moved = size([new for new, _ in others]) - size([old for _, old in others])
            known["message_tokens"] = before.message_tokens + moved
        return self


@dataclass(frozen=True)
class Trace:
    """The effect of one layer on a request."""

    layer: str
    changed: bool
    tokens_before: int  # tokens of messages and tools before the layer
    tokens_after: int  # the same after it
    seconds: float  # its duration, model calls included
    notes: dict[str, Any] = field(default_factory=dict[str, Any])  # further facts about its run


def conversation(messages: Sequence[ChatMessage]) -> str:
    """Return the id of a conversation's first message, as the name of an unnamed conversation.

    A system message may be the same object in many conversations, so the first other message is
    used if there is one.
    """
    first = next((m for m in messages if m.role != "system"), None) or next(iter(messages), None)
    return first.id or "" if first else ""


def same(one: ChatMessage, other: ChatMessage) -> bool:
    """Return whether two messages say the same, whatever their ids and metadata."""
    if one is other:
        return True
    calls, others = (getattr(m, "tool_calls", None) for m in (one, other))
    return one.role == other.role and one.content == other.content and calls == others


def size(messages: Sequence[ChatMessage]) -> int:
    """Return the tokens of the messages' texts and of their calls' arguments."""
    return sum(map(_size, messages))


def _count(message: ChatMessage) -> int:
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        said = [str(v) for call in message.tool_calls for v in call.arguments.values()]
        return count("\n".join([message.text, *said]))
    return count(message.text)


def _define(tool: ToolInfo) -> str:
    return f"{tool.name}: {tool.description}\n{tool.parameters.model_dump_json()}"


_size: Memo[ChatMessage, int] = Memo(_count, length_of)
# A tool's definition as text, the same for the same definition.
definition: Memo[ToolInfo, str] = Memo(_define, parameters_of)
# Tokens of a tool's definition.
tool_tokens: Memo[ToolInfo, int] = Memo(lambda tool: count(_define(tool)), parameters_of)
