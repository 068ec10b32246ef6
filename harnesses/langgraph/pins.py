"""Constraint Pinning in a LangGraph: a node between the memory's and the model's.

>>> from langchain_core.messages import HumanMessage
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> pin = pin_node(rules, key="summarized_messages")
>>> state = pin.invoke({"summarized_messages": [HumanMessage("Hello")]})
>>> [message.type for message in state["summarized_messages"]]
['system', 'human']
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report, log_receipt
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.langchain_family.message_pins import pinned


class PinNode(Runnable[Any, dict[str, Any]]):
    """A node that pins the messages under a key of the state, sync and async."""

    # A Runnable, because a graph's ainvoke would run a plain function in a thread.

    def __init__(
        self, pinned_block: PinnedBlock, *, key: str, after: Runnable[Any, Any] | None = None
    ) -> None:
        if key == "messages":
            raise ParameterError(
                "pin_node(key='messages') would store the pins in the history, where a compaction"
                " finds them; name a key that only the model's node reads, or call pinned() in the"
                " model's node"
            )
        self.pinned_block = pinned_block
        self.key = key
        self.after = after
        self.name = "pin"

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        written = self.after.invoke(input, config) if self.after is not None else {}
        return self._pinned(input, written)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        written = await self.after.ainvoke(input, config) if self.after is not None else {}
        return self._pinned(input, written)

    def _pinned(self, state: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
        found = written if self.key in written else state
        if self.key not in found:
            raise ParameterError(
                f"the pin's node is not given {self.key!r}; add it to the graph's state, or name"
                " the schema that has it: add_node(..., input_schema=...)"
            )
        return {**written, self.key: pinned(found[self.key], self.pinned_block)}


def pin_node(
    pins: Registry | PinnedBlock,
    *,
    key: str,
    after: Runnable[Any, Any] | None = None,
    heading: str = HEADING,
    report: Report = log_receipt,
) -> PinNode:
    """Return a node that pins the messages under a key of the state.

    The key is one that only the model's node reads, such as LangMem's
    ``summarized_messages`` or the ``llm_input_messages`` of ``create_react_agent``.
    ``messages`` is refused: its reducer would keep the block in the history, where a
    compaction finds it. Without such a key, call ``pinned`` in the model's node.

    ``after`` is a node that writes the key, to run first in the same step, for a framework with
    a single hook; its other writes are kept. A PinnedBlock has a heading and a report of its
    own; by default receipts go to the logger ``constraintrot.pins``.

    Raises:
        ParameterError: the key is ``messages``.
    """
    pinned_block = PinnedBlock.of(pins, heading=heading, report=report)
    return PinNode(pinned_block, key=key, after=after)
