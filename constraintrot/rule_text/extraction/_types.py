"""The input and output of an extractor; every extractor has the same shape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Said:
    """One message as the agent has it: who spoke, and the text."""

    role: Role
    text: str


@dataclass(frozen=True)
class Match:
    """A constraint that an extractor matched in a message.

    Attributes:
        text: whole, contiguous sentences of the message, verbatim.
        at: which message, counted from 0.
    """

    text: str
    at: int


Extractor: TypeAlias = Callable[[Sequence[Said]], Awaitable[tuple[Match, ...]]]

# Who may set a rule. What a tool gave back, or the agent wrote, may have been
# written by anybody: a rule pinned from there would be an injection that stays.
TRUSTED: tuple[Role, ...] = ("system", "user")
