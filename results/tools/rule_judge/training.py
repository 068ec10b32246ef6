"""The training of one adapter in its folder, for the judge, the reader and the acting agent.

A folder gets ``last.pt`` (everything that a resumed run needs), ``step-N.pt`` (factors to choose
from) and ``log.jsonl`` (the log of this try).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click
import gguf
import torch

from results.tools.rule_judge.base_model import BaseModel, Factors

HELD_OUT_SEED = 1000
_LOWEST = 0.1
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

# Of a step with the factors: the loss, and what the log says of it.
Step: TypeAlias = Callable[[int, Factors], tuple[torch.Tensor, dict[str, Any]]]
Watch: TypeAlias = Callable[[Factors], dict[str, Any]]


@dataclass(frozen=True)
class Settings:
    """The settings of a try; a folder resumes only under equal settings.

    Attributes:
        seed: Seed of the examples and of the factors.
        rate: Highest learning rate.
        warm_up: Steps until it is reached.
        rank: Rank of each pair of factors.
        scale: What the product of the factors is multiplied by (alpha over rank).
        first: First layer with factors; those below stay as they are.
        matrices: Which matrices get factors.
        start: SHA-256 of the file whose factors it starts from; empty for none.
    """

    seed: int = 1
    rate: float = 3e-4
    warm_up: int = 10
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
    start: str = ""


@dataclass(frozen=True)
class Clock:
    """When a run saves, looks and stops, in seconds.

    Attributes:
        save_every: Between checkpoints.
        watch_every: Between looks at the held-out kinds.
        until: When it stops, with a checkpoint.
    """

    save_every: float = 300
    watch_every: float = 900
    until: float = float("inf")


class Try:
    """A try in its folder.

    Args:
        folder: Its folder; what it holds is gone on from.
        settings: What defines it.
        model: The base model.
        data: Digest of the examples.
        start: The file that ``settings.start`` names.

    Raises:
        click.ClickException: The folder holds a try with other settings or examples.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        model: BaseModel,
        data: str,
        start: Path | None = None,
    ) -> None:
        self._folder, self._settings, self._data = folder, settings, data
        folder.mkdir(parents=True, exist_ok=True)
        self._factors = _new_factors(model, settings)
        self._flat = [
            factor for layer in self._factors.values() for pair in layer.values() for factor in pair
        ]
        self._optimizer = torch.optim.AdamW(self._flat, lr=settings.rate, weight_decay=0.0)
        self._step = 0
        if start is not None:
            self._copy(factors_of(start))
        self._load()

    def train(self, steps: int, step: Step, watch: Watch, clock: Clock) -> None:
        """Go on to the last step, or to the end of the time.

        Args:
            steps: Steps of the whole run.
            step: Computes a step's loss.
            watch: Measures the factors on the held-out kinds.
            clock: When to save, look and stop.
        """
        self._log("start", step=self._step, **asdict(self._settings), data=self._data)
        began = saved = watched = time.monotonic()
        looked = -1
        while self._step < steps and time.monotonic() - began < clock.until:
            self._learn(steps, step)
            now = time.monotonic()
            if now - watched > clock.watch_every:
                self._look(watch)
                looked = self._step
                saved = watched = time.monotonic()
            elif now - saved > clock.save_every:
                self._save(keep=False)
                saved = time.monotonic()
        if looked != self._step:
            self._look(watch)

    def _learn(self, steps: int, step: Step) -> None:
        began, settings = time.monotonic(), self._settings
        rate = settings.rate * min(1.0, (self._step + 1) / settings.warm_up)
        rate *= max(_LOWEST, 1 - self._step / steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        loss, told = step(self._step, self._factors)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._flat, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._step += 1
        spent = round(time.monotonic() - began, 1)
        self._log("step", step=self._step, loss=round(loss.item(), 4), **told, seconds=spent)

    def _look(self, watch: Watch) -> None:
        self._save(keep=True)
        with torch.no_grad():
            self._log("held_out", step=self._step, **watch(self._factors))

    def _save(self, keep: bool) -> None:
        state = {
            "settings": asdict(self._settings),
            "data": self._data,
            "step": self._step,
            "factors": self._factors,
            "optimizer": self._optimizer.state_dict(),
        }
        _write(state, self._folder / "last.pt")
        if keep:
            kept = {name: state[name] for name in ("settings", "data", "step", "factors")}
            _write(kept, self._folder / f"step-{self._step}.pt")

    def _load(self) -> None:
        file = self._folder / "last.pt"
        if not file.is_file():
            return
        state = torch.load(file, weights_only=True)
        if state["settings"] != asdict(self._settings):
            raise click.ClickException(f"{file} is of a try with other settings; take a new folder")
        if state["data"] != self._data:
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


def digest_of(file: Path | None) -> str:
    """SHA-256 of the file that a try starts from; empty for none."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file else ""


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


def _new_factors(model: BaseModel, settings: Settings) -> Factors:
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


def _write(state: dict[str, Any], file: Path) -> None:
    # A stop in the middle of a write must not lose the checkpoint before it.
    staging = file.with_suffix(".part")
    torch.save(state, staging)
    os.replace(staging, file)


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options that every training has."""
    own = (
        click.argument("weights", type=_FILE),
        click.argument("folder", type=click.Path(path_type=Path)),
        click.option("--seed", default=Settings.seed, show_default=True),
        click.option("--rate", default=Settings.rate, show_default=True),
        click.option("--threads", default=2, show_default=True),
        click.option("--save-every", default=Clock.save_every, show_default=True, help="Seconds."),
        click.option(
            "--watch-every", default=Clock.watch_every, show_default=True, help="Seconds."
        ),
    )
    for option in reversed(own):
        command = option(command)
    return command


def start_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option that names a file to start from."""
    said = "Checkpoint or LoRA file whose factors it starts from."
    return click.option("--from", "start", type=_FILE, help=said)(command)
