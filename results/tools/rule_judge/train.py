"""Train the rule judge's adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.rule_judge.train WEIGHTS.gguf FOLDER

FOLDER gets ``last.pt`` (everything that a resumed run needs), ``step-N.pt`` (factors
to choose from) and ``log.jsonl`` (the log of this try).
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from results.tools.rule_judge.base_model import BaseModel, Factors
from results.tools.rule_judge.generator import Example, digest, examples
from results.tools.rule_judge.measures import auc_by_kind, brier
from results.tools.rule_judge.scoring import Scorer

_WARM_UP = 10
_LOWEST = 0.1
_HELD_OUT_SEED = 1000


@dataclass(frozen=True)
class Settings:
    """What defines a try; a folder resumes only under equal settings.

    Attributes:
        seed: Seed of the examples and of the factors.
        groups: Rules to train on; each has two requests.
        batch: Rules in one step.
        rate: Highest learning rate.
        rank: Rank of each pair of factors.
        scale: What the product of the factors is multiplied by (alpha over rank).
        first: First layer with factors; those below stay as they are.
        matrices: Which matrices get factors.
        watched: Rules of the held-out kinds that are scored while training goes on.
    """

    seed: int = 1
    groups: int = 1200
    batch: int = 5
    rate: float = 3e-4
    rank: int = 8
    scale: float = 2.0
    first: int = 8
    matrices: tuple[str, ...] = (
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_up",
        "ffn_down",
    )
    watched: int = 20


class Run:
    """A try in its folder."""

    def __init__(self, weights: Path, folder: Path, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        folder.mkdir(parents=True, exist_ok=True)
        self._examples = examples("train", settings.seed, settings.groups)
        self._watched = examples("held_out", _HELD_OUT_SEED, settings.watched)
        self._scorer = Scorer(weights)
        self._factors = new_factors(self._scorer.model, settings)
        flat = [
            factor for layer in self._factors.values() for pair in layer.values() for factor in pair
        ]
        self._flat = flat
        self._optimizer = torch.optim.AdamW(flat, lr=settings.rate, weight_decay=0.0)
        self._step = 0
        self._load()

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self._settings.groups // self._settings.batch

    def train(self, save_every: int, watch_every: int) -> None:
        """Go on to the last step."""
        self._log("start", step=self._step, **asdict(self._settings), data=digest(self._examples))
        while self._step < self.steps:
            began = time.monotonic()
            loss, right = self._one()
            self._step += 1
            spent = round(time.monotonic() - began, 1)
            self._log("step", step=self._step, loss=loss, right=right, seconds=spent)
            last = self._step == self.steps
            if last or self._step % save_every == 0:
                self._save(last or self._step % watch_every == 0)
            if last or self._step % watch_every == 0:
                self._watch()

    def _one(self) -> tuple[float, float]:
        settings, size = self._settings, 2 * self._settings.batch
        batch = self._examples[self._step * size : (self._step + 1) * size]
        rate = settings.rate * min(1.0, (self._step + 1) / _WARM_UP)
        rate *= max(_LOWEST, 1 - self._step / self.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        scores = self._scorer.scores(batch, self._factors, settings.scale)
        labels = torch.tensor([float(example.breaks) for example in batch])
        loss = binary_cross_entropy_with_logits(scores, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._flat, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        right = ((scores > 0) == (labels > 0)).float().mean()
        return round(loss.item(), 4), round(right.item(), 3)

    def _watch(self) -> None:
        scored = score(self._scorer, self._watched, self._factors, self._settings.scale)
        self._log(
            "held_out", step=self._step, brier=round(brier(scored), 4), auc=auc_by_kind(scored)
        )

    def _save(self, keep: bool) -> None:
        state = {
            "settings": asdict(self._settings),
            "data": digest(self._examples),
            "step": self._step,
            "factors": self._factors,
            "optimizer": self._optimizer.state_dict(),
        }
        write(state, self._folder / "last.pt")
        if keep:
            kept = {name: state[name] for name in ("settings", "data", "step", "factors")}
            write(kept, self._folder / f"step-{self._step}.pt")

    def _load(self) -> None:
        file = self._folder / "last.pt"
        if not file.is_file():
            return
        state = torch.load(file, weights_only=True)
        if state["settings"] != asdict(self._settings):
            raise click.ClickException(f"{file} is of a try with other settings; take a new folder")
        if state["data"] != digest(self._examples):
            raise click.ClickException(f"{file} was trained on other examples; take a new folder")
        with torch.no_grad():
            for layer, pairs in state["factors"].items():
                for name, pair in pairs.items():
                    for mine, saved in zip(self._factors[layer][name], pair, strict=True):
                        mine.copy_(saved)
        self._optimizer.load_state_dict(state["optimizer"])
        self._step = state["step"]

    def _log(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, "time": int(time.time()), **fields})
        with (self._folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def new_factors(model: BaseModel, settings: Settings) -> Factors:
    """Factors whose product is zero, so that the first step starts from the base model."""
    generator = torch.Generator().manual_seed(settings.seed)
    factors: Factors = {}
    for layer in range(settings.first, model.shape.layers):
        factors[layer] = {}
        for name in settings.matrices:
            outputs, inputs = model.layers[layer][name].shape
            down = torch.randn(settings.rank, inputs, generator=generator) * inputs**-0.5
            up = torch.zeros(outputs, settings.rank)
            factors[layer][name] = (down.requires_grad_(), up.requires_grad_())
    return factors


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


def write(state: dict[str, Any], file: Path) -> None:
    # A stop in the middle of a write must not lose the checkpoint before it.
    staging = file.with_suffix(".part")
    torch.save(state, staging)
    os.replace(staging, file)


@click.command()
@click.argument("weights", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--seed", default=Settings.seed, show_default=True)
@click.option("--groups", default=Settings.groups, show_default=True, help="Rules to train on.")
@click.option("--batch", default=Settings.batch, show_default=True, help="Rules in one step.")
@click.option("--rate", default=Settings.rate, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--save-every", default=10, show_default=True)
@click.option("--watch-every", default=60, show_default=True)
def main(
    weights: Path,
    folder: Path,
    seed: int,
    groups: int,
    batch: int,
    rate: float,
    threads: int,
    save_every: int,
    watch_every: int,
) -> None:
    """Train, or go on training, the adapter in FOLDER on WEIGHTS."""
    torch.set_num_threads(threads)
    settings = Settings(seed=seed, groups=groups, batch=batch, rate=rate)
    Run(weights, folder, settings).train(save_every, watch_every)


if __name__ == "__main__":
    main()
