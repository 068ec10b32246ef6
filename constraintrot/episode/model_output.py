"""Whether a model's output is its own answer, or a refusal or a provider's error in its place."""

from inspect_ai.model import ContentText, ModelOutput


def failed(output: ModelOutput) -> bool:
    """Return whether a provider's filter, full window or error ended an output."""
    choice = output.choices[0]
    # Local models of Inspect's never set a reason; the others set it to unknown for an error.
    unknown = choice.stop_reason == "unknown" and "stop_reason" in choice.model_fields_set
    return unknown or choice.stop_reason in ("content_filter", "model_length")


def withheld(output: ModelOutput) -> bool:
    """Return whether an output's text is a refusal or an error in place of the requested text."""
    parts = output.message.content
    # Some providers flag a refusal and end it as a normal answer.
    refused = not isinstance(parts, str) and any(
        isinstance(part, ContentText) and part.refusal for part in parts
    )
    return refused or failed(output)
