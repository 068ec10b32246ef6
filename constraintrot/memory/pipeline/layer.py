"""The interface of a pipeline's layers, and the request that comes out of them."""

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
    """A part of a pipeline; subclasses define ``run``, and ``answered`` if they change answers.

    A layer never sees the pins: they are added after all layers.
    """

    name: str  # the name in traces and settings
    # Whether the layer makes requests longer than the budget counted; such a layer is refused after
    # ``limits``.
    lengthens: ClassVar[bool] = False

    @cached_property
    def number(self) -> int:
        """A number that no other layer has, even of the same class."""
        return next(_numbers)

    async def apply(self, context: Context) -> tuple[Context, Trace]:
        before, start = context.tokens, perf_counter()
        changed, notes = await self.run(context)
        seconds = perf_counter() - start
        moved = (changed.messages, changed.tools) != (context.messages, context.tools)
        after = changed.sized_as(context).tokens
        return changed, Trace(self.name, moved, before, after, seconds, notes)

    @abstractmethod
    async def run(self, context: Context) -> Ran:
        """Return the context as it leaves this layer, and notes for the trace."""

    def repeats(self, pinned: Sequence[str]) -> int:
        """Return the most tokens that this layer needs to repeat the pins' texts.

        The budget leaves them free.
        """
        return 0

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        """Return the answer as it goes to the client; the layers are called in reverse order."""
        return output

    def revealed(self, context: Context, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """Return messages with what this layer hid from the model shown again."""
        return messages


@dataclass(frozen=True)
class Prepared:
    """A request as it goes to the model."""

    messages: list[ChatMessage]  # the messages, pins included
    tools: list[ToolInfo]
    answer: ModelOutput | None  # an answer from a cache; None if the model is to be asked
    backend: str | None  # the backend that affinity chose; None without that layer
    traces: tuple[Trace, ...]
    passed: tuple[tuple[Layer, Context], ...]  # each layer with the context that it received

    def answered(self, output: ModelOutput) -> ModelOutput:
        """Return the model's answer for the client: unmasked, and stored by the caches."""
        for layer, context in reversed(self.passed):
            output = layer.answered(context, output)
        return output

    def revealed(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return messages with what a layer hid from the model shown again."""
        for layer, context in reversed(self.passed):
            messages = layer.revealed(context, messages)
        return list(messages)


def with_message(output: ModelOutput, message: ChatMessageAssistant) -> ModelOutput:
    """Return a copy of an output with another message."""
    choices = [output.choices[0].model_copy(update={"message": message}), *output.choices[1:]]
    # Inspect stores the text twice.
    return output.model_copy(update={"choices": choices, "completion": message.text})
