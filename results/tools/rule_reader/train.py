"""Train the local reader's adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.rule_reader.train WEIGHTS.gguf FOLDER

``--stage written --from RUN/last.pt`` starts from the factors of another try.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from torch.nn.functional import cross_entropy

from results.tools.roc import auc
from results.tools.rule_judge import training
from results.tools.rule_judge.base_model import Factors
from results.tools.rule_reader import generator, written
from results.tools.rule_reader.generator import Example, digest
from results.tools.rule_reader.scoring import ANSWERS, Scorer, answers

STAGES = {"templates": generator.examples, "written": written.examples}


@dataclass(frozen=True)
class Settings(training.Settings):
    """The settings of a try of the reader.

    Attributes:
        texts: Texts to train on; each has four to six questions.
        batch: Texts in one step.
        watched: Texts of the held-out kinds that are scored while training goes on.
        stage: Which examples.
    """

    warm_up: int = 8
    texts: int = 480
    batch: int = 2
    watched: int = 16
    stage: str = "templates"


def train(
    weights: Path, folder: Path, settings: Settings, clock: training.Clock, start: Path | None
) -> None:
    """Train, or go on training, the adapter in a folder."""
    examples = STAGES[settings.stage]
    some = examples("train", settings.seed, settings.texts)
    watched = examples("held_out", training.HELD_OUT_SEED, settings.watched)
    scorer, size = Scorer(weights), settings.batch

    def step(at: int, factors: Factors) -> tuple[torch.Tensor, dict[str, Any]]:
        batch = some[at * size : (at + 1) * size]
        logits, wanted = scorer.logits(batch, factors, settings.scale), answers(batch)
        right = ((bound(logits) > 0) == (wanted == 0)).float().mean()
        return cross_entropy(logits, wanted), {"right": round(right.item(), 3)}

    def watch(factors: Factors) -> dict[str, Any]:
        scored = score(scorer, watched, factors, settings.scale)
        found: dict[str, Any] = {}
        for task in ("state", "standing"):
            own = [(value, right) for of, value, right in scored if of == task]
            yes, no = ([value for value, right in own if right is side] for side in (True, False))
            found[f"auc_{task}"] = round(auc(yes, no), 3)
        return found

    run = training.Try(folder, settings, scorer.model, digest(some), start)
    run.train(settings.texts // settings.batch, step, watch, clock)


def bound(logits: torch.Tensor) -> torch.Tensor:
    """Log-odds of the first answer against all others together."""
    return logits[:, 0] - logits[:, 1:].logsumexp(1)


@torch.no_grad()
def score(
    scorer: Scorer, wanted: list[Example], factors: Factors | None, scale: float
) -> list[tuple[str, float, bool]]:
    """Of each question its task, its log-odds of the first answer, and whether that is right."""
    scored: list[tuple[str, float, bool]] = []
    for example in wanted:
        logits = scorer.logits([example], factors, scale)
        right = (answers([example]) == ANSWERS.index("yes")).tolist()
        scored += [
            (example.task, value, label)
            for value, label in zip(bound(logits).tolist(), right, strict=True)
        ]
    return scored


@click.command()
@training.options
@training.start_option
@click.option("--texts", default=Settings.texts, show_default=True, help="Texts to train on.")
@click.option("--batch", default=Settings.batch, show_default=True, help="Texts in one step.")
@click.option("--stage", type=click.Choice(list(STAGES)), default=Settings.stage)
def main(
    weights: Path,
    folder: Path,
    seed: int,
    texts: int,
    batch: int,
    rate: float,
    stage: str,
    start: Path | None,
    threads: int,
    save_every: float,
    watch_every: float,
) -> None:
    """Train, or go on training, the adapter in FOLDER on WEIGHTS."""
    torch.set_num_threads(threads)
    origin = training.digest_of(start)
    settings = Settings(seed=seed, texts=texts, batch=batch, rate=rate, stage=stage, start=origin)
    train(weights, folder, settings, training.Clock(save_every, watch_every), start)


if __name__ == "__main__":
    main()
