import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai.model import ChatMessageUser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from constraintrot.errors import MissingExtraError
from constraintrot.models.in_process.prompt import as_text, render_prompt
from constraintrot.rule_text.rule_judge.peft import export, main, model_args, peft_name
from constraintrot.rule_text.rule_judge.reading import question


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "blk.8.attn_q.weight.lora_a",
            (8, "q_proj", "base_model.model.model.layers.8.self_attn.q_proj.lora_A.weight"),
        ),
        (
            "blk.27.ffn_down.weight.lora_b",
            (27, "down_proj", "base_model.model.model.layers.27.mlp.down_proj.lora_B.weight"),
        ),
    ],
)
def test_tensors_are_named_as_peft_names_them(name: str, expected: tuple[int, str, str]) -> None:
    assert peft_name(name) == expected


def test_without_its_packages_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingExtraError, match=r"constraintrot\[hf\]"):
        export(tmp_path / "peft", tmp_path / "rule-judge.gguf")
    said = CliRunner().invoke(main, [str(tmp_path / "peft")])
    assert said.output.startswith("Error: a PEFT folder needs gguf: pip install ")
    assert not (tmp_path / "peft").exists()


def test_the_template_gives_the_bytes_that_were_trained_on(tmp_path: Path) -> None:
    asked = question("No dogs.", "Let the dog in.")
    # Transformers renders chat templates with these settings.
    jinja = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    template = jinja.from_string(model_args(tmp_path)["chat_template"])
    rendered = template.render(messages=[{"role": "user", "content": asked}])
    assert rendered == as_text(render_prompt([ChatMessageUser(content=asked)], []))
