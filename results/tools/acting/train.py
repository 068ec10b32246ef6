"""Train the acting adapter; the same command resumes after a stop.

::

    OMP_WAIT_POLICY=passive python -m results.tools.acting.train WEIGHTS.gguf FOLDER

FOLDER gets ``last.pt`` (everything that a resumed run needs), ``step-N.pt`` (factors to choose
from) and ``log.jsonl`` (the log of this try). ``--from`` starts from the factors of another
try, or from a LoRA file as ``constraintrot/rule_text/rule_judge/rule-judge.gguf``.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import gguf
import torch

from results.tools.acting.generator import Example, digest, examples
from results.tools.acting.measures import Decision, rates
from results.tools.acting.scoring import Scorer
from results.tools.rule_judge.base_model import Factors
from results.tools.rule_judge.train import new_factors, write

_LOWEST = 0.1
HELD_OUT_SEED = 1000


@dataclass(frozen=True)
class Settings:
    """What defines a try; a folder resumes only under equal settings.

    Attributes:
        seed: Seed of the examples and of the factors.
        conversations: Conversations to train on, one a step; each has seven to twelve requests.
        rate: Highest learning rate.
        warm_up: Steps until it is reached.
        tokens: Most tokens of a step; of a longer example the last requests are left out.
        written: Share of the requests whose whole answer is supervised.
        weight: Weight of an answer's other tokens beside the choice of the tool.
        rank: Rank of each pair of factors.
        scale: What the product of the factors is multiplied by (alpha over rank).
        first: First layer with factors; those below stay as they are.
        matrices: Which matrices get factors.
        watched: Conversations of the held-out kinds that are scored while training goes on.
        start: SHA-256 of the file whose factors it starts from; empty for none.
    """

    seed: int = 1
    conversations: int = 80
    rate: float = 3e-4
    warm_up: int = 5
    tokens: int = 1250
    written: float = 0.25
    weight: float = 0.2
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
    watched: int = 6
    start: str = ""


class Run:
    """A try in its folder.

    Args:
        weights: The base model.
        folder: Its folder.
        settings: What defines it.
        start: The file that ``settings.start`` names.
    """

    def __init__(
        self, weights: Path, folder: Path, settings: Settings, start: Path | None = None
    ) -> None:
        self._folder, self._settings = folder, settings
        folder.mkdir(parents=True, exist_ok=True)
        self._examples = examples("train", settings.seed, settings.conversations)
        self._watched = examples("held_out", HELD_OUT_SEED, settings.watched)
        self._scorer = Scorer(weights)
        self._factors = new_factors(self._scorer.model, settings)
        self._flat = [
            factor for layer in self._factors.values() for pair in layer.values() for factor in pair
        ]
        self._optimizer = torch.optim.AdamW(self._flat, lr=settings.rate, weight_decay=0.0)
        self._step = 0
        if start is not None:
            self._copy(factors_of(start))
        self._load()

    def train(self, save_every: float, watch_every: float, until: float) -> None:
        """Go on to the last step, or to the end of the time.

        Args:
            save_every: Seconds between checkpoints.
            watch_every: Seconds between looks at the held-out kinds.
            until: Seconds after which it stops, with a checkpoint.
        """
        self._log("start", step=self._step, **asdict(self._settings), data=digest(self._examples))
        began = saved = watched = time.monotonic()
        while self._step < self._settings.conversations and time.monotonic() - began < until:
            self._one()
            now = time.monotonic()
            if now - watched > watch_every:
                self._watch()
                self._save(keep=True)
                saved = watched = time.monotonic()
            elif now - saved > save_every:
                self._save(keep=False)
                saved = time.monotonic()
        self._save(keep=True)
        self._watch()

    def _one(self) -> None:
        settings, began = self._settings, time.monotonic()
        example = self._scorer.cut(self._examples[self._step], settings.tokens)
        rng = random.Random(f"{settings.seed} {self._step}")
        written = [rng.random() < settings.written for _ in example.questions]
        rate = settings.rate * min(1.0, (self._step + 1) / settings.warm_up)
        rate *= max(_LOWEST, 1 - self._step / settings.conversations)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        loss, scores = self._scorer.loss(
            example, written, self._factors, settings.scale, settings.weight
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._flat, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._step += 1
        self._log(
            "step",
            step=self._step,
            loss=round(loss.item(), 4),
            requests=len(example.questions),
            right=round(_right(example, scores.tolist()), 3),
            seconds=round(time.monotonic() - began, 1),
        )

    def _watch(self) -> None:
        scored = decisions(self._scorer, self._watched, self._factors, self._settings.scale)
        self._log("held_out", step=self._step, **rates(scored))

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


def factors_of(file: Path) -> Factors:
    """The factors of a checkpoint or of a LoRA file."""
    if file.suffix != ".gguf":
        state: dict[str, Any] = torch.load(file, weights_only=True)
        kept: Factors = state["factors"]
        return kept
    found: dict[str, torch.Tensor] = {}
    for tensor in gguf.GGUFReader(file).tensors:
        values = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())
        found[tensor.name] = values
    factors: Factors = {}
    for name in found:
        _, layer, matrix, *_ = name.split(".")
        stem = f"blk.{layer}.{matrix}.weight.lora_"
        factors.setdefault(int(layer), {})[matrix] = (found[f"{stem}a"], found[f"{stem}b"])
    return factors


def _right(example: Example, scores: Sequence[float]) -> float:
    right = [
        (score > 0) == one.declined for one, score in zip(example.questions, scores, strict=True)
    ]
    return sum(right) / len(right)


@click.command()
@click.argument("weights", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--seed", default=Settings.seed, show_default=True)
@click.option("--conversations", default=Settings.conversations, show_default=True)
@click.option("--rate", default=Settings.rate, show_default=True)
@click.option("--watched", default=Settings.watched, show_default=True)
@click.option(
    "--from",
    "start",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Checkpoint or LoRA file whose factors it starts from.",
)
@click.option("--threads", default=2, show_default=True)
@click.option("--save-every", default=240.0, show_default=True, help="Seconds.")
@click.option("--watch-every", default=900.0, show_default=True, help="Seconds.")
@click.option("--until", default=float("inf"), help="Seconds after which it stops.")
def main(
    weights: Path,
    folder: Path,
    seed: int,
    conversations: int,
    rate: float,
    watched: int,
    start: Path | None,
    threads: int,
    save_every: float,
    watch_every: float,
    until: float,
) -> None:
    """Train, or go on training, the adapter in FOLDER on WEIGHTS."""
    torch.set_num_threads(threads)
    origin = hashlib.sha256(start.read_bytes()).hexdigest() if start else ""
    settings = Settings(
        seed=seed, conversations=conversations, rate=rate, watched=watched, start=origin
    )
    Run(weights, folder, settings, start).train(save_every, watch_every, until)


if __name__ == "__main__":
    main()
