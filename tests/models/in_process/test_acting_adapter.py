"""``local/BASE+NAME``: an adapter answers where a call is asked for, and nowhere else."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ChatMessageUser, Model, ModelOutput, get_model

from constraintrot.errors import WeightsError
from constraintrot.evaluation.solver import default_scaffold
from constraintrot.models.in_process import server, weights
from constraintrot.models.in_process.server import ServerParams
from constraintrot.rule_text.rule_judge import adapter as rule_judge
from tests.models.in_process.test_provider import TOOLS, FakeEngine

NAME = f"local/{rule_judge.BASE}+acting"


class FakeServers:
    """A server for each file of an adapter, and one without."""

    def __init__(self) -> None:
        self.opened: list[ServerParams] = []
        self.engines: dict[Path | None, FakeEngine] = {}

    def open(self, params: ServerParams) -> FakeEngine:
        self.opened.append(params)
        return self.engines.setdefault(params.adapter, FakeEngine())


@pytest.fixture
def servers() -> Iterator[FakeServers]:
    yield FakeServers()
    server.close()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def pull(name: str, _: object) -> Path:
        assert name == rule_judge.BASE
        return tmp_path / "base.gguf"

    monkeypatch.setattr(weights, "pull", pull)
    made = tmp_path / "acting.gguf"
    made.write_bytes(b"GGUF, factors")
    (tmp_path / "notes.gguf").write_bytes(b"no factors")
    return made


def model_with(servers: FakeServers, **args: Any) -> Model:
    return get_model(args.pop("name", NAME), opener=servers.open, memoize=False, **args)


def ask(model: Model, **settings: Any) -> ModelOutput:
    async def go() -> ModelOutput:
        return await model.generate([ChatMessageUser(content="Email Bob.")], **settings)

    return anyio.run(go)


def test_calls_are_the_adapters_and_summaries_are_the_base_models(
    servers: FakeServers, file: Path
) -> None:
    model = model_with(servers, adapter=str(file))
    ask(model, tools=TOOLS)
    ask(model)
    # A summarizer is given the agent's tools, and may not call them.
    ask(model, tools=TOOLS, tool_choice="none")
    assert len(servers.engines[file].prompts) == 1
    assert len(servers.engines[None].prompts) == 2
    assert {params.weights.name for params in servers.opened} == {"base.gguf"}


def test_a_call_that_asks_for_another_adapter_gets_that(
    servers: FakeServers, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = file.with_name("rule-judge.gguf")
    monkeypatch.setattr(rule_judge, "file", lambda: other)
    ask(model_with(servers, adapter=str(file)), config={"extra_body": {"adapter": "rule-judge"}})
    assert servers.engines.keys() == {other}


def test_an_answer_says_which_file_gave_it(servers: FakeServers, file: Path) -> None:
    model = model_with(servers, adapter=str(file))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert ask(model, tools=TOOLS).metadata == {"adapter_sha256": digest}
    assert ask(model).metadata is None


def test_such_a_model_acts_directly(servers: FakeServers, file: Path) -> None:
    assert default_scaffold(model_with(servers, adapter=str(file))) == "direct"
    assert default_scaffold(model_with(servers, name=f"local/{rule_judge.BASE}")) == "review"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (NAME, "missing.gguf", r"there is no adapter at .*missing\.gguf"),
        (NAME, "notes.gguf", r"notes\.gguf is no GGUF file"),
        (f"local/{rule_judge.BASE}+mine", None, r"wants the adapter's file: -M adapter=FILE\.gguf"),
        (f"local/{rule_judge.BASE}", "acting.gguf", r"no name for its adapter"),
        (f"local/{rule_judge.BASE}+", "acting.gguf", r"no name for its adapter"),
        ("local/other+acting", "acting.gguf", "unknown local model 'other'"),
    ],
)
def test_a_wrong_configuration_is_told_in_one_line(
    servers: FakeServers, file: Path, name: str, given: str | None, message: str
) -> None:
    adapter = {"adapter": str(file.parent / given)} if given else {}
    with pytest.raises(PrerequisiteError, match=message) as told:
        model_with(servers, name=name, **adapter)
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
