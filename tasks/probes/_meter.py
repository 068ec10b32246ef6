"""Counting what a roundtable's calls cost, by the model's own usage."""

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
    """Asks a model and keeps count.

    Attributes:
        model: that every participant is played by.
        counts: ``{purpose}_calls``, ``_prompt_tokens`` and ``_output_tokens``.
        received: o200k tokens of what came from others in reasoning prompts.
        mandate: by reasoning prompt below the chairman, the share of constraints in it.
        readable: by choice, whether it could be read.
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
            EpisodeError: the model reports no usage; tokens are counted here, not estimated.
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
        found: dict[str, float] = {name: float(count) for name, count in self.counts.items()}
        for purpose in PURPOSES:
            parts = (f"{purpose}_prompt_tokens", f"{purpose}_output_tokens")
            found[f"{purpose}_tokens"] = sum(found[part] for part in parts)
        found["total_tokens"] = sum(found[f"{purpose}_tokens"] for purpose in PURPOSES)
        found["received_tokens"] = float(self.received)
        return found | {"mandate": mean(self.mandate), "readable": mean(self.readable)}
