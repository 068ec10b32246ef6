"""Constraint Pinning for any Inspect agent that compacts its history.

>>> from inspect_ai.agent import react
>>> from inspect_ai.model import CompactionSummary
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> agent = react(
...     model=PinnedModel(rules), compaction=PinnedCompaction(CompactionSummary(), rules)
... )

Governance Decay, section 7: pins are exempt from compaction, put back word for
word after each one, and their presence is checked at every step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.model._model import GenerateInput
from inspect_ai.model._model_info import get_model_input_tokens
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy, summarised
from constraintrot.defenses import MEASURING
from constraintrot.defenses.pinning.pinned_block import HEADING, Board, Receipt, State, Where
from constraintrot.defenses.pinning.pinned_messages import PINNED, holds, without_pins
from constraintrot.defenses.rampart import PinOverflowError, Registry
from constraintrot.grading.judge import JUDGE_PROMPT, read_vote

# Inspect's own assumption where a model's window is not known.
_WINDOW = 128_000
# As often Inspect itself compacts again.
_PASSES = 3

Judge: TypeAlias = Callable[[str, str], Awaitable[bool | None]]


class Pins(Board):
    """A registry's pinned tier as it stands in a context of Inspect's.

    Args:
        registry: whose pins.
        heading: the line above them.
        judge: says whether a context still entails a policy, both as texts.
        report: is given each receipt; by default it goes to Inspect's transcript.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
    ) -> None:
        super().__init__(registry, heading=heading, report=report or _to_transcript)
        self.judge = judge

    def message(self) -> ChatMessageUser:
        """The block as a message, with the same id for the same pins."""
        manifest = self.registry.manifest()
        return ChatMessageUser(
            content=self.text, id=f"pins-{manifest[:16]}", metadata={PINNED: manifest}
        )

    def inject(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages with the block after the leading system messages.

        There nothing before it ever changes, so a prefix cache keeps it.
        """
        if not self.text:
            return list(messages)
        at = leading(messages)
        return [*messages[:at], self.message(), *messages[at:]]

    def bare(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages as they would be had nothing been pinned, in any revision."""
        return without_pins(messages, self.cut)

    def find(self, messages: Sequence[ChatMessage]) -> int | None:
        """The index of the message that holds the block, where one does."""
        text = self.text
        return next((at for at, m in enumerate(messages) if text and holds(m, text)), None)

    def unsaid(self, messages: Sequence[ChatMessage]) -> tuple[str, ...]:
        """Names of the pins that no user or system message states word for word.

        What a tool returned or a model wrote is no such message, a summary in the
        user's role included: it may quote a pin and say that it is withdrawn.
        """
        said = [m.text for m in messages if m.role in ("system", "user") and not summarised(m)]
        return self.missing(said)

    async def check(
        self, messages: Sequence[ChatMessage], *, always: bool = False
    ) -> list[ChatMessage]:
        """Verify the pins right before a call, put in what is missing, take out what is stale.

        Args:
            messages: what the agent is about to be sent.
            always: put the block in even where each policy still stands in the
                history by itself, as it does before a first compaction.
        """
        bare = self.bare(messages)
        missing = self.unsaid(bare) if self.find(messages) is None else ()
        # What was put in before is put in anew, so that no earlier revision stays.
        held = [m.id for m in bare] != [m.id for m in messages] or any(
            message is not kept for message, kept in zip(messages, bare, strict=True)
        )
        kept = self.inject(bare) if held or missing or always else list(messages)
        await self.step("call", self._state(messages, kept), kept, self.find(kept), missing)
        return kept

    def _state(self, before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> State:
        # Joined, since a provider may have had the block merged with its neighbours.
        if _whole(before) == _whole(after):
            return "verified"
        compacted = any(summarised(m) or PINNED in (m.metadata or {}) for m in before)
        return "repaired" if compacted else "injected"

    async def step(
        self,
        where: Where,
        state: State,
        messages: Sequence[ChatMessage],
        at: int | None,
        missing: tuple[str, ...] = (),
    ) -> None:
        """Report a step, with the judge's opinion where there is one."""
        if MEASURING.get():
            return
        pins = self.registry.pins()
        entailed = None
        if self.judge is not None and pins:
            context = "\n\n".join(message.text for message in messages)
            entailed = await self.judge("\n".join(pin.content for pin in pins), context)
        self.receipt(state, where=where, at=at, missing=missing, entailed=entailed)


class PinnedCompaction(WrappedStrategy):
    """Any compaction strategy, with pins that it cannot touch.

    It acts when history is compacted. Before each call there is ``PinnedModel``.

    Args:
        inner: the strategy; it never sees the pinned block.
        registry: whose pins.
        heading: the line above them.
        judge: says whether a context still entails a policy, both as texts.
        report: is given each receipt; by default it goes to Inspect's transcript.
        pins: instead of all these but ``inner``, where pins are shared.
    """

    def __init__(
        self,
        inner: CompactionStrategy,
        registry: Registry,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
        pins: Pins | None = None,
    ) -> None:
        super().__init__(inner)
        self.pins = pins or Pins(registry, heading=heading, judge=judge, report=report)

    async def around(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        """Compact what is not pinned, and put the pins back.

        Raises:
            PinOverflowError: what the strategy leaves fits under the threshold,
                and with the pins it does not.
        """
        # A summarizer is not to be told the pins as its own rules.
        model = model.bare if isinstance(model, PinnedModel) else model
        room = await self._room(model, tools)
        bare = self.pins.bare(messages)
        outcome = await self.inner.compact_outcome(model, bare, tools)
        if self.pins.text:
            outcome = await self._fitting(model, tools, outcome, room)
        kept = self.pins.inject(outcome.input)
        await self.pins.step("compaction", "injected", kept, self.pins.find(kept))
        return outcome._replace(input=kept)

    async def _room(self, model: Model, tools: list[ToolInfo]) -> int:
        return _tokens(self.threshold, model) - await model.count_tool_tokens(tools)

    async def _fitting(
        self, model: Model, tools: list[ToolInfo], outcome: CompactionResult, room: int
    ) -> CompactionResult:
        """Compact again, as Inspect would, until the pins fit as well."""
        used = await model.count_tokens(list(outcome.input))
        whole = await model.count_tokens(self.pins.inject(outcome.input))
        for _ in range(_PASSES):
            if whole <= room:
                return outcome
            again = await self.inner.compact_outcome(model, list(outcome.input), tools)
            smaller = await model.count_tokens(list(again.input))
            if smaller >= used:
                break
            outcome, used = again, smaller
            whole = await model.count_tokens(self.pins.inject(outcome.input))
        if whole > room >= used:
            raise PinOverflowError(whole - used, room - used)
        return outcome


class PinnedModel(Model):
    """The model being evaluated, with the pins verified before each of its calls.

    Give it to ``react(model=...)`` or call it in an agent of your own. Until a
    compaction has put the block in, it does, at the same place with the same
    bytes, so a provider's prefix cache holds from the first call on.

    Args:
        registry: whose pins.
        model: a model or its name; by default the one being evaluated, which is
            looked up when it is called.
        heading: the line above the pins.
        judge: says whether a context still entails a policy, both as texts.
        report: is given each receipt; by default it goes to Inspect's transcript.
    """

    def __init__(
        self,
        registry: Registry,
        model: str | Model | None = None,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
    ) -> None:
        # Not the base class's own: an agent is often built before there is a model.
        self._model = model
        self.pins = Pins(registry, heading=heading, judge=judge, report=report)

    @property
    def bare(self) -> Model:
        """The model without the pins."""
        return get_model(self._model)

    def __str__(self) -> str:
        return "the model being evaluated, pinned" if self._model is None else str(self.bare)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_model", "pins"):
            raise AttributeError(name)
        try:
            model = self.bare
        except ValueError:
            # An agent is described when it is built, where there may be no model yet.
            model = get_model("none/none")
        return getattr(model, name)

    async def generate(
        self, input: str | list[ChatMessage], *args: Any, **settings: Any
    ) -> ModelOutput:
        """Generate from the input with every pin in it, once."""
        given: list[ChatMessage] = (
            [ChatMessageUser(content=input)] if isinstance(input, str) else input
        )
        kept = await self.pins.check(given, always=True)
        return await self.bare.generate(kept, *args, **settings)


def pin_filter(
    registry: Registry, *, heading: str = HEADING, report: Callable[[Receipt], None] | None = None
) -> Callable[..., Awaitable[GenerateInput]]:
    """``agent_bridge(filter=...)``: the pins verified before each call of a bridged agent.

    Args:
        registry: whose pins.
        heading: the line above them.
        report: is given each receipt; by default it goes to Inspect's transcript.
    """
    pins = Pins(registry, heading=heading, report=report)

    async def check(
        model: Model,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        config: GenerateConfig,
    ) -> GenerateInput:
        kept = await pins.check(input, always=True)
        return GenerateInput(kept, tools, tool_choice, config)

    return check


def entailment(model: str | Model | None = None) -> Judge:
    """A judge for ``judge=``: does a context, taken as a whole, still entail a policy?

    Args:
        model: a model or its name; by default the role ``judge``.
    """

    async def judge(policy: str, context: str) -> bool | None:
        asked = get_model(model) if model is not None else get_model(role="judge")
        prompt = JUDGE_PROMPT.format(policy=policy, context=context)
        return read_vote((await asked.generate(prompt)).completion)

    return judge


def _whole(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.text for message in messages)


def leading(messages: Sequence[ChatMessage]) -> int:
    """How many system messages stand at the start."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return at


def _tokens(threshold: int | float, model: Model) -> int:
    """A threshold in tokens, by Inspect's own rule."""
    if isinstance(threshold, int) or threshold > 1:
        return int(threshold)
    return int(threshold * (get_model_input_tokens(model) or _WINDOW))


def _to_transcript(receipt: Receipt) -> None:
    transcript().info(receipt.model_dump(mode="json"), source="pin receipt")
