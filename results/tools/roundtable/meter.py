"""Count the calls and tokens of a roundtable, by the usage that the provider reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from inspect_ai.model import ChatMessageUser, Model

from constraintrot.errors import EpisodeError
from constraintrot.evaluation.metrics import mean

Purpose: TypeAlias = Literal["coordination", "reasoning"]
PURPOSES: tuple[Purpose, ...] = ("coordination", "reasoning")


@dataclass
class Meter:
    """Calls a model and counts calls and tokens.

    Attributes:
        model: the model of all participants.
        counts: ``{purpose}_calls``, ``_prompt_tokens`` and ``_output_tokens``.
        received: o200k tokens of content from others in reasoning prompts.
        mandate: for each reasoning prompt of an agent or chair, the share of the mandate's
            constraints in it.
        readable: for each choice, 1 if it could be parsed, else 0.
    """

    model: Model
    counts: dict[str, int] = field(
        default_factory=lambda: {
            f"{purpose}_{what}": 0
            for purpose in PURPOSES
            for what in ("calls", "prompt_tokens", "output_tokens")
        }
    )
    received: int = 0
    mandate: list[float] = field(default_factory=list[float])
    readable: list[float] = field(default_factory=list[float])

    async def ask(self, purpose: Purpose, prompt: str) -> str:
        """One model call.

        Raises:
            EpisodeError: the provider reports no usage, and tokens are not estimated.
        """
        output = await self.model.generate([ChatMessageUser(content=prompt)])
        usage = output.usage
        if usage is None:
            raise EpisodeError(f"{self.model} reports no token usage, which this probe counts")
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        self.counts[f"{purpose}_calls"] += 1
        self.counts[f"{purpose}_prompt_tokens"] += usage.input_tokens + cached
        self.counts[f"{purpose}_output_tokens"] += usage.output_tokens
        return output.completion

    def result(self) -> dict[str, float]:
        """All counts, their sums, and the shares."""
        totals: dict[str, float] = {name: float(count) for name, count in self.counts.items()}
        for purpose in PURPOSES:
            parts = (f"{purpose}_prompt_tokens", f"{purpose}_output_tokens")
            totals[f"{purpose}_tokens"] = sum(totals[part] for part in parts)
        totals["total_tokens"] = sum(totals[f"{purpose}_tokens"] for purpose in PURPOSES)
        totals["received_tokens"] = float(self.received)
        return totals | {"mandate": mean(self.mandate), "readable": mean(self.readable)}
