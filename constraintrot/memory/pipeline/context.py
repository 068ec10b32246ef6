"""The request on its way through a pipeline, and the memory of its session."""

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
from constraintrot.errors import ConstraintRotError
from constraintrot.memory.pipeline.budget import DEFAULT, Budget
from constraintrot.memory.pipeline.memo import Memo, length_of, parameters_of
from constraintrot.tokens import count

# Metadata key of a message's budget category, where a caller sets one.
CATEGORY: Final = "category"
_MOST_SESSIONS: Final = 4096


class PipelineOverflowError(ConstraintRotError, ValueError):
    """A request cannot be brought under its budget without cutting what must stay whole."""


@dataclass(frozen=True)
class Compaction:
    """A compaction or a hand-off that ran.

    Attributes:
        kind: ``compaction`` or ``handoff``.
        shown: the messages that were compacted.
        kept: what came out.
        summary: the summary's message, where there is one.
    """

    kind: str
    shown: tuple[ChatMessage, ...]
    kept: tuple[ChatMessage, ...]
    summary: ChatMessage | None


@dataclass
class Session:
    """A pipeline's memory of one conversation.

    Attributes:
        id: names the conversation.
        covered: the messages that ``compacted`` stands for, as the client sends them.
        compacted: what replaces them; None before the first compaction.
        compactions: how many ran since the last hand-off.
        handoffs: how many hand-offs ran.
        history: all of them, in order.
        vault: personal data by the placeholder that stands for it.
        numbers: of placeholders; each is given once, whoever asks at the same time.
        masked: messages as they were masked, by the manifest that they were masked under.
    """

    id: str
    covered: tuple[ChatMessage, ...] = ()
    compacted: list[ChatMessage] | None = None
    compactions: int = 0
    handoffs: int = 0
    history: list[Compaction] = field(default_factory=list[Compaction])
    vault: dict[str, str] = field(default_factory=dict[str, str])
    numbers: Iterator[int] = field(default_factory=lambda: count_from(1))
    masked: tuple[str, Memo[ChatMessage, ChatMessage] | None] = ("", None)

    def resumed(self, messages: Sequence[ChatMessage]) -> list[ChatMessage] | None:
        """The messages with what was compacted in its compacted form.

        Returns None where the client's history is no longer what was compacted; what
        replaced it is then forgotten, for it may say what was taken back.
        """
        if self.compacted is None:
            return list(messages)
        given = messages[: len(self.covered)]
        if len(given) == len(self.covered) and all(map(same, given, self.covered)):
            return [*self.compacted, *messages[len(given) :]]
        self.covered, self.compacted, self.compactions = (), None, 0
        return None

    def replace(self, covered: Sequence[ChatMessage], ran: Compaction) -> None:
        """Keep what a compaction made of the client's messages."""
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
        """A conversation, new if it is not known; one without a name is remembered by nobody."""
        if not id:
            return Session(id)
        found = self._known.setdefault((tenant, id), Session(id))
        self._known.move_to_end((tenant, id))
        while len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)
        return found


@dataclass(frozen=True)
class Context:
    """A request on its way through the layers; a layer gives back another one.

    Attributes:
        messages: the conversation, without the pins.
        tools: the tools on offer.
        session: what is remembered of the conversation.
        tenant: on whose behalf it is; nothing is shared between tenants.
        manifest: hash over the pins that are in force; empty without pins.
        pinned: the pins' texts, which come to ``messages`` when all layers are done.
        pinned_tokens: what they take up of the budget, repeated ones twice.
        budget: the token budget.
        model: the agent's model, for layers that ask one; None where there is none.
        compact_now: compact the history, whatever its size.
        layers: names the pipeline's layers, which no other pipeline has unless they are the same.
        settings: what else the answer depends on, as a text: how the model is to sample, which
            tools it may choose; None of a request that no cache may answer.
        chosen: name of the tool that the answer must call; empty for none. No layer leaves it out.
        client: the messages as the client sent them, once compacted history was resumed.
        answer: an answer from a cache; no model is asked then.
        backend: the backend that affinity chose.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolInfo, ...]
    session: Session
    tenant: str = ""
    manifest: str = ""
    pinned: tuple[str, ...] = ()
    pinned_tokens: int = 0
    budget: Budget = DEFAULT
    model: Model | None = None
    compact_now: bool = False
    layers: str = ""
    settings: str | None = ""
    chosen: str = ""
    client: tuple[ChatMessage, ...] | None = None
    answer: ModelOutput | None = None
    backend: str | None = None

    @property
    def query(self) -> str:
        """The last request of the user's."""
        return last_user_text(self.messages)

    @property
    def tokens(self) -> int:
        """Size of the messages and the tools' definitions; the pins are not in it."""
        return self.message_tokens + self.tools_tokens

    @cached_property
    def message_tokens(self) -> int:
        """Size of the messages."""
        return size(self.messages)

    @cached_property
    def tools_tokens(self) -> int:
        """Size of the tools' definitions."""
        return sum(map(tool_tokens, self.tools))

    def sized_as(self, before: Context) -> Context:
        """This context, its size counted from that of the one before, for what is another."""
        if self is before:
            return self
        # Where a cached property keeps its value; counting all anew would cost more than most layers.
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
    """The effect of one layer on a request.

    Attributes:
        layer: its name.
        changed: whether the request is another one after it.
        tokens_before: size of the messages and tools before.
        tokens_after: and after.
        seconds: how long it took, calls of models included.
        notes: what else it says.
    """

    layer: str
    changed: bool
    tokens_before: int
    tokens_after: int
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict[str, Any])


def conversation(messages: Sequence[ChatMessage]) -> str:
    """Return the name of a conversation without one: the id of its first message.

    A system message may be the same object in many conversations, so it is the first of the
    others, where there is one.
    """
    first = next((m for m in messages if m.role != "system"), None) or next(iter(messages), None)
    return first.id or "" if first else ""


def same(one: ChatMessage, other: ChatMessage) -> bool:
    """Return whether two messages say the same, whatever their ids and metadata."""
    if one is other:
        return True
    calls = [
        m.tool_calls if isinstance(m, ChatMessageAssistant) else None for m in (one, other)
    ]  # fmt: skip
    return one.role == other.role and one.content == other.content and calls[0] == calls[1]


def size(messages: Sequence[ChatMessage]) -> int:
    """Tokens of the messages' texts and of their calls' arguments."""
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
