"""Constraint Pinning in a LangGraph: a node between the memory's and the model's.

>>> from langchain_core.messages import HumanMessage, SystemMessage
>>> from constraintrot.defenses.board import Board
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> sent = pinned([SystemMessage("Be brief."), HumanMessage("Hello")], Board(rules))
>>> "example.org" in sent[0].content
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, SystemMessage

from constraintrot.defenses.board import HEADING, Board, Report, log_receipt
from constraintrot.defenses.rampart import Registry


def pinned(messages: Sequence[AnyMessage], board: Board) -> list[AnyMessage]:
    """Messages as they are to be sent, with the pins in the leading system message.

    Args:
        messages: what a model is about to be sent; left as it is.
        board: the pins.
    """
    first = messages[0] if messages else None
    if isinstance(first, SystemMessage):
        text = board.into(first.text, at=0)
        return [first.model_copy(update={"content": text}), *messages[1:]]
    text = board.into(None, at=0)
    return [SystemMessage(text), *messages] if text else list(messages)


def pin_node(
    registry: Registry,
    *,
    key: str = "messages",
    heading: str = HEADING,
    report: Report = log_receipt,
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A node that pins what stands under a key of the state.

    The key should be one that only the model's node reads, such as LangMem's
    ``summarized_messages``: under ``messages`` the reducer would keep the block in
    the history, where a compaction finds it.

    Args:
        registry: whose pins.
        key: of the state, holding the messages to send.
        heading: the line above the pins.
        report: is given each receipt; by default the logger ``constraintrot.pins``.
    """
    board = Board(registry, heading=heading, report=report)

    def pin(state: Mapping[str, Any]) -> dict[str, Any]:
        return {key: pinned(state[key], board)}

    return pin
