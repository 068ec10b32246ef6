"""The settings of a search: its target, strategy and variants, and the variants of its test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from constraintrot.attacks.definition import Knowledge, Position, Surface

Strategy: TypeAlias = Literal["pool", "genetic", "model"]


class SearchSettings(BaseModel):
    """The settings of one search; the same ones give the same prompts on scripted models.

    Attributes:
        families: whose scenarios.
        agent: model that acts, and summarises where no role says otherwise.
        roles: models by role.
        strategy: how prompts are proposed.
        random_seed: seed of the genetic strategy, and of an attacker that takes one.
        seed: first variant of the search.
        variants: how many of each family a prompt is played on.
        eval_seed: first held-out variant.
        eval_variants: how many of each family.
        channel: ingested content that a prompt comes in.
        position: where in the history.
        parameters: task parameters, as ``compactor``, ``locale`` or ``defense``.
        exhaust: spend all queries, also after a prompt that broke every variant.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    families: tuple[str, ...] = Field(min_length=1)
    agent: str
    roles: dict[str, str] = {}
    strategy: Strategy = "pool"
    random_seed: int = 0
    seed: int = 20
    variants: int = Field(default=4, ge=1)
    eval_seed: int = 0
    eval_variants: int = Field(default=10, ge=1)
    channel: Surface = "tool_output"
    position: Position = "early"
    parameters: dict[str, Any] = {}
    exhaust: bool = False

    @property
    def target(self) -> str:
        """The attacked models: the agent, and the summarizer if it is another one."""
        return "+".join(filter(None, [self.agent, self.roles.get("summarizer")]))

    @property
    def defense(self) -> str:
        """The defense that is attacked."""
        return str(self.parameters.get("defense") or "none")

    @property
    def knowledge(self) -> Knowledge:
        """The adversary's knowledge: a search against a defense is told its results with it."""
        return "black_box" if self.defense == "none" else "defense_aware"

    @property
    def seeds(self) -> range:
        """Variants of the search."""
        return range(self.seed, self.seed + self.variants)

    @property
    def eval_seeds(self) -> range:
        """Held-out variants."""
        return range(self.eval_seed, self.eval_seed + self.eval_variants)

    def cells(self, seeds: Sequence[int]) -> list[tuple[str, int]]:
        """Family and seed of each episode that one prompt is played on."""
        return [(family, seed) for family in self.families for seed in seeds]
