"""Train the local reader's adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.rule_reader.train WEIGHTS.gguf FOLDER

FOLDER gets ``last.pt`` (everything that a resumed run needs), ``step-N.pt`` (factors
to choose from) and ``log.jsonl`` (the log of this try). ``--stage written --from RUN/last.pt``
starts from the factors of another try.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch
from torch.nn.functional import cross_entropy

from results.tools.rule_judge.base_model import Factors
from results.tools.rule_judge.train import new_factors, write
from results.tools.rule_reader import generator, written
from results.tools.rule_reader.generator import Example, digest
from results.tools.rule_reader.scoring import ANSWERS, Scorer, answers

_WARM_UP = 8
_LOWEST = 0.1
HELD_OUT_SEED = 1000
STAGES = {"templates": generator.examples, "written": written.examples}


@dataclass(frozen=True)
class Settings:
    """What defines a try; a folder resumes only under equal settings.

    Attributes:
        seed: Seed of the examples and of the factors.
        texts: Texts to train on; each has four to six questions.
        batch: Texts in one step.
        rate: Highest learning rate.
        rank: Rank of each pair of factors.
        scale: What the product of the factors is multiplied by (alpha over rank).
        first: First layer with factors; those below stay as they are.
        matrices: Which matrices get factors.
        watched: Texts of the held-out kinds that are scored while training goes on.
        stage: Which examples.
        start: SHA-256 of the checkpoint whose factors it starts from; empty for none.
    """

    seed: int = 1
    texts: int = 480
    batch: int = 2
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
    watched: int = 16
    stage: str = "templates"
    start: str = ""


class Run:
    """A try in its folder.

    Args:
        weights: The base model.
        folder: Its folder.
        settings: What defines it.
        start: The checkpoint that ``settings.start`` names.
    """

    def __init__(
        self, weights: Path, folder: Path, settings: Settings, start: Path | None = None
    ) -> None:
        self._folder, self._settings = folder, settings
        folder.mkdir(parents=True, exist_ok=True)
        examples = STAGES[settings.stage]
        self._examples = examples("train", settings.seed, settings.texts)
        self._watched = examples("held_out", HELD_OUT_SEED, settings.watched)
        self._scorer = Scorer(weights)
        self._factors = new_factors(self._scorer.model, settings)
        self._flat = [
            factor for layer in self._factors.values() for pair in layer.values() for factor in pair
        ]
        self._optimizer = torch.optim.AdamW(self._flat, lr=settings.rate, weight_decay=0.0)
        self._step = 0
        if start is not None:
            self._copy(torch.load(start, weights_only=True)["factors"])
        self._load()

    def train(self, save_every: float, watch_every: float) -> None:
        """Go on to the last step.

        Args:
            save_every: Seconds between checkpoints.
            watch_every: Seconds between looks at the held-out kinds.
        """
        self._log("start", step=self._step, **asdict(self._settings), data=digest(self._examples))
        saved = watched = time.monotonic()
        steps = self._settings.texts // self._settings.batch
        while self._step < steps:
            began = time.monotonic()
            loss, right = self._one(steps)
            self._step += 1
            now = time.monotonic()
            self._log(
                "step", step=self._step, loss=loss, right=right, seconds=round(now - began, 1)
            )
            last = self._step == steps
            if last or now - watched > watch_every:
                self._watch()
                self._save(keep=True)
                saved = watched = time.monotonic()
            elif now - saved > save_every:
                self._save(keep=False)
                saved = time.monotonic()

    def _one(self, steps: int) -> tuple[float, float]:
        settings = self._settings
        batch = self._examples[self._step * settings.batch : (self._step + 1) * settings.batch]
        rate = settings.rate * min(1.0, (self._step + 1) / _WARM_UP)
        rate *= max(_LOWEST, 1 - self._step / steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        logits = self._scorer.logits(batch, self._factors, settings.scale)
        wanted = answers(batch)
        loss = cross_entropy(logits, wanted)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._flat, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        binds = bound(logits) > 0
        right = (binds == (wanted == 0)).float().mean()
        return round(loss.item(), 4), round(right.item(), 3)

    @torch.no_grad()
    def _watch(self) -> None:
        scored = score(self._scorer, self._watched, self._factors, self._settings.scale)
        fields: dict[str, Any] = {}
        for task in ("state", "standing"):
            some = [(value, wanted) for of, value, wanted in scored if of == task]
            fields[f"auc_{task}"] = round(
                auc([v for v, w in some if w], [v for v, w in some if not w]), 3
            )
        self._log("held_out", step=self._step, **fields)

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
        self._copy(state["factors"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._step = state["step"]

    @torch.no_grad()
    def _copy(self, factors: Factors) -> None:
        for layer, pairs in factors.items():
            for name, pair in pairs.items():
                for mine, kept in zip(self._factors[layer][name], pair, strict=True):
                    mine.copy_(kept)

    def _log(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, "time": int(time.time()), **fields})
        with (self._folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


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


def auc(yes: list[float], no: list[float]) -> float:
    """Area under the ROC curve."""
    pairs = [(a > b) + (a == b) / 2 for a in yes for b in no]
    return sum(pairs) / len(pairs) if pairs else float("nan")


@click.command()
@click.argument("weights", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--seed", default=Settings.seed, show_default=True)
@click.option("--texts", default=Settings.texts, show_default=True, help="Texts to train on.")
@click.option("--batch", default=Settings.batch, show_default=True, help="Texts in one step.")
@click.option("--rate", default=Settings.rate, show_default=True)
@click.option("--stage", type=click.Choice(list(STAGES)), default=Settings.stage)
@click.option(
    "--from",
    "start",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Checkpoint of another try whose factors it starts from.",
)
@click.option("--threads", default=2, show_default=True)
@click.option("--save-every", default=300.0, show_default=True, help="Seconds.")
@click.option("--watch-every", default=900.0, show_default=True, help="Seconds.")
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
    origin = hashlib.sha256(start.read_bytes()).hexdigest() if start else ""
    settings = Settings(seed=seed, texts=texts, batch=batch, rate=rate, stage=stage, start=origin)
    Run(weights, folder, settings, start).train(save_every, watch_every)


if __name__ == "__main__":
    main()
