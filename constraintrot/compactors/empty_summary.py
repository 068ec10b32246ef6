"""A summarizer that writes nothing is asked once more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from inspect_ai.log import transcript
from inspect_ai.model import ModelOutput

from constraintrot.errors import NoSummaryError

ATTEMPTS = 2


async def asked(
    ask: Callable[[], Awaitable[ModelOutput]], read: Callable[[ModelOutput], str]
) -> tuple[str, int]:
    """A summary, and how often the summarizer wrote nothing before it.

    Each empty answer is an event of the transcript (source ``empty summary``).

    Args:
        ask: asks the summarizer.
        read: the summary in its output; blank where there is none.

    Raises:
        NoSummaryError: it wrote nothing twice.
    """
    reason = ""
    for attempt in range(ATTEMPTS):
        output = await ask()
        text = read(output).strip()
        if text and output.stop_reason != "content_filter":
            return text, attempt
        reason = str(output.stop_reason)
        transcript().info({"attempt": attempt + 1, "stop_reason": reason}, source="empty summary")
    raise NoSummaryError(
        f"the summarizer wrote no summary (stop reason {reason}), when asked again too, which is no"
        " decay; a model that reasons first may need a larger --max-tokens"
    )
