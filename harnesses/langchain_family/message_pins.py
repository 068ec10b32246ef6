"""A registry's pins in LangChain's messages, right before a model is called with them.

>>> from langchain_core.messages import HumanMessage, SystemMessage
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> sent = pinned([SystemMessage("Be brief."), HumanMessage("Hello")], rules)
>>> "example.org" in sent[0].content
True
"""

from collections.abc import Iterable
from typing import Any, Final

from langchain_core.messages import (
    BaseMessage,
    ChatMessage,
    MessageLikeRepresentation,
    SystemMessage,
    convert_to_messages,
)

from constraintrot.defenses.pinning.content_parts import Content
from constraintrot.defenses.pinning.message_list import OPERATOR, MessageForm
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report, log_receipt
from constraintrot.defenses.rampart import Registry


def _content(message: BaseMessage) -> Any:
    said = isinstance(message, ChatMessage) and message.role in OPERATOR
    return message.content if said or isinstance(message, SystemMessage) else None


def _replaced(message: BaseMessage, content: Content) -> BaseMessage:
    return message.model_copy(update={"content": content})


MESSAGES: Final[MessageForm[BaseMessage]] = MessageForm(_content, _replaced, SystemMessage)


def pinned(
    messages: Iterable[MessageLikeRepresentation],
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = log_receipt,
) -> list[BaseMessage]:
    """Return messages to send, with the pins in the leading system message.

    Blocks of the registry in other system messages, such as an earlier revision that a state
    kept, are removed.

    The messages are in any form that LangChain takes for one, and stay as they are. A
    PinnedBlock has a heading and a report of its own; by default the receipt goes to the
    logger ``constraintrot.pins``.

    Raises:
        TypeError: the messages are a text.
    """
    if isinstance(messages, str):
        raise TypeError('messages are a list, as [HumanMessage("Hello")], not str')
    given = convert_to_messages(messages)
    return MESSAGES.pinned(given, PinnedBlock.of(pins, heading=heading, report=report))
