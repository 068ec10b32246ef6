"""Prefix tiers: what never changes comes first, so that a provider's prefix cache keeps it.

Global (every agent's) before tenant (one agent's sessions) before session (this request).
Tools stand in the order of their names, and what is made anew with every request, such as
a time of day, is taken out of the first two tiers, but for lines that read as rules, with those
that they go on in: a rule's deadline is a part of it.
"""

from __future__ import annotations

import operator
import re
from dataclasses import replace
from typing import Final

from inspect_ai.model import ChatMessage, ChatMessageSystem

from constraintrot.defenses.pinning.pinned_messages import leading
from constraintrot.pipeline.context import Context, size
from constraintrot.pipeline.layer import Layer, Ran
from constraintrot.playbook.rule_words import reads_as_rule

# Times to the second, and identifiers of requests. A date alone may be part of a rule.
VOLATILE: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
# Line ends but for those within a sentence, behind which it goes on in lower case.
_ENDS: Final = re.compile(r"(?<=[.!?。！？\n])\n|\n(?![ \t]*[^\W_A-Z])|\n(?=[ \t]*\d+[.)][ \t])")
STRIPPED: Final = "[left out]"


class PrefixTiers(Layer):
    """Orders the tiers, and strips what changes from request to request from the first two.

    Args:
        common: the global tier, the same for every agent; empty for none.
        tenants: the tenant's tier, by tenant.
        strip: take times and request ids out of system messages.
    """

    name = "prefix"
    lengthens = True

    def __init__(
        self, common: str = "", tenants: dict[str, str] | None = None, *, strip: bool = True
    ) -> None:
        self.common, self.tenants, self.strip = common, tenants or {}, strip

    async def run(self, context: Context) -> Ran:
        """Put the tiers in front and the tools in order."""
        tiers: list[ChatMessage] = [
            ChatMessageSystem(content=text, id=f"tier-{kind}")
            for kind, text in (
                ("global", self.common),
                ("tenant", self.tenants.get(context.tenant)),
            )
            if text
        ]
        # What comes later in the system role stays where it is: history is only appended to.
        at = leading(context.messages)
        system = [self._stable(m) for m in context.messages[:at]]
        rest = context.messages[at:]
        tools = tuple(sorted(context.tools, key=lambda tool: tool.name))
        stable = [*tiers, *system]
        notes = {"prefix_tokens": size(stable)}
        if not tiers and all(map(operator.is_, system, context.messages)):
            return replace(context, tools=tools), notes
        return replace(context, messages=(*stable, *rest), tools=tools), notes

    def _stable(self, message: ChatMessage) -> ChatMessage:
        if not self.strip or not VOLATILE.search(message.text):
            return message
        if not isinstance(message.content, str):
            return message
        said = _ENDS.split(message.content)
        kept = [one if reads_as_rule(one) else VOLATILE.sub(STRIPPED, one) for one in said]
        return message.model_copy(update={"content": "\n".join(kept)})
