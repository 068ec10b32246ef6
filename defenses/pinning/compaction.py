"""A compaction strategy that puts a registry's pins back after another one."""

from collections.abc import Callable

from inspect_ai.model import ChatMessage, CompactionResult, CompactionStrategy, Model
from inspect_ai.model._model_info import get_model_input_tokens
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.defenses.pinning.model import PinnedModel
from constraintrot.defenses.pinning.pinned_block import HEADING, Receipt
from constraintrot.defenses.pinning.pins import Judge, Pins
from constraintrot.defenses.rampart import PinOverflowError, Registry

# Inspect's own assumption for a model of unknown window.
_WINDOW = 128_000
# Inspect itself compacts again as often.
_PASSES = 3


class PinnedCompaction(WrappedStrategy):
    """Any compaction strategy, with pins that it cannot touch.

    It acts when history is compacted; ``PinnedModel`` acts before each call.

    Args:
        inner: the strategy; it never sees the pinned block.
        heading: the line above them.
        judge: decides whether a context still entails a policy, both as texts.
        report: called with each receipt; by default it goes to Inspect's transcript.
        pins: shared pins, in place of all arguments but ``inner``.
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
        """Compact the messages less the pins, and put these back.

        Raises:
            PinOverflowError: the compacted messages fit under the threshold, but not with the pins.
        """
        # A summarizer must not read the pins as its own rules.
        model = model.bare if isinstance(model, PinnedModel) else model
        budget = _tokens(self.threshold, model) - await model.count_tool_tokens(tools)
        bare = self.pins.bare(messages)
        outcome = await self.inner.compact_outcome(model, bare, tools)
        if self.pins.text:
            outcome = await self._fitting(model, tools, outcome, budget)
        kept = self.pins.inject(outcome.input)
        await self.pins.step("compaction", "injected", kept, self.pins.find(kept))
        return outcome._replace(input=kept)

    async def _fitting(
        self, model: Model, tools: list[ToolInfo], outcome: CompactionResult, budget: int
    ) -> CompactionResult:
        """Compact again, as Inspect would, until the pins fit too."""
        used = await model.count_tokens(list(outcome.input))
        whole = await model.count_tokens(self.pins.inject(outcome.input))
        for _ in range(_PASSES):
            if whole <= budget:
                return outcome
            again = await self.inner.compact_outcome(model, list(outcome.input), tools)
            smaller = await model.count_tokens(list(again.input))
            if smaller >= used:
                break
            outcome, used = again, smaller
            whole = await model.count_tokens(self.pins.inject(outcome.input))
        if whole > budget >= used:
            raise PinOverflowError(whole - used, budget - used)
        return outcome


def _tokens(threshold: int | float, model: Model) -> int:
    """Return a threshold in tokens, by Inspect's own rule."""
    if isinstance(threshold, int) or threshold > 1:
        return int(threshold)
    return int(threshold * (get_model_input_tokens(model) or _WINDOW))
