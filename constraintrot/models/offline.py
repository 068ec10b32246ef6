"""Base class of the scripted providers: no network, and tokens are counted offline."""

from collections.abc import Sequence

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage

from constraintrot.tokens import count


class OfflineAPI(ModelAPI):
    """A provider without a network; subclasses define ``generate``."""

    async def count_text_tokens(self, text: str) -> int:
        return count(text)

    def max_connections(self) -> int:
        """Return a high number, because calls do not wait."""
        return 100


def metered(output: ModelOutput, texts: Sequence[str]) -> ModelOutput:
    """Set an output's usage, in o200k tokens; one token is added for the end of the answer."""
    sent = sum(map(count, texts))
    written = count(output.completion) + 1
    output.usage = ModelUsage(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
    return output
