"""Checkpoints side by side on held-out rules and sentences, in PyTorch.

::

    OMP_WAIT_POLICY=passive python -m results.tools.rule_reader.choose WEIGHTS.gguf RUN/step-1.pt ...

The questions are of another seed than those that calibrate, and of other rules and sentences than
those trained on. The texts of another hand are not for this.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import torch

from results.tools.roc import auc
from results.tools.rule_judge.training import HELD_OUT_SEED
from results.tools.rule_reader.scoring import Scorer
from results.tools.rule_reader.train import score
from results.tools.rule_reader.written import RULES, SENTENCES, held_out

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("weights", type=_FILE)
@click.argument("checkpoints", nargs=-1, required=True, type=_FILE)
@click.option("--sentences", default=SENTENCES, show_default=True, help="Questions about them.")
@click.option("--rules", default=RULES, show_default=True, help="Questions about them.")
@click.option("--threads", default=2, show_default=True)
def main(
    weights: Path, checkpoints: tuple[Path, ...], sentences: int, rules: int, threads: int
) -> None:
    """Print the figures of each checkpoint, one a line."""
    torch.set_num_threads(threads)
    scorer, wanted = Scorer(weights), held_out(HELD_OUT_SEED, sentences, rules)
    for file in checkpoints:
        state = torch.load(file, weights_only=True)
        scored = score(scorer, wanted, state["factors"], state["settings"]["scale"])
        told: dict[str, object] = {"checkpoint": file.name, "step": state["step"]}
        for task in ("state", "standing"):
            some = [(value, yes) for of, value, yes in scored if of == task]
            right = [value for value, yes in some if yes]
            wrong = [value for value, yes in some if not yes]
            missed = sum(value <= 0 for value in right) + sum(value > 0 for value in wrong)
            told |= {
                f"n_{task}": len(some),
                f"auc_{task}": round(auc(right, wrong), 3),
                f"wrong_{task}": round(missed / len(some), 3),
            }
        click.echo(json.dumps(told))


if __name__ == "__main__":
    main()
