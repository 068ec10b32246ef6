"""Strategies around a compactor, for the defenses that act there."""

from collections.abc import Awaitable, Callable, Sequence

from inspect_ai.model import ChatMessage, CompactionResult, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.compactors.turns import flat, partition

HEAD = "head"


class Noticing(WrappedStrategy):
    """Calls back with the messages before a compaction, and with its output after it."""

    def __init__(
        self,
        inner: CompactionStrategy,
        before: Callable[[Sequence[ChatMessage]], Awaitable[None]],
        after: Callable[[Sequence[ChatMessage]], None],
    ) -> None:
        super().__init__(inner)
        self._before = before
        self._after = after

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        await self._before(messages)
        outcome = await super().around(model, messages, tools)
        self._after(outcome.input)
        if outcome.message is not None:
            self._after([outcome.message])
        return outcome


class RetainedHead(WrappedStrategy):
    """Keeps the first turns after the protected messages as they are.

    They are chosen at the first compaction, and marked.
    """

    def __init__(self, inner: CompactionStrategy, turns: int) -> None:
        super().__init__(inner)
        self.turns = turns

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        head = self._head(messages)
        ids = {message.id for message in head}
        rest = [message for message in messages if message.id not in ids]
        outcome = await super().around(model, rest, tools)
        protected = {message.id for message in partition(messages).protected}
        at = 0
        while at < len(outcome.input) and outcome.input[at].id in protected:
            at += 1
        return outcome._replace(input=[*outcome.input[:at], *head, *outcome.input[at:]])

    def _head(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        marked = [message for message in messages if HEAD in (message.metadata or {})]
        if marked:
            return marked
        first = flat(partition(list(messages)).turns[: self.turns])
        return [
            message.model_copy(update={"metadata": {**(message.metadata or {}), HEAD: True}})
            for message in first
        ]


class Replaced(WrappedStrategy):
    """Compacts by a function of the messages instead of by the strategy."""

    def __init__(
        self,
        inner: CompactionStrategy,
        rebuild: Callable[[Sequence[ChatMessage]], list[ChatMessage]],
    ) -> None:
        super().__init__(inner)
        self._rebuild = rebuild

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        return CompactionResult(self._rebuild(messages), None, True, type(self).__name__)
