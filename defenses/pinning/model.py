"""Models that verify a registry's pins before each of their calls."""

from collections.abc import Awaitable, Callable
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.model._model import GenerateInput
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.defenses.pinning.message_list import refuse_replacing
from constraintrot.defenses.pinning.pinned_block import HEADING, Receipt
from constraintrot.defenses.pinning.pins import Judge, Pins
from constraintrot.defenses.rampart import Registry


class DeferredModel(Model):
    """A model around another one, which is looked up at each call.

    An agent is often built before its model.

    Args:
        model: a model or its name; by default the one being evaluated.
    """

    def __init__(self, model: str | Model | None = None) -> None:
        # The base class's own needs a model now.
        self._model = model

    @property
    def bare(self) -> Model:
        return get_model(self._model)

    def __str__(self) -> str:
        return "the model being evaluated" if self._model is None else str(self.bare)

    def __getattr__(self, name: str) -> Any:
        # Attributes that a subclass has not set yet are not looked up in the model inside.
        if name.startswith("__") or name in ("_model", *type(self).__annotations__):
            raise AttributeError(name)
        try:
            model = self.bare
        except ValueError:
            # An agent is described when it is built, possibly before its model.
            model = get_model("none/none")
        return getattr(model, name)


class PinnedModel(DeferredModel):
    """The model being evaluated, with the pins verified before each of its calls.

    Give it to ``react(model=...)``, or call it in an agent of your own. It puts the same
    block at the same place as a compaction does, so a provider's prefix cache holds from the
    first call on.

    Args:
        model: a model or its name; by default the one being evaluated at the call.
        heading: the line above the pins.
        judge: decides whether a context still entails a policy, both as texts.
        report: called with each receipt; by default it goes to Inspect's transcript.
    """

    pins: Pins

    def __init__(
        self,
        registry: Registry,
        model: str | Model | None = None,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
    ) -> None:
        super().__init__(model)
        self.pins = Pins(registry, heading=heading, judge=judge, report=report)

    def __str__(self) -> str:
        return "the model being evaluated, pinned" if self._model is None else str(self.bare)

    async def generate(
        self, input: str | list[ChatMessage], *args: Any, **settings: Any
    ) -> ModelOutput:
        """Generate from the input with every pin in it, once."""
        given: list[ChatMessage] = (
            [ChatMessageUser(content=input)] if isinstance(input, str) else input
        )
        kept = await self.pins.check(given)
        model = self.bare
        _refuse(self.pins, model.config, *args, *settings.values())
        return await model.generate(kept, *args, **settings)


def pin_filter(
    registry: Registry, *, heading: str = HEADING, report: Callable[[Receipt], None] | None = None
) -> Callable[..., Awaitable[GenerateInput]]:
    """Return a filter for ``agent_bridge`` that verifies the pins before each call of its agent.

    ``heading`` and ``report`` are as for ``PinnedModel``.
    """
    pins = Pins(registry, heading=heading, report=report)

    async def check(
        model: Model,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        config: GenerateConfig,
    ) -> GenerateInput:
        kept = await pins.check(input)
        _refuse(pins, config)
        return GenerateInput(kept, tools, tool_choice, config)

    return check


def _refuse(pins: Pins, *given: Any) -> None:
    configs = (one for one in given if isinstance(one, GenerateConfig))
    refuse_replacing(pins, *(one.extra_body for one in configs))
