"""The pipeline: layers one after the other, and the pins after all of them.

>>> pipeline = Pipeline([ExactCache(), Compaction(strategy)], pins=registry)
>>> output = await pipeline.generate(model, messages, tools, session="ticket-17")

No layer sees the pins. They are removed from the client's messages, and added, word for word, after
all layers, so nothing can compress, mask, reorder or cache them away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageBase, GenerateConfig, Model, ModelOutput
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo

from constraintrot.defenses.pinning.pins import Pins
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.arrangement import Limits
from constraintrot.memory.pipeline.context import (
    DEFAULT,
    Budget,
    Context,
    PipelineOverflowError,
    Sessions,
    Trace,
    conversation,
    size,
    tool_tokens,
)
from constraintrot.memory.pipeline.layer import Layer, Prepared

# Called with each layer's name and the messages as it leaves them.
Watch: TypeAlias = Callable[[str, Sequence[ChatMessage]], None]


class Pipeline:
    """Layers around the calls of a model.

    Args:
        layers: the layers, in the order in which a request passes them.
        pins: a registry; its pins are in every request, word for word.
        budget: the token budget.

    Raises:
        ParameterError: a layer is not a ``Layer``, two have the same name, one after
            ``limits`` makes requests longer, or pins or budget have the wrong type.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        pins: Registry | Pins | None = None,
        budget: Budget = DEFAULT,
    ) -> None:
        names = [_named(layer) for layer in layers]
        if len(set(names)) < len(names):
            raise ParameterError(f"a pipeline takes each layer once: {', '.join(names)}")
        _check_order(layers, names)
        self.layers = tuple(layers)
        if not isinstance(pins, Registry | Pins | None):
            raise ParameterError(
                f"pins are a Registry (Registry(operator).pin(text, by=operator)), not {pins!r:.60}"
            )
        if not isinstance(budget, Budget):
            raise ParameterError(
                f"budget is a Budget, as Budget(total=100_000), not {budget!r:.60}"
            )
        self.pins = Pins(pins) if isinstance(pins, Registry) else pins
        self.budget = budget
        self.sessions = Sessions()

    def unpinned(self) -> Pipeline:
        """Return a pipeline of the same layers, with all that they keep, without pins."""
        return Pipeline(self.layers, budget=self.budget)

    async def prepare(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolInfo] = (),
        *,
        session: str = "",
        tenant: str = "",
        model: Model | None = None,
        settings: str | None = "",
        tool_choice: ToolChoice | None = None,
        compact_now: bool = False,
        watch: Watch | None = None,
    ) -> Prepared:
        """Take a request through the layers, and put the pins in.

        Args:
            messages: the whole conversation, as the client has it.
            tools: the client's tools.
            session: the conversation's name; by default the id of its first message.
            tenant: the tenant of the request.
            model: the agent's model, which layers may ask.
            settings: further conditions of the answer as a text (``settings_of``); None turns the
                caches off.
            tool_choice: as Inspect takes it; a tool that it names is not pruned. The caches compare
                ``settings``, not this.
            compact_now: compact the history regardless of its size.
            watch: called with each layer's name and the messages as it leaves them.

        Raises:
            PipelineOverflowError: the parts that must stay whole exceed the budget.
            ParameterError: the messages are not Inspect's.
        """
        _check_messages(messages)
        given = Context(
            tuple(messages), tuple(tools),
            self.sessions.get(tenant, session or conversation(messages)), tenant,
            budget=self.budget, model=model, compact_now=compact_now,
            layers=" ".join(str(layer.number) for layer in self.layers), settings=settings,
            chosen=tool_choice.name if isinstance(tool_choice, ToolFunction) else "",
        )  # fmt: skip
        start = self._with_pins(given)
        context, traces, passed = await self._through(start, watch)
        while self._with_pins(given).manifest != start.manifest:
            # A pin came or went while a layer waited for a model, so the layers' work, and what
            # the caches would keep, belongs to pins that are no longer in force.
            start = self._with_pins(replace(given, compact_now=False))
            context, traces, passed = await self._through(start, watch)
        sent = await self._pinned(context)
        if watch is not None:
            watch("pins", sent)
        return Prepared(
            sent, list(context.tools), context.answer, context.backend, tuple(traces), tuple(passed)
        )

    async def _through(
        self, context: Context, watch: Watch | None
    ) -> tuple[Context, list[Trace], list[tuple[Layer, Context]]]:
        """Return the context after all layers, the traces, and each layer with its input."""
        traces: list[Trace] = []
        passed: list[tuple[Layer, Context]] = []
        for layer in self.layers:
            passed.append((layer, context))
            context, trace = await layer.apply(context)
            traces.append(trace)
            if watch is not None:
                watch(layer.name, context.messages)
            if context.answer is not None:
                break
        return context, traces, passed

    def _with_pins(self, context: Context) -> Context:
        if self.pins is None:
            return context
        now = self.pins.rendering()
        pinned = tuple(now.contents.values())
        repeated = sum(layer.repeats(pinned) for layer in self.layers)
        return replace(
            context,
            messages=tuple(self.pins.bare(context.messages)),
            manifest=now.manifest if now.blocks else "",
            pinned=pinned,
            pinned_tokens=now.tokens + repeated,
        )

    async def _pinned(self, context: Context) -> list[ChatMessage]:
        """Return the messages with the pins, and check that they are within the budget."""
        if self.pins is None or not self.pins.text:
            sent = list(context.messages)
        else:
            sent = await self.pins.check(context.messages)
        if context.answer is None:
            used = size(sent) + sum(map(tool_tokens, context.tools))
            if used > self.budget.total:
                raise PipelineOverflowError(
                    f"the request has {used} tokens, {context.pinned_tokens} of them pins, and the"
                    f" budget is {self.budget.total}; add the layers compaction and limits, or"
                    " raise the budget"
                )
        return sent

    async def generate(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolInfo] = (),
        *,
        session: str = "",
        tenant: str = "",
        tool_choice: ToolChoice | None = None,
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        """Take a request through the layers to the model, and the answer back.

        The model is asked, with the sampling settings of ``config``, unless a cache has the answer.
        The other arguments and the errors are those of ``prepare``.
        """
        config = config or GenerateConfig()
        prepared = await self.prepare(
            messages, tools, session=session, tenant=tenant, model=model,
            settings=settings_of(tool_choice, config), tool_choice=tool_choice,
        )  # fmt: skip
        output = prepared.answer
        if output is None:
            output = await model.generate(
                prepared.messages,
                tools=prepared.tools,
                tool_choice=tool_choice,
                config=config,
            )
        return prepared.answered(output)


def settings_of(tool_choice: ToolChoice | None, config: GenerateConfig) -> str:
    """Return the settings of an answer as a text, as ``prepare`` takes it.

    It includes an evaluation's own settings, which no public function of Inspect returns.
    """
    return repr((tool_choice, config, active_generate_config()))


def checked(pipeline: object) -> Pipeline:
    """Return the pipeline, or refuse it before the first request."""
    if not isinstance(pipeline, Pipeline):
        raise ParameterError(
            f"a pipeline is a Pipeline, as Pipeline(layers(), pins=rules), not {pipeline!r:.60}"
        )
    return pipeline


def _named(layer: object) -> str:
    name = getattr(layer, "name", None)
    if not isinstance(layer, Layer) or not isinstance(name, str):
        raise ParameterError(
            "layers are objects of Layer with a name, as Masking() or profiles.layers() gives them,"
            f" not {layer!r:.60}"
        )
    return name


def _check_order(layers: Sequence[Layer], names: Sequence[str]) -> None:
    after = names.index(Limits.name) if Limits.name in names else len(names)
    for layer in layers[after:]:
        if layer.lengthens:
            raise ParameterError(
                f"{layer.name} makes requests longer, and limits would not count what it adds;"
                f" put {layer.name} before limits"
            )


def _check_messages(messages: Sequence[ChatMessage]) -> None:
    # The first tells another library's list; checking all would cost time with every request.
    first = next(iter(messages), None)
    if first is not None and not isinstance(first, ChatMessageBase):
        raise ParameterError(
            "messages are a list of Inspect's, as ChatMessageUser(content=...), and one is"
            f" {first!r:.60}; in LangChain take PipelineMiddleware"
        )
