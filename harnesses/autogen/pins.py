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
>>> pins, message = asyncio.run(sent())
>>> "example.org" in pins.content, message.content
(True, 'Again')
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from pydantic import BaseModel

from constraintrot.defenses.pinning.block_marks import only_blocks
from constraintrot.defenses.pinning.block_removal import SEPARATOR
from constraintrot.defenses.pinning.message_list import MessageForm, refuse_replacing
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report, State
from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.traced_receipts import trace_receipt

SOURCE = "pins"
"""The source name of the message with the pins."""


_SYSTEM: Final[MessageForm[LLMMessage]] = MessageForm(
    content=lambda message: message.content if isinstance(message, SystemMessage) else None,
    replace=lambda message, content: message.model_copy(update={"content": content}),
    make=lambda text: SystemMessage(content=text),
)


def pinned(messages: Sequence[LLMMessage], pinned_block: PinnedBlock) -> list[LLMMessage]:
    """Return messages to send, with the pins in their own message.

    It follows the leading system messages, as a user message with the source ``pins``; a
    message of another source, such as a peer agent's, is never taken for it.
    """
    now = pinned_block.rendering()
    kept: list[LLMMessage] = []
    messages, gone = _SYSTEM.without_blocks(messages, pinned_block)
    removed = list(gone)
    in_place = False
    leading = True
    for message in messages:
        leading = leading and (isinstance(message, SystemMessage) or _is_block(message))
        if not _holds(message, pinned_block):
            kept.append(message)
        elif leading and not in_place and message.content == now.text:
            in_place = True
            kept.append(message)
        else:
            removed += pinned_block.less(str(message.content)).removed
    if now.text and not in_place:
        at = next((n for n, m in enumerate(kept) if not isinstance(m, SystemMessage)), len(kept))
        while at < len(kept) and _is_block(kept[at]):
            at += 1
        kept.insert(at, UserMessage(content=now.text, source=SOURCE))
    state: State = "verified" if in_place and not removed else "injected"
    place = next((n for n, m in enumerate(kept) if m.content == now.text), None)
    pinned_block.receipt(state, at=place, removed=tuple(removed), now=now)
    return kept


def _is_block(message: LLMMessage) -> bool:
    """Return whether a message is only a block, of any registry of this process."""
    return (
        isinstance(message, UserMessage)
        and message.source == SOURCE
        and isinstance(message.content, str)
        and only_blocks(f"{SEPARATOR}{message.content}")
    )


def _holds(message: LLMMessage, pinned_block: PinnedBlock) -> bool:
    return _is_block(message) and pinned_block.holds(str(message.content))


class PinnedContext(ChatCompletionContext):
    """A context that sends what another one keeps, with the pins before it.

    The block is inserted at each call and never stored, so the other context neither
    counts nor keeps it, and ``save_state`` holds only the conversation. There is no
    ``dump_component``: the operator pins when the agent is made, not a configuration file.

    The other context is of any kind. If ``model_client`` is given, its ``remaining_tokens``
    must leave room for the pins. A PinnedBlock has a heading and a report of its own; by
    default receipts go to the logger ``constraintrot.pins`` and AutoGen's span of the run.
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
        self.pinned_block = PinnedBlock.of(pins, heading=heading, report=report)
        self._client = model_client

    async def add_message(self, message: LLMMessage) -> None:
        await self.inner.add_message(message)

    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages that the wrapped context keeps, with the pins.

        Raises:
            PinOverflowError: the pins do not fit into the model's window.
        """
        messages = await self.inner.get_messages()
        if self._client is not None:
            used = self._client.count_tokens(messages)
            self.pinned_block.fits(used, used + self._client.remaining_tokens(messages))
        return pinned(messages, self.pinned_block)

    async def clear(self) -> None:
        """Clear the wrapped context; the pins stay."""
        await self.inner.clear()

    async def save_state(self) -> Mapping[str, Any]:
        return await self.inner.save_state()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        await self.inner.load_state(state)


class PinnedClient(ChatCompletionClient):
    """A model client that sends no request without the pins.

    For callers without a context that could be wrapped: the selector of a
    ``SelectorGroupChat``, the orchestrator of a ``MagenticOneGroupChat``. An agent with this
    client needs no ``PinnedContext``; with both, the pins are there only once.

    The arguments are those of ``PinnedContext``.
    """

    component_config_schema = BaseModel

    def __init__(
        self,
        inner: ChatCompletionClient,
        pins: Registry | PinnedBlock,
        *,
        heading: str = HEADING,
        report: Report = trace_receipt,
    ) -> None:
        self.inner = inner
        self.pinned_block = PinnedBlock.of(pins, heading=heading, report=report)

    async def create(self, messages: Sequence[LLMMessage], **given: Any) -> CreateResult:
        """Ask the model, with the pins.

        Raises:
            ParameterError: an extra argument would replace the pins.
        """
        return await self.inner.create(self._sent(messages, given), **given)

    async def create_stream(
        self, messages: Sequence[LLMMessage], **given: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Ask the model word by word, with the pins as they are when it is asked."""
        async for piece in self.inner.create_stream(self._sent(messages, given), **given):
            yield piece

    def _sent(self, messages: Sequence[LLMMessage], given: Mapping[str, Any]) -> list[LLMMessage]:
        refuse_replacing(self.pinned_block, given.get("extra_create_args"))
        return pinned(messages, self.pinned_block)

    async def close(self) -> None:
        await self.inner.close()

    def actual_usage(self) -> RequestUsage:
        return self.inner.actual_usage()

    def total_usage(self) -> RequestUsage:
        return self.inner.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], **given: Any) -> int:
        """Return the tokens of messages, the pins included."""
        return self.inner.count_tokens(self._with_pins(messages), **given)

    def remaining_tokens(self, messages: Sequence[LLMMessage], **given: Any) -> int:
        """Return the tokens that the pins and the messages leave."""
        return self.inner.remaining_tokens(self._with_pins(messages), **given)

    def _with_pins(self, messages: Sequence[LLMMessage]) -> list[LLMMessage]:
        text = self.pinned_block.text
        return [*([UserMessage(content=text, source=SOURCE)] if text else []), *messages]

    @property
    def capabilities(self) -> ModelCapabilities:
        return self.inner.capabilities

    @property
    def model_info(self) -> ModelInfo:
        return self.inner.model_info
