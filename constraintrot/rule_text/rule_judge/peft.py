"""The adapter as a PEFT folder, for ``hf/`` models.

::

    python -m constraintrot.rule_text.rule_judge.peft FOLDER

    model = get_model("hf/rule-judge", **model_args(Path("FOLDER")))
    judged = await judge(model, rule, request, beside=False)

Transformers loads the base model and the adapter from such a folder, if PEFT is installed.
The adapter is the same, but with the publisher's float weights; the threshold was measured
with the quantized ones.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from constraintrot.errors import ConstraintRotError, MissingExtraError
from constraintrot.rule_text.rule_judge import adapter

BASE_REPOSITORY = "Qwen/Qwen2.5-Coder-1.5B-Instruct"

# The model's own template begins with a system message, which the judge was not trained on.
# Jinja drops a template's final newline, so the last one is in an expression.
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{{ '<|im_start|>assistant\\n' }}"
)

_MODULES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def peft_name(name: str) -> tuple[int, str, str]:
    """Layer, module and PEFT's name of a tensor such as ``blk.8.attn_q.weight.lora_a``."""
    _, layer, matrix, _, factor = name.split(".")
    module = _MODULES[matrix]
    letter = factor.removeprefix("lora_").upper()
    full = f"base_model.model.model.layers.{layer}.{module}.lora_{letter}.weight"
    return int(layer), module.split(".")[1], full


def model_args(folder: Path, base: str = BASE_REPOSITORY) -> dict[str, str]:
    """Return the model arguments of ``hf/`` for a folder that ``export`` wrote."""
    return {"model_path": str(folder), "tokenizer_path": base, "chat_template": CHAT_TEMPLATE}


def export(folder: Path, source: Path, base: str = BASE_REPOSITORY) -> None:
    """Write ``adapter_model.safetensors`` and ``adapter_config.json``."""
    gguf, safetensors = _module("gguf"), _module("safetensors.numpy")
    reader = gguf.GGUFReader(source)
    tensors: dict[str, Any] = {}
    layers: set[int] = set()
    modules: set[str] = set()
    for tensor in reader.tensors:
        layer, module, name = peft_name(tensor.name)
        tensors[name] = tensor.data.copy()
        layers.add(layer)
        modules.add(module)
    rank = min(min(values.shape) for values in tensors.values())
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": int(rank),
        "lora_alpha": float(reader.fields["adapter.lora.alpha"].contents()),
        "target_modules": sorted(modules),
        "layers_to_transform": sorted(layers),
        "inference_mode": True,
    }
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.save_file(tensors, folder / "adapter_model.safetensors")
    text = json.dumps(config, indent=2) + "\n"
    (folder / "adapter_config.json").write_text(text, encoding="utf-8")


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"a PEFT folder needs {error.name}: pip install 'constraintrot[hf]'"
        ) from error


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--base", default=BASE_REPOSITORY, show_default=True)
def main(folder: Path, base: str) -> None:
    """Write the packaged adapter to FOLDER as PEFT reads it."""
    try:
        export(folder, adapter.file(), base)
    except ConstraintRotError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
