"""The one interface of a pipeline's layers: a context in, a context and a trace out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from time import perf_counter
from typing import Any, ClassVar, Final, TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ModelOutput
from inspect_ai.tool import ToolInfo

from constraintrot.memory.pipeline.context import Context, Trace

_numbers: Final = count()
Ran: TypeAlias = tuple[Context, dict[str, Any]]


class Layer(ABC):
    """A part of a pipeline. Subclasses define ``run``, and ``answered`` where they see answers.

    A layer never sees the pins: they are put in when all layers are done.

    Attributes:
        name: as written in a trace, and where a layer is switched off.
        lengthens: whether it adds to a request what the budget has not counted before; it is
            refused behind ``limits`` then.
    """

    name: str
    lengthens: ClassVar[bool] = False

    @cached_property
    def number(self) -> int:
        """Tells it apart from any other layer, of its kind too."""
        return next(_numbers)

    async def apply(self, context: Context) -> tuple[Context, Trace]:
        """Run the layer, and say what it did."""
        before, start = context.tokens, perf_counter()
        changed, notes = await self.run(context)
        seconds = perf_counter() - start
        moved = (changed.messages, changed.tools) != (context.messages, context.tools)
        after = changed.sized_as(context).tokens
        return changed, Trace(self.name, moved, before, after, seconds, notes)

    @abstractmethod
    async def run(self, context: Context) -> Ran:
        """The context as it leaves this layer, and notes for the trace."""

    def repeats(self, pinned: Sequence[str]) -> int:
        """Tokens at most of the pins that this layer says again, for which the budget leaves room.

        Args:
            pinned: the pins' texts.
        """
        return 0

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        """The answer as it goes to the client; called in reverse order.

        Args:
            context: as this layer got it.
            output: of the model, or from a cache.
        """
        return output

    def revealed(self, context: Context, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """Messages with what this layer hid from the model shown again.

        Args:
            context: as this layer got it.
            messages: as they go to the model.
        """
        return messages


@dataclass(frozen=True)
class Prepared:
    """A request as it goes to the model.

    Attributes:
        messages: the messages, pins and all.
        tools: the tools on offer.
        answer: an answer from a cache; None where the model is to be asked.
        backend: the backend that affinity chose; None without that layer.
        traces: what each layer did.
        passed: each layer with the context that it got.
    """

    messages: list[ChatMessage]
    tools: list[ToolInfo]
    answer: ModelOutput | None
    backend: str | None
    traces: tuple[Trace, ...]
    passed: tuple[tuple[Layer, Context], ...]

    def answered(self, output: ModelOutput) -> ModelOutput:
        """The model's answer as it goes to the client: unmasked, and kept by the caches."""
        for layer, context in reversed(self.passed):
            output = layer.answered(context, output)
        return output

    def revealed(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Messages with what a layer hid from the model shown again."""
        for layer, context in reversed(self.passed):
            messages = layer.revealed(context, messages)
        return list(messages)


def with_message(output: ModelOutput, message: ChatMessageAssistant) -> ModelOutput:
    """An output that says another message; the given one stays as it is."""
    choices = [output.choices[0].model_copy(update={"message": message}), *output.choices[1:]]
    # Inspect keeps the text a second time.
    return output.model_copy(update={"choices": choices, "completion": message.text})
