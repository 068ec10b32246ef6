"""Train the rule judge's adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.rule_judge.train WEIGHTS.gguf FOLDER
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from results.tools.rule_judge import training
from results.tools.rule_judge.base_model import Factors
from results.tools.rule_judge.generator import Example, digest, examples
from results.tools.rule_judge.measures import auc_by_kind, brier
from results.tools.rule_judge.scoring import Scorer


@dataclass(frozen=True)
class Settings(training.Settings):
    """The settings of a try of the judge.

    Attributes:
        groups: Rules to train on; each has two requests.
        batch: Rules in one step.
        watched: Rules of the held-out kinds that are scored while training goes on.
    """

    groups: int = 1200
    batch: int = 5
    watched: int = 20


def train(weights: Path, folder: Path, settings: Settings, clock: training.Clock) -> None:
    """Train, or go on training, the adapter in a folder."""
    some = examples("train", settings.seed, settings.groups)
    watched = examples("held_out", training.HELD_OUT_SEED, settings.watched)
    scorer, size = Scorer(weights), 2 * settings.batch

    def step(at: int, factors: Factors) -> tuple[torch.Tensor, dict[str, Any]]:
        batch = some[at * size : (at + 1) * size]
        scores = scorer.scores(batch, factors, settings.scale)
        labels = torch.tensor([float(example.breaks) for example in batch])
        right = ((scores > 0) == (labels > 0)).float().mean()
        loss = binary_cross_entropy_with_logits(scores, labels)
        return loss, {"right": round(right.item(), 3)}

    def watch(factors: Factors) -> dict[str, Any]:
        scored = score(scorer, watched, factors, settings.scale)
        return {"brier": round(brier(scored), 4), "auc": auc_by_kind(scored)}

    run = training.Try(folder, settings, scorer.model, digest(some))
    run.train(settings.groups // settings.batch, step, watch, clock)


@torch.no_grad()
def score(
    scorer: Scorer, wanted: list[Example], factors: Factors | None, scale: float, batch: int = 10
) -> list[tuple[Example, float]]:
    """Examples with their log-odds of yes."""
    scored: list[tuple[Example, float]] = []
    for at in range(0, len(wanted), batch):
        part = wanted[at : at + batch]
        scored += zip(part, scorer.scores(part, factors, scale).tolist(), strict=True)
    return scored


@click.command()
@training.options
@click.option("--groups", default=Settings.groups, show_default=True, help="Rules to train on.")
@click.option("--batch", default=Settings.batch, show_default=True, help="Rules in one step.")
def main(
    weights: Path,
    folder: Path,
    seed: int,
    groups: int,
    batch: int,
    rate: float,
    threads: int,
    save_every: float,
    watch_every: float,
) -> None:
    """Train, or go on training, the adapter in FOLDER on WEIGHTS."""
    torch.set_num_threads(threads)
    settings = Settings(seed=seed, groups=groups, batch=batch, rate=rate)
    train(weights, folder, settings, training.Clock(save_every, watch_every))


if __name__ == "__main__":
    main()
