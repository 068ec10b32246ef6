"""``system_channel``: declared policies stand in the system message, which is not compacted.

Governance Decay, section 7: as good as pinning, if the operator writes the system prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense, rules_of

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


class SystemChannel(Defense):
    """Adds the policies to the first system message, the same bytes every time."""

    def __init__(self, policies: str | Sequence[str]) -> None:
        self.policies = rules_of(policies)
        self.text = "\n".join(["Standing policies:", *(f"- {rule}" for rule in self.policies)])

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        from inspect_ai.model import ChatMessageSystem

        if not self.policies:
            return list(messages)
        if not messages or messages[0].role != "system":
            return [ChatMessageSystem(content=self.text, id="system-channel"), *messages]
        first = messages[0]
        if first.text.endswith(self.text):
            return list(messages)
        text = f"{first.text}\n\n{self.text}"
        return [first.model_copy(update={"content": text}), *messages[1:]]


@defense("system_channel", hooks=("assemble",), declared=True)
def system_channel(deployment: Deployment) -> Defense:
    """Declared policies in the system message."""
    return SystemChannel(tuple(dict.fromkeys(deployment.declared)))
