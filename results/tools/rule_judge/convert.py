"""Turn a checkpoint's factors into a LoRA file for llama.cpp.

::

    python -m results.tools.rule_judge.convert FOLDER/step-240.pt rule-judge.gguf

Equal factors give equal bytes. ``rule-judge.origin.json`` beside it says where they
come from, for the evaluation, which runs without PyTorch.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import click
import gguf
import numpy as np
import torch

MOST_BYTES = 10_000_000


def convert(checkpoint: Path, target: Path, title: str = "ConstraintRot rule judge") -> str:
    """Write the LoRA file; returns its SHA-256.

    Args:
        checkpoint: What training wrote.
        target: The LoRA file.
        title: Its name in its own header.

    Raises:
        ValueError: The file would be larger than 10 MB.
    """
    state = torch.load(checkpoint, weights_only=True)
    settings = state["settings"]
    writer = gguf.GGUFWriter(str(target), "qwen2")
    writer.add_type("adapter")
    writer.add_name(title)
    writer.add_license("Apache-2.0")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", settings["scale"] * settings["rank"])
    writer.add_string("constraintrot.examples.sha256", state["data"])
    writer.add_uint32("constraintrot.step", state["step"])
    size = 0
    for layer, pairs in sorted(state["factors"].items()):
        for name, (down, up) in sorted(pairs.items()):
            for suffix, factor in (("a", down), ("b", up)):
                values = factor.detach().numpy().astype(np.float16)
                writer.add_tensor(f"blk.{layer}.{name}.weight.lora_{suffix}", values)
                size += values.nbytes
    if size > MOST_BYTES:
        raise ValueError(f"the factors are {size:,} bytes, more than {MOST_BYTES:,}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    sha256 = hashlib.sha256(target.read_bytes()).hexdigest()
    origin = {"adapter_sha256": sha256, "training_sha256": state["data"], "step": state["step"]}
    target.with_suffix(".origin.json").write_text(json.dumps(origin) + "\n", encoding="utf-8")
    return sha256


@click.command()
@click.argument("checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--title", default="ConstraintRot rule judge", show_default=True)
def main(checkpoint: Path, target: Path, title: str) -> None:
    """Write CHECKPOINT's factors to TARGET, and print size and SHA-256."""
    sha256 = convert(checkpoint, target, title)
    click.echo(f"{target}: {target.stat().st_size:,} bytes, SHA-256 {sha256}")


if __name__ == "__main__":
    main()
