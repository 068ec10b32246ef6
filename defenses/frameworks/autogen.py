"""Constraint Pinning in AutoGen: a model context around another one.

>>> import asyncio
>>> from autogen_core.model_context import BufferedChatCompletionContext
>>> from autogen_core.models import UserMessage
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> context = PinnedContext(BufferedChatCompletionContext(buffer_size=1), rules)
>>> async def sent():
...     await context.add_message(UserMessage(content="Hello", source="user"))
...     await context.add_message(UserMessage(content="Again", source="user"))
...     return await context.get_messages()
>>> [message] = asyncio.run(sent())
>>> "example.org" in message.content, message.content.endswith("Again")
(True, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import ChatCompletionClient, LLMMessage, SystemMessage, UserMessage
from pydantic import BaseModel

from constraintrot.defenses.frameworks._otel import trace_receipt
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report
from constraintrot.defenses.rampart import Registry


def pinned(messages: Sequence[LLMMessage], pinned_block: PinnedBlock) -> list[LLMMessage]:
    """Messages as they are to be sent, with the pins ahead of the first of the user's.

    A view that begins otherwise, as an evicting one does, is given a message of
    the user's with the pins, so that the conversation begins with one.

    Args:
        messages: a context's view; left as it is.
        pinned_block: the pins.
    """
    found = list(messages)
    at = next((n for n, one in enumerate(found) if not isinstance(one, SystemMessage)), len(found))
    first = found[at] if at < len(found) else None
    said = first.content if isinstance(first, UserMessage) else None
    text = pinned_block.ahead(said if isinstance(said, str) else None, at=at)
    if not pinned_block.registry.pins():
        return found
    if not isinstance(first, UserMessage):
        return [*found[:at], UserMessage(content=text, source="pins"), *found[at:]]
    content = [text, *said] if isinstance(said, list) else text
    found[at] = first.model_copy(update={"content": content})
    return found


class PinnedContext(ChatCompletionContext):
    """A context that sends what another one keeps, with the pins before it.

    The block is put in at each call and never added, so the other context neither
    counts it nor keeps it, and ``save_state`` holds the conversation only. There is
    no ``dump_component``: what is pinned is the operator's to say when the agent is
    made, not a configuration file's.

    Args:
        inner: the context to wrap, of any kind.
        pins: the registry, or a PinnedBlock over one.
        heading: the line above the pins, for a registry.
        report: is given each receipt, for a registry; by default the logger
            ``constraintrot.pins`` and AutoGen's span of the agent's run.
        model_client: if given, its ``remaining_tokens`` must leave room for the pins.
    """

    component_config_schema = BaseModel

    def __init__(
        self,
        inner: ChatCompletionContext,
        pins: Registry | PinnedBlock,
        *,
        heading: str = HEADING,
        report: Report = trace_receipt,
        model_client: ChatCompletionClient | None = None,
    ) -> None:
        super().__init__()
        self.inner = inner
        self.pinned_block = (
            pins
            if isinstance(pins, PinnedBlock)
            else PinnedBlock(pins, heading=heading, report=report)
        )
        self._client = model_client

    async def add_message(self, message: LLMMessage) -> None:
        """Add a message to the wrapped context."""
        await self.inner.add_message(message)

    async def get_messages(self) -> list[LLMMessage]:
        """What the wrapped context keeps, with the pins.

        Raises:
            PinOverflowError: the pins do not fit into the model's window.
        """
        messages = await self.inner.get_messages()
        if self._client is not None:
            used = self._client.count_tokens(messages)
            self.pinned_block.fits(used, used + self._client.remaining_tokens(messages))
        return pinned(messages, self.pinned_block)

    async def clear(self) -> None:
        """Clear the wrapped context; what is pinned stays pinned."""
        await self.inner.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """The wrapped context's state."""
        return await self.inner.save_state()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Load the wrapped context's state."""
        await self.inner.load_state(state)
