"""Constraint Pinning in a LangGraph: a node between the memory's and the model's.

>>> from langchain_core.messages import HumanMessage, SystemMessage
>>> from constraintrot.defenses.pinning.pinned_block import PinnedBlock
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> sent = pinned([SystemMessage("Be brief."), HumanMessage("Hello")], PinnedBlock(rules))
>>> "example.org" in sent[0].content
True
>>> pin = pin_node(rules, key="summarized_messages")
>>> state = pin.invoke({"summarized_messages": [HumanMessage("Hello")]})
>>> [message.type for message in state["summarized_messages"]]
['system', 'human']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report, log_receipt
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError

Part: TypeAlias = str | dict[str, Any]


def pinned(messages: Sequence[BaseMessage], pinned_block: PinnedBlock) -> list[BaseMessage]:
    """Messages as they are to be sent, with the pins in the leading system message.

    A block that stands in another system message, of an earlier revision or
    because a state kept it, is taken out.

    Args:
        messages: what a model is about to be sent; left as it is.
        pinned_block: the pins.
    """
    first = messages[0] if messages else None
    if not isinstance(first, SystemMessage):
        text = pinned_block.into(None, at=0)
        return [*([SystemMessage(text)] if text else []), *_cut(messages, pinned_block)]
    return [_with_block(first, pinned_block), *_cut(messages[1:], pinned_block)]


class PinNode(Runnable[Any, dict[str, Any]]):
    """A node that pins what stands under a key of the state, sync and async.

    Args:
        pinned_block: the pins.
        key: of the state, holding the messages to send.
    """

    # Of a plain function, a graph's ainvoke would make a thread's work.

    def __init__(self, pinned_block: PinnedBlock, *, key: str) -> None:
        self.pinned_block = pinned_block
        self.key = key
        self.name = "pin"

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The state's update.

        Raises:
            ParameterError: the node is not given the key.
        """
        if self.key not in input:
            raise ParameterError(
                f"the pin's node is not given {self.key!r}; add it to the graph's state, or name"
                " the schema that has it: add_node(..., input_schema=...)"
            )
        return {self.key: pinned(input[self.key], self.pinned_block)}

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The same."""
        return self.invoke(input, config)


def pin_node(
    pins: Registry | PinnedBlock,
    *,
    key: str = "messages",
    heading: str = HEADING,
    report: Report = log_receipt,
) -> PinNode:
    """A node that pins what stands under a key of the state.

    The key should be one that only the model's node reads, such as LangMem's
    ``summarized_messages``: under ``messages`` the reducer would keep the block in
    the history, where a compaction finds it. Where there is no such key, call
    ``pinned`` in the model's node.

    Args:
        pins: the registry, or a PinnedBlock made from it.
        key: of the state, holding the messages to send.
        heading: the line above the pins; a PinnedBlock has its own.
        report: is given each receipt, by default the logger
            ``constraintrot.pins``; a PinnedBlock has its own.
    """
    pinned_block = (
        pins if isinstance(pins, PinnedBlock) else PinnedBlock(pins, heading=heading, report=report)
    )
    return PinNode(pinned_block, key=key)


def _with_block(message: SystemMessage, pinned_block: PinnedBlock) -> SystemMessage:
    if isinstance(message.content, str):
        return message.model_copy(update={"content": pinned_block.into(message.content, at=0)})
    # Parts stay parts: a provider's marks, as of what to cache, hang on them.
    text = pinned_block.text.rstrip("\n")
    content = [*_cut_parts(message.content, pinned_block), *([_part(text)] if text else [])]
    pinned_block.receipt("verified" if content == message.content else "injected", at=0)
    return message.model_copy(update={"content": content})


def _cut(messages: Sequence[BaseMessage], pinned_block: PinnedBlock) -> list[BaseMessage]:
    return [
        _without_block(message, pinned_block)
        if isinstance(message, SystemMessage) and pinned_block.heading in message.text
        else message
        for message in messages
    ]


def _without_block(message: SystemMessage, pinned_block: PinnedBlock) -> SystemMessage:
    said = message.content
    kept = pinned_block.cut(said) if isinstance(said, str) else _cut_parts(said, pinned_block)
    return message.model_copy(update={"content": kept})


def _cut_parts(parts: Sequence[Part], pinned_block: PinnedBlock) -> list[Part]:
    """The parts of a message's content less the blocks; one that was nothing else goes."""
    found: list[Part] = []
    for part in parts:
        said = part if isinstance(part, str) else part.get("text")
        rest = pinned_block.cut(said) if isinstance(said, str) else said
        if rest == said:
            found.append(part)
        elif rest:
            found.append(rest if isinstance(part, str) else {**part, "text": rest})
    return found


def _part(text: str) -> Part:
    return {"type": "text", "text": text}
