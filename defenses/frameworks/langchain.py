"""Constraint Pinning in LangChain's agents: a middleware around each call of the model.

>>> from langchain.agents import create_agent
>>> from langchain_core.language_models import FakeListChatModel
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> pin = PinMiddleware(rules, report=lambda receipt: print(receipt.state))
>>> agent = create_agent(FakeListChatModel(responses=["Done."]), middleware=[pin])
>>> state = agent.invoke({"messages": [("user", "Hello")]})
injected
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately

from constraintrot.defenses.frameworks.langgraph import pinned
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report, log_receipt
from constraintrot.defenses.rampart import Registry


class PinMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts a registry's pins into the system message of each request.

    A request is made after a summarization that the state was due for, and is
    thrown away after the call, so wherever it stands in ``middleware``, nothing
    summarises the pins and nothing stores them. A summarizer's own calls are no
    requests of the agent's and stay as they are.

    Args:
        pins: the registry, or a PinnedBlock made from it.
        heading: the line above the pins; a PinnedBlock has its own.
        report: is given each receipt, by default the logger
            ``constraintrot.pins``; a PinnedBlock has its own.
    """

    def __init__(
        self,
        pins: Registry | PinnedBlock,
        *,
        heading: str = HEADING,
        report: Report = log_receipt,
    ) -> None:
        super().__init__()
        self.pinned_block = (
            pins
            if isinstance(pins, PinnedBlock)
            else PinnedBlock(pins, heading=heading, report=report)
        )

    def pinned(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """A request with the pins in its system message.

        Raises:
            PinOverflowError: the model's profile says how much it takes, the
                messages fit, and with the pins they do not. Tools are not counted.
        """
        first: list[AnyMessage] = [request.system_message] if request.system_message else []
        said = [*first, *request.messages]
        profile = request.model.profile
        room = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
        if isinstance(room, int):
            self.pinned_block.fits(count_tokens_approximately(said), room)
        # What comes back is what went in, and system messages.
        sent = cast("list[AnyMessage]", pinned(said, self.pinned_block))
        if sent and isinstance(sent[0], SystemMessage):
            return request.override(system_message=sent[0], messages=sent[1:])
        return request.override(messages=sent)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Pin, then call the model."""
        return handler(self.pinned(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Pin, then call the model."""
        return await handler(self.pinned(request))
