"""The budget's limits by category, kept by removing whole entries and turns.

Memory and retrieval lose whole entries, history loses whole turns, the oldest first. System
messages and the request are never cut: if they are too long, the agent is stopped.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from inspect_ai.model import ChatMessage

from constraintrot.compactors.turns import flat, partition
from constraintrot.memory.pipeline.budget import Budget
from constraintrot.memory.pipeline.context import CATEGORY, Context, PipelineOverflowError, size
from constraintrot.memory.pipeline.layer import Layer, Ran

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
    """A layer that keeps each category within its part of the budget."""

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
