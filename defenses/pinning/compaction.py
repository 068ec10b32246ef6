"""Compaction strategies around which a registry's pins are put back."""

from collections.abc import Callable

from inspect_ai.model import ChatMessage, CompactionResult, CompactionStrategy, Model
from inspect_ai.model._model_info import get_model_input_tokens
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.defenses.pinning.entailment_judge import Judge
from constraintrot.defenses.pinning.model import PinnedModel
from constraintrot.defenses.pinning.pinned_block import HEADING, Receipt
from constraintrot.defenses.pinning.pins import Pins
from constraintrot.defenses.rampart import PinOverflowError, Registry

# Inspect's own assumption where a model's window is not known.
_WINDOW = 128_000
# As often Inspect itself compacts again.
_PASSES = 3


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
        """Compact again, as Inspect would, until the pins fit as well."""
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
    """A threshold in tokens, by Inspect's own rule."""
    if isinstance(threshold, int) or threshold > 1:
        return int(threshold)
    return int(threshold * (get_model_input_tokens(model) or _WINDOW))
