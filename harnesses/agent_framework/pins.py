"""Constraint Pinning in Microsoft's agent-framework: a chat client that sends the pins.

>>> import asyncio
>>> from agent_framework import BaseChatClient, ChatResponse, Message
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> class Echo(BaseChatClient):
...     async def _inner_get_response(self, *, messages, stream, options, **given):
...         return ChatResponse(messages=[Message("assistant", [options["instructions"]])])
>>> client = pinned_client(Echo(), rules)
>>> answer = asyncio.run(client.get_response([Message("user", ["Hello"])]))
>>> "example.org" in answer.text
True

It goes into ``Agent(client=pinned_client(client, rules), ...)``, beside any compaction.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from agent_framework import BaseChatClient, Message

from constraintrot.defenses.pinning.content_parts import Content, text_part
from constraintrot.defenses.pinning.message_list import OPERATOR, MessageForm, refuse_replacing
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.pinning_copy import pinned_blocks, pinning_copy
from constraintrot.harnesses.traced_receipts import trace_receipt

C = TypeVar("C")


def pinned_client(
    client: C,
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = trace_receipt,
) -> C:
    """Return a copy of a chat client that sends no request without the pins.

    They are at the end of the request's ``instructions``. These belong to a single request:
    neither the framework's history nor a server's stores them, and no strategy compacts
    them. Middleware and compaction run before the pins are added. A strategy with a token
    budget does not count instructions; reserve ``PinnedBlock.tokens`` for the pins.

    ``client`` is not changed, and can serve a summarizer. A PinnedBlock has a heading and a
    report of its own; by default receipts go to the logger ``constraintrot.pins`` and the open
    span.

    Raises:
        ParameterError: ``client`` is not a ``BaseChatClient``.
    """
    if not isinstance(client, BaseChatClient):
        raise ParameterError(
            f"a {type(client).__name__} is no BaseChatClient, so what it sends cannot be verified"
        )
    pinned_block = PinnedBlock.of(pins, heading=heading, report=report)
    return pinning_copy(client, pinned_block, _methods)


def pinned(
    messages: Sequence[Message], options: Mapping[str, Any], pinned_block: PinnedBlock
) -> tuple[list[Message], dict[str, Any]]:
    """A request's messages and options, with the pins at the end of its instructions only."""
    refuse_replacing(pinned_block, options.get("extra_body"))
    given = options.get("instructions")
    said: Content = given if isinstance(given, str) else _parts(given)
    plain = not said or isinstance(said, str) or all(isinstance(part, str) for part in said)
    sent, kept = MESSAGES.beside(messages, said, pinned_block, str if plain else text_part)
    return sent, dict(options) if kept == (said or "") else {**options, "instructions": kept}


def _replaced(message: Message, contents: Any) -> Message:
    changed = copy.copy(message)
    changed.contents = contents
    return changed


MESSAGES: Final[MessageForm[Message]] = MessageForm(
    content=lambda message: message.contents if message.role in OPERATOR else None,
    replace=_replaced,
    make=lambda text: Message("system", [text]),
)


def _parts(instructions: Any) -> list[Any]:
    # A provider's own part may be a single mapping.
    return [instructions] if isinstance(instructions, Mapping) else list(instructions or [])


def _methods(kind: type[Any]) -> Mapping[str, Any]:
    """Return the method that pins a client's requests, in the last step before the provider."""

    def _inner_get_response(
        self: Any, *, messages: Sequence[Message], options: Mapping[str, Any], **given: Any
    ) -> Any:
        for pinned_block in pinned_blocks(self):
            messages, options = pinned(messages, options, pinned_block)
        return kind._inner_get_response(self, messages=messages, options=options, **given)

    return {"_inner_get_response": _inner_get_response}
