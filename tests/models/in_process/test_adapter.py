"""Adapters answer the calls that ask for them, and no others: the judge's, and one that acts."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.errors import EpisodeError, ParameterError, UnknownNameError, WeightsError
from constraintrot.evaluation.solver import default_scaffold
from constraintrot.models.in_process import acting, server, weights
from constraintrot.models.in_process.request import acting_adapter
from constraintrot.models.in_process.server import ServerParams
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.judge import judge
from constraintrot.rule_text.rule_judge.reading import question
from tests.models.in_process.test_provider import CALL, TOOLS, FakeEngine

ENTRY = {
    "token": "yes",
    "logprob": -0.1,
    "top_logprobs": [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.6}],
}


class FakeServers:
    """A server with an adapter, whichever, and one without."""

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


def generate(
    model: Model, tools: Sequence[ToolInfo] = (), choice: ToolChoice | None = None, **config: Any
) -> ModelOutput:
    async def go() -> ModelOutput:
        return await model.generate("Hello.", tools, choice, GenerateConfig(**config))

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
    config: dict[str, Any] = {
        "logprobs": True,
        "top_logprobs": 5,
        "extra_body": {"adapter": "rule-judge"},
    }
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


# An adapter that acts: ``local/BASE+NAME``

NAME = f"local/{adapter.BASE}+acting"
CARD = Path(acting.__file__).with_name("card.md")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def pull(name: str, _: object) -> Path:
        assert name == adapter.BASE
        return tmp_path / "base.gguf"

    monkeypatch.setattr(weights, "pull", pull)
    made = tmp_path / "acting.gguf"
    made.write_bytes(b"GGUF, factors")
    (tmp_path / "notes.gguf").write_bytes(b"no factors")
    return made


def model_with(servers: FakeServers, **args: Any) -> Model:
    servers.adapted.answer = CALL
    return get_model(args.pop("name", NAME), opener=servers.open, memoize=False, **args)


def test_calls_are_the_adapters_and_summaries_are_the_base_models(
    servers: FakeServers, file: Path
) -> None:
    model = model_with(servers, adapter=str(file))
    generate(model, TOOLS)
    generate(model)
    # A summarizer is given the agent's tools, and may not call them.
    generate(model, TOOLS, "none")
    assert len(servers.adapted.prompts) == 1
    assert len(servers.base.prompts) == 2
    assert {params.adapter for params in servers.opened} == {None, file}
    assert {params.weights.name for params in servers.opened} == {"base.gguf"}


def test_a_call_that_asks_for_another_adapter_gets_that(
    servers: FakeServers, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = file.with_name("rule-judge.gguf")
    monkeypatch.setattr(adapter, "file", lambda: other)
    generate(model_with(servers, adapter=str(file)), extra_body={"adapter": "rule-judge"})
    assert [params.adapter for params in servers.opened] == [other]


def test_an_answer_says_which_file_gave_it(servers: FakeServers, file: Path) -> None:
    model = model_with(servers, adapter=str(file))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert generate(model, TOOLS).metadata == {"adapter_sha256": digest}
    assert generate(model).metadata is None


def test_such_a_model_acts_directly(servers: FakeServers, file: Path) -> None:
    assert default_scaffold(model_with(servers, adapter=str(file))) == "direct"
    assert default_scaffold(model_with(servers, name=f"local/{adapter.BASE}")) == "review"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (NAME, "missing.gguf", r"there is no adapter at .*missing\.gguf"),
        (NAME, "notes.gguf", r"notes\.gguf is no GGUF file"),
        (f"local/{adapter.BASE}+mine", None, r"wants the adapter's file: -M adapter=FILE\.gguf"),
        (f"local/{adapter.BASE}", "acting.gguf", r"no name for its adapter"),
        (f"local/{adapter.BASE}+", "acting.gguf", r"no name for its adapter"),
        ("local/other+acting", "acting.gguf", "unknown local model 'other'"),
    ],
)
def test_a_wrong_configuration_is_told_in_one_line(
    servers: FakeServers, file: Path, name: str, given: str | None, message: str
) -> None:
    more = {"adapter": str(file.parent / given)} if given else {}
    with pytest.raises(PrerequisiteError, match=message) as told:
        model_with(servers, name=name, **more)
    assert "\n" not in str(told.value.args[0])


@pytest.mark.parametrize("adapted", [True, False])
def test_a_file_that_llama_cpp_does_not_take_is_named(file: Path, adapted: bool) -> None:
    pytest.importorskip("xllamacpp")
    base = file.parent / "base.gguf"
    base.write_bytes(b"GGUF")
    params = ServerParams(base, 512, 1, 1, 0, file if adapted else None)
    named = rf" with the adapter {file}:" if adapted else ":"
    with pytest.raises(WeightsError, match=rf"llama\.cpp cannot load {base}{named} a file is"):
        server.LlamaServer(params)


def test_the_card_has_the_figures_of_the_adapter() -> None:
    card, page = CARD.read_text(encoding="utf-8"), acting.calibration()
    for cell, requests in page.requests.items():
        acted, exact = (f"{100 * shares[cell]:g} %" for shares in (page.acted, page.exact))
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {cell}:")]
        assert row.endswith(f"| {requests} | {acted} | {exact} |")
    assert f"--conversations {page.conversations}`" in card


def test_the_name_alone_finds_the_packaged_file_and_no_other_name_does() -> None:
    base = "qwen2.5-coder-1.5b"
    assert acting_adapter(f"{base}+acting", None) == acting.file()
    for name in (f"{base}+other", "qwen2.5-coder-0.5b+acting"):
        with pytest.raises(ParameterError, match="wants the adapter's file"):
            acting_adapter(name, None)


def test_a_file_that_is_not_the_calibrated_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "acting.gguf").write_bytes(b"GGUF, others")
    figures = CARD.with_name("calibration.json")
    (tmp_path / figures.name).write_bytes(figures.read_bytes())
    with pytest.raises(WeightsError, match="is damaged, or another adapter"):
        acting.file(tmp_path)
