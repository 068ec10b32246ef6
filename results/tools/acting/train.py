"""Train the acting adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.acting.train WEIGHTS.gguf FOLDER

``--from`` starts from the factors of another try, or from a LoRA file as
``constraintrot/rule_text/rule_judge/rule-judge.gguf``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch

from results.tools.acting.generator import Example, digest, examples, wording_option
from results.tools.acting.measures import Decision, rates
from results.tools.acting.scoring import Scorer
from results.tools.acting.work import WORDINGS
from results.tools.rule_judge import training
from results.tools.rule_judge.base_model import Factors


@dataclass(frozen=True)
class Settings(training.Settings):
    """The settings of a try of the acting adapter.

    Attributes:
        conversations: Conversations to train on, one a step; each has seven to twelve requests.
        tokens: Most tokens of a step; of a longer example the last requests are left out.
        written: Share of the requests whose whole answer is supervised.
        weight: Weight of an answer's other tokens beside the choice of the tool.
        watched: Conversations of the held-out kinds that are scored while training goes on.
        wordings: How rules are said.
    """

    warm_up: int = 5
    conversations: int = 80
    tokens: int = 1250
    written: float = 0.25
    weight: float = 0.2
    watched: int = 6
    wordings: tuple[str, ...] = WORDINGS[:1]


def train(
    weights: Path, folder: Path, settings: Settings, clock: training.Clock, start: Path | None
) -> None:
    """Train, or go on training, the adapter in a folder."""
    said = settings.wordings
    some = examples("train", settings.seed, settings.conversations, wordings=said)
    watched = examples("held_out", training.HELD_OUT_SEED, settings.watched, wordings=said)
    scorer = Scorer(weights)

    def step(at: int, factors: Factors) -> tuple[torch.Tensor, dict[str, Any]]:
        example = scorer.cut(some[at], settings.tokens)
        rng = random.Random(f"{settings.seed} {at}")
        written = [rng.random() < settings.written for _ in example.questions]
        loss, scores = scorer.loss(example, written, factors, settings.scale, settings.weight)
        right = _right(example, scores.tolist())
        return loss, {"requests": len(example.questions), "right": round(right, 3)}

    def watch(factors: Factors) -> dict[str, Any]:
        return {**rates(decisions(scorer, watched, factors, settings.scale))}

    run = training.Try(folder, settings, scorer.model, digest(some), start)
    run.train(settings.conversations, step, watch, clock)


@torch.no_grad()
def decisions(
    scorer: Scorer, some: Sequence[Example], factors: Factors, scale: float
) -> list[Decision]:
    """Of each request its kind, where its rule stands, its log-odds of declining, and its answer."""
    found: list[Decision] = []
    for example in some:
        plain = [False] * len(example.questions)
        _, scores = scorer.loss(example, plain, factors, scale, 0.0)
        found += [
            Decision(one.asked.kind, one.place, score, one.declined, one.asked.breaks)
            for one, score in zip(example.questions, scores.tolist(), strict=True)
        ]
    return found


def _right(example: Example, scores: Sequence[float]) -> float:
    right = [
        (score > 0) == one.declined for one, score in zip(example.questions, scores, strict=True)
    ]
    return sum(right) / len(right)


@click.command()
@training.options
@training.start_option
@click.option("--conversations", default=Settings.conversations, show_default=True)
@click.option("--watched", default=Settings.watched, show_default=True)
@wording_option
@click.option("--until", default=training.Clock.until, help="Seconds after which it stops.")
def main(
    weights: Path,
    folder: Path,
    seed: int,
    conversations: int,
    rate: float,
    watched: int,
    wordings: tuple[str, ...],
    start: Path | None,
    threads: int,
    save_every: float,
    watch_every: float,
    until: float,
) -> None:
    """Train, or go on training, the adapter in FOLDER on WEIGHTS."""
    torch.set_num_threads(threads)
    settings = Settings(
        seed=seed, conversations=conversations, rate=rate, watched=watched,
        start=training.digest_of(start), wordings=wordings,
    )  # fmt: skip
    train(weights, folder, settings, training.Clock(save_every, watch_every, until), start)


if __name__ == "__main__":
    main()
