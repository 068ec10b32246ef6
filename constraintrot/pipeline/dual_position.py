"""Dual position: in a long conversation, the pins stand at its end as well as at its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from inspect_ai.model import Content, ContentText

from constraintrot.pipeline.context import Context
from constraintrot.pipeline.layer import Layer, Ran
from constraintrot.tokens import count

ABOVE: Final = 20


class DualPosition(Layer):
    """Adds the pins to the last request, word for word, where a conversation is long.

    They are read from the registry with every request, so that what is repeated is what
    is in force.

    Args:
        above: up to so many messages, nothing is repeated.
    """

    name = "dual_position"

    def __init__(self, *, above: int = ABOVE) -> None:
        self.above = above

    async def run(self, context: Context) -> Ran:
        """Repeat the pins behind the request."""
        users = [at for at, m in enumerate(context.messages) if m.role == "user"]
        if len(context.messages) <= self.above or not context.pinned or not users:
            return context, {}
        at = users[-1]
        said = context.messages[at]
        repeated = _repeated(context.pinned)
        content: str | list[Content] = f"{said.text}\n\n{repeated}"
        if not isinstance(said.content, str):
            content = [*said.content, ContentText(text=repeated)]
        made = said.model_copy(update={"content": content})
        messages = (*context.messages[:at], made, *context.messages[at + 1 :])
        return replace(context, messages=messages), {"repeated_tokens": count(repeated)}

    def repeats(self, pinned: Sequence[str]) -> int:
        """What the pins take up where they are repeated."""
        return count(f"\n\n{_repeated(pinned)}") if pinned else 0


def _repeated(pinned: Sequence[str]) -> str:
    rules = "\n".join(pinned)
    return f"<critical_constraints>\n{rules}\n</critical_constraints>"
