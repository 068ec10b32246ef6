"""What all scripted providers share: nothing is waited for, and tokens are counted offline."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage

from constraintrot.tokens import count


class OfflineAPI(ModelAPI):
    """A provider without a network; subclasses give ``generate``."""

    async def count_text_tokens(self, text: str) -> int:
        """Tokens of a text, counted offline."""
        return count(text)

    def max_connections(self) -> int:
        """As many as Inspect likes: nothing is waited for."""
        return 100


def metered(output: ModelOutput, texts: Sequence[str]) -> ModelOutput:
    """The output with its usage, in o200k tokens, and one token that ends it.

    Args:
        output: what was answered.
        texts: of the messages that were sent.
    """
    sent = sum(map(count, texts))
    written = count(output.completion) + 1
    output.usage = ModelUsage(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
    return output
