"""An adapter answers the calls that ask for it, and no others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model

from constraintrot.errors import EpisodeError, ParameterError, UnknownNameError, WeightsError
from constraintrot.models.in_process import server, weights
from constraintrot.models.in_process.server import ServerParams
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.judge import judge
from constraintrot.rule_text.rule_judge.reading import question
from tests.models.in_process.test_provider import FakeEngine

ENTRY = {
    "token": "yes",
    "logprob": -0.1,
    "top_logprobs": [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.6}],
}


class FakeServers:
    """Servers with and without the adapter."""

    def __init__(self) -> None:
        self.base, self.adapted = FakeEngine("I see."), FakeEngine("yes", logprobs=(ENTRY,))
        self.opened: list[ServerParams] = []

    def open(self, params: ServerParams) -> FakeEngine:
        self.opened.append(params)
        return self.adapted if params.adapter else self.base


@pytest.fixture
def servers() -> Iterator[FakeServers]:
    yield FakeServers()
    server.close()


@pytest.fixture
def model(servers: FakeServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setattr(adapter, "file", lambda: tmp_path / "rule-judge.gguf")
    monkeypatch.setattr(weights, "pull", lambda *_: tmp_path / "base.gguf")
    return get_model(f"local/{adapter.BASE}", opener=servers.open, memoize=False)


def generate(model: Model, **config: Any) -> ModelOutput:
    async def go() -> ModelOutput:
        return await model.generate("Hello.", config=GenerateConfig(**config))

    return anyio.run(go)


def test_only_calls_that_ask_for_the_adapter_get_it(model: Model, servers: FakeServers) -> None:
    generate(model)
    generate(model, extra_body={"adapter": "rule-judge"})
    generate(model)
    assert (len(servers.base.prompts), len(servers.adapted.prompts)) == (2, 1)
    plain, adapted = servers.opened
    assert plain.adapter is None
    assert adapted.adapter == adapter.file()
    assert adapted.weights == plain.weights


def test_an_unknown_adapter_is_refused(model: Model) -> None:
    with pytest.raises(UnknownNameError, match="rule-judge"):
        generate(model, extra_body={"adapter": "other"})
    with pytest.raises(ParameterError, match="extra_body"):
        generate(model, extra_body={"lora": 1})


def test_another_model_of_the_catalogue_is_refused_before_weights_are_fetched(
    servers: FakeServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "pull", lambda *_: pytest.fail("weights were fetched"))
    other = get_model("local/qwen2.5-coder-0.5b", opener=servers.open, memoize=False)
    with pytest.raises(ParameterError, match=r"belongs to local/qwen2\.5-coder-1\.5b"):
        generate(other, extra_body={"adapter": "rule-judge"})


@pytest.mark.parametrize(
    ("name", "message"),
    [("own", r"belongs to local/qwen2\.5-coder-1\.5b"), (adapter.BASE, "is not qwen2.*SHA-256")],
)
def test_weights_of_ones_own_never_get_the_adapter(
    servers: FakeServers, tmp_path: Path, name: str, message: str
) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"other weights")
    own = get_model(f"local/{name}", path=str(file), opener=servers.open, memoize=False)
    with pytest.raises((ParameterError, WeightsError), match=message):
        generate(own, extra_body={"adapter": "rule-judge"})
    assert servers.opened == []


def test_log_probabilities_come_back_where_they_are_asked_for(
    model: Model, servers: FakeServers
) -> None:
    config = {"logprobs": True, "top_logprobs": 5, "extra_body": {"adapter": "rule-judge"}}
    output = generate(model, **config)
    assert servers.adapted.settings[0]["logprobs"] == 5
    logprobs = output.choices[0].logprobs
    assert logprobs is not None
    assert [top.token for top in logprobs.content[0].top_logprobs or ()] == ["yes", "no"]
    assert generate(model).choices[0].logprobs is None
    assert "logprobs" not in servers.base.settings[0]


def test_the_judge_asks_its_question_of_the_adapter(model: Model, servers: FakeServers) -> None:
    async def ask(threshold: float) -> tuple[float, bool]:
        judged = await judge(model, "No dogs.", "Let the dog in.", threshold=threshold)
        return judged.score, judged.breaks

    assert anyio.run(ask, 2.4) == (2.5, True)
    assert anyio.run(ask, 2.6) == (2.5, False)
    assert servers.adapted.prompts[0] == (
        f"<|im_start|>user\n{question('No dogs.', 'Let the dog in.')}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert servers.adapted.settings[0]["n_predict"] == 1


def test_a_model_without_log_probabilities_cannot_judge() -> None:
    silent = get_model("mockllm/model", memoize=False)
    with pytest.raises(EpisodeError, match="log-probabilities"):
        anyio.run(lambda: judge(silent, "No dogs.", "Sit.", threshold=0, beside=False))
