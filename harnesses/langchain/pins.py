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

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately

from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    LOGGER,
    PinnedBlock,
    Report,
    log_receipt,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.langchain_family.message_pins import MESSAGES
from constraintrot.harnesses.langchain_family.pinned_model import Guard, guarded


@dataclass(init=False)
class PinnedRequest(ModelRequest[Any]):
    """A request whose model sends the pins, also a model that replaces it.

    A later middleware may put another system message or another model into the request;
    ``override`` keeps the guards.

    Attributes:
        guards: verify and restore the pins at the model; one per registry.
    """

    guards: tuple[Guard, ...] = field(kw_only=True)

    def __init__(self, *, guards: tuple[Guard, ...], **given: Any) -> None:
        # Setting an attribute of a request is deprecated, for it does not copy.
        object.__setattr__(self, "guards", guards)
        super().__init__(**given)

    def __setattr__(self, name: str, value: Any) -> None:
        for guard in self.guards if name == "model" else ():
            value = guarded(value, guard)
        super().__setattr__(name, value)


class PinMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts a registry's pins into the system message of each request.

    A request is made after a due summarization, and dropped after the call, so the pins
    are neither summarised nor stored, at any position in ``middleware``. A summarizer's
    own calls are not the agent's requests and stay unchanged. Changes by later middleware
    to the system message or the model are checked when the model is called.

    The name is unique in an agent, so a second registry's middleware needs another. A
    PinnedBlock has a heading and a report of its own; by default receipts go to the logger
    ``constraintrot.pins``.
    """

    def __init__(
        self,
        pins: Registry | PinnedBlock,
        *,
        heading: str = HEADING,
        report: Report = log_receipt,
        name: str = "PinMiddleware",
    ) -> None:
        super().__init__()
        self._name = name
        self.pinned_block = PinnedBlock.of(pins, heading=heading, report=report)

    @property
    def name(self) -> str:
        return self._name

    def pinned(self, request: ModelRequest[Any]) -> PinnedRequest:
        """Return a request with the pins in its system message, and a model that verifies them.

        Raises:
            PinOverflowError: the messages fit into the limit of the model's profile, but
                not together with the pins. Tools are not counted.
            ParameterError: the model is not a LangChain chat model.
        """
        first: list[AnyMessage] = [request.system_message] if request.system_message else []
        said = [*first, *request.messages]
        profile = request.model.profile
        room = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
        if isinstance(room, int):
            self.pinned_block.fits(count_tokens_approximately(said), room)
        sent, changed, removed = MESSAGES.placed(
            said, self.pinned_block, self.pinned_block.rendering()
        )
        guard = Guard(self.pinned_block, "injected" if changed else "verified", removed)
        others = request.guards if isinstance(request, PinnedRequest) else ()
        given = {name: getattr(request, name) for name in ModelRequest.__dataclass_fields__}
        if sent and isinstance(sent[0], SystemMessage):
            given |= {"system_message": sent[0], "messages": sent[1:]}
        else:
            given |= {"system_message": None, "messages": sent}
        return PinnedRequest(guards=(*others, guard), **given)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        sent = self.pinned(request)
        answer = handler(sent)
        _check(sent.guards[-1])
        return answer

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        sent = self.pinned(request)
        answer = await handler(sent)
        _check(sent.guards[-1])
        return answer


def _check(guard: Guard) -> None:
    if not guard.calls:
        LOGGER.warning(
            "a middleware answered without the model that verifies the pins: from a cache, or with"
            " a request of its own making; there is no receipt of it"
        )
