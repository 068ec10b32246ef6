"""A summary that is empty, by whichever strategy, is asked for once more."""

from __future__ import annotations

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, CompactionResult, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.compactors.empty_summary import ATTEMPTS
from constraintrot.compactors.turns import RETRIES, summary_body
from constraintrot.errors import NoSummaryError


class SummaryCheck(WrappedStrategy):
    """Another strategy, asked once more where its summary is blank.

    Our own strategies ask again by themselves, a summary at a time; Inspect's take
    an empty completion for a summary.
    """

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        for attempt in range(ATTEMPTS):
            outcome = await self.inner.compact_outcome(model, messages, tools)
            if outcome.message is None or summary_body(outcome.message.text).strip():
                return _counted(outcome, attempt)
            transcript().info({"attempt": attempt + 1}, source="empty summary")
        raise NoSummaryError(
            "the summarizer wrote no summary, when asked again too, which is no decay"
        )


def _counted(outcome: CompactionResult, retries: int) -> CompactionResult:
    """The outcome, its summary marked with how often it was asked for in vain."""
    message = outcome.message
    if not retries or message is None:
        return outcome
    metadata = {**(message.metadata or {}), RETRIES: retries}
    marked = message.model_copy(update={"metadata": metadata})
    kept = [marked if one.id == message.id else one for one in outcome.input]
    return outcome._replace(input=kept, message=marked)
