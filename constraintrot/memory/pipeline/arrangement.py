"""Layers that put a request in order: prefix tiers, pins at both ends, roles, backend, and limits.

Prefix tiers put the unchanging parts first, so that a provider's prefix cache hits: global (the
same for every agent), tenant (the same for one agent's sessions), session (this request). Tools are
ordered by name. Parts that change with every request, such as a time of day, are removed from the
first two tiers, except from lines that read as rules and their continuations: a rule's deadline
belongs to it.
"""

import hashlib
import operator
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Content, ContentText

from constraintrot.compactors.turns import SUMMARY, flat, partition
from constraintrot.defenses.pinning.pins import leading
from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.context import (
    CATEGORY,
    Budget,
    Context,
    PipelineOverflowError,
    size,
)
from constraintrot.memory.pipeline.layer import Layer, Ran
from constraintrot.rule_text.said import reads_as_rule
from constraintrot.tokens import count

# Times to the second, and identifiers of requests. A date alone may be part of a rule, so it stays.
VOLATILE: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
# Line ends, except within a sentence: the next line then goes on in lower case.
_ENDS: Final = re.compile(r"(?<=[.!?。！？\n])\n|\n(?![ \t]*[^\W_A-Z])|\n(?=[ \t]*\d+[.)][ \t])")
STRIPPED: Final = "[left out]"


class PrefixTiers(Layer):
    """A layer that orders the prefix tiers, and removes times and request ids from the first two.

    ``common`` is the global tier, the same for every agent; ``tenants`` are the tiers by tenant.
    """

    name = "prefix"
    lengthens = True

    def __init__(self, common: str = "", tenants: dict[str, str] | None = None) -> None:
        self.common, self.tenants = common, tenants or {}

    async def run(self, context: Context) -> Ran:
        tiers: list[ChatMessage] = [
            ChatMessageSystem(content=text, id=f"tier-{kind}")
            for kind, text in (
                ("global", self.common),
                ("tenant", self.tenants.get(context.tenant)),
            )
            if text
        ]
        # Later system messages stay in their place: history is only appended to.
        at = leading(context.messages)
        system = [self._stable(m) for m in context.messages[:at]]
        rest = context.messages[at:]
        tools = tuple(sorted(context.tools, key=lambda tool: tool.name))
        stable = [*tiers, *system]
        notes = {"prefix_tokens": size(stable)}
        if not tiers and all(map(operator.is_, system, context.messages)):
            return replace(context, tools=tools), notes
        return replace(context, messages=(*stable, *rest), tools=tools), notes

    def _stable(self, message: ChatMessage) -> ChatMessage:
        if not isinstance(message.content, str) or not VOLATILE.search(message.text):
            return message
        said = _ENDS.split(message.content)
        kept = [one if reads_as_rule(one) else VOLATILE.sub(STRIPPED, one) for one in said]
        return message.model_copy(update={"content": "\n".join(kept)})


ABOVE: Final = 20


class DualPosition(Layer):
    """A layer that repeats the pins, word for word, at the end of more than ``above`` messages.

    They are read from the registry with every request, so the repetition is always current.
    """

    name = "dual_position"

    def __init__(self, *, above: int = ABOVE) -> None:
        self.above = above

    async def run(self, context: Context) -> Ran:
        users = [at for at, m in enumerate(context.messages) if m.role == "user"]
        if len(context.messages) <= self.above or not context.pinned or not users:
            return context, {}
        at = users[-1]
        said = context.messages[at]
        repeated = _repeated(context.pinned)
        content: str | list[Content] = f"{said.text}\n\n{repeated}"
        if not isinstance(said.content, str):
            content = [*said.content, ContentText(text=repeated)]
        made = said.model_copy(update={"content": content})
        messages = (*context.messages[:at], made, *context.messages[at + 1 :])
        return replace(context, messages=messages), {"repeated_tokens": count(repeated)}

    def repeats(self, pinned: Sequence[str]) -> int:
        return count(f"\n\n{_repeated(pinned)}") if pinned else 0


def _repeated(pinned: Sequence[str]) -> str:
    rules = "\n".join(pinned)
    return f"<critical_constraints>\n{rules}\n</critical_constraints>"


# How this package's compactors, Inspect's and common gateways begin a summary.
_SUMMARY: Final = re.compile(
    r"\s*(?:\[(?:Summary of the conversation so far|CONTEXT COMPACTION SUMMARY)\]"
    r"|<(?:conversation_)?summary\b[^>]*>"
    r"|(?:OBJECTIVE|Summary of the conversation so far):)",
    re.IGNORECASE,
)
# An operator's own prompt may begin with its objective; a briefing also has the last heading.
_OBJECTIVE: Final = re.compile(r"\s*OBJECTIVE:", re.IGNORECASE)
_BRIEFING: Final = re.compile(r"^[#* \t]*NEXT[_ ]STEPS\b", re.IGNORECASE | re.MULTILINE)


def laundered(message: ChatMessage, *, first: bool = False) -> bool:
    """Return whether a message is a summary in the role of the system.

    The ``first`` message of a conversation is usually the operator's prompt.
    """
    if message.role != "system":
        return False
    if SUMMARY in (message.metadata or {}):
        return True
    if first and _OBJECTIVE.match(message.text) and not _BRIEFING.search(message.text):
        return False
    return _SUMMARY.match(message.text) is not None


class SummaryRoles(Layer):
    """A layer that moves a summary from the system's role to the user's."""

    name = "roles"

    async def run(self, context: Context) -> Ran:
        told = context.messages
        caught = {at for at, m in enumerate(told) if laundered(m, first=at == 0)}
        if not caught:
            return context, {}
        kept = tuple(_demoted(m) if at in caught else m for at, m in enumerate(told))
        return replace(context, messages=kept), {"caught": len(caught)}


def _demoted(message: ChatMessage) -> ChatMessage:
    metadata = {**(message.metadata or {}), SUMMARY: True}
    return ChatMessageUser(content=message.content, id=message.id, metadata=metadata)


class Affinity(Layer):
    """A layer that names a conversation's backend, by rendezvous hashing.

    If a backend is removed, only its conversations move. The messages do not change.
    """

    name = "affinity"

    def __init__(self, backends: Sequence[str]) -> None:
        if isinstance(backends, str):
            raise ParameterError(f"backends are several names, as ({backends!r},)")
        if not backends or len(set(backends)) < len(backends):
            raise ParameterError("affinity needs backends, each named once")
        self.backends = tuple(backends)

    async def run(self, context: Context) -> Ran:
        key = f"{context.tenant}\0{context.session.id}\0"
        chosen = max(self.backends, key=lambda one: hashlib.sha256((key + one).encode()).digest())
        return replace(context, backend=chosen), {"backend": chosen}


CUT: Final = "[left out]"
_ENTRIES: Final = ("memory", "retrieval", "domain")


def category(message: ChatMessage, *, request: bool = False) -> str:
    """Return the budget category of a message: that of its metadata, else that of its role."""
    given = (message.metadata or {}).get(CATEGORY)
    if given in _ENTRIES:
        return str(given)
    if message.role == "system":
        return "system"
    if request:
        return "query"
    return "retrieval" if message.role == "tool" else "history"


class Limits(Layer):
    """A layer that keeps each category within its part of the budget.

    Memory and retrieval lose whole entries, history loses whole turns, the oldest first. System
    messages and the request are never cut: if they are too long, the agent is stopped.
    """

    name = "limits"

    async def run(self, context: Context) -> Ran:
        groups = _grouped(context.messages)
        budget = context.budget
        for name in ("system", "query"):
            _check(name, size(groups[name]), getattr(budget, name))
        gone: dict[str, int] = {}
        messages = list(context.messages)
        for name in _ENTRIES:
            cut = _over(context.budget, name, groups[name])
            if cut:
                gone[name] = len(cut)
                # A cut message stays, because a call needs a result.
                left_out = {"content": CUT}
                messages = [m.model_copy(update=left_out) if id(m) in cut else m for m in messages]
        # History makes room for pins and tools that exceed their parts.
        pinned = context.pinned_tokens + size(groups["system"]) - budget.system
        tools = context.tools_tokens - budget.tools
        most = budget.history - max(0, pinned) - max(0, tools)
        # No history was cut above, so its size is unchanged.
        kept = messages if size(groups["history"]) <= most else _turns(messages, most)
        if len(kept) < len(messages):
            gone["history"] = len(messages) - len(kept)
        if not gone:
            return context, {}
        return replace(context, messages=tuple(kept)), {"cut": gone}


def _grouped(messages: Sequence[ChatMessage]) -> defaultdict[str, list[ChatMessage]]:
    users = [at for at, m in enumerate(messages) if m.role == "user"]
    last = users[-1] if users else -1
    groups: defaultdict[str, list[ChatMessage]] = defaultdict(list)
    for at, message in enumerate(messages):
        groups[category(message, request=at == last)].append(message)
    return groups


def _over(budget: Budget, name: str, entries: Sequence[ChatMessage]) -> set[int]:
    """Return the identities of entries over a category's number or tokens; the newest stay."""
    most = {"memory": budget.most_memories, "retrieval": budget.most_retrieved}.get(name)
    tokens = getattr(budget, name)
    used = kept = 0
    gone: set[int] = set()
    for entry in reversed(entries):
        cost = size([entry])
        if (most is not None and kept >= most) or used + cost > tokens:
            gone.add(id(entry))
        else:
            used, kept = used + cost, kept + 1
    return gone


def _check(name: str, used: int, most: int) -> None:
    if used > most:
        what = "the system messages have" if name == "system" else "the request has"
        raise PipelineOverflowError(
            f"{what} {used} tokens, the budget gives them {most}, and they are never cut; shorten"
            f" them, or raise {name} in the budget"
        )


def _turns(messages: list[ChatMessage], most: int) -> list[ChatMessage]:
    """Return the messages without the oldest turns, so that the history fits."""

    def used(kept: Sequence[ChatMessage]) -> int:
        return size(_grouped(kept)["history"])

    parts = partition(messages)
    for at in range(1, len(parts.turns)):
        kept = [*parts.protected, *flat(parts.turns[at:])]
        if used(kept) <= most:
            return kept
    raise PipelineOverflowError(
        f"the latest turn alone is over the history's budget of {most} tokens; raise history"
    )
