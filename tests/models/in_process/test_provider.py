import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot import extras
from constraintrot.errors import EpisodeError, MissingExtraError
from constraintrot.models.in_process import server
from constraintrot.models.in_process.local import local
from constraintrot.models.in_process.prompt import Control, Prompt, as_text
from constraintrot.models.in_process.provider import LocalAPI
from constraintrot.models.in_process.server import Completion, Finish, ServerParams
from tests.harnesses.messages import said, user

CALL = '{"name": "send_email", "arguments": {"to": "bob@example.com"}}'
DELIBERATE = '{"policy": "Write French.", "breaks_policy": "no", "call": ' + CALL + "}"
TOOLS = [
    ToolInfo(
        name="send_email",
        description="Send an email.",
        parameters=ToolParams(properties={"to": JSONSchema(type="string")}, required=["to"]),
    ),
    ToolInfo(name="decline", description="Decline."),
]
SCHEMA = ResponseSchema(name="deliberate", json_schema=JSONSchema(type="object"))


@dataclass
class FakeEngine:
    """An engine whose tokens are characters, and whose answer is given."""

    answer: str = CALL
    finish: Finish = "stop"
    wait: float = 0
    logprobs: tuple[dict[str, Any], ...] = ()
    prompts: list[str] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    cancelled: bool = False
    closed: bool = False
    reached: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)

    def tokens(self, prompt: Prompt) -> list[int]:
        return [ord(letter) for letter in as_text(prompt)]

    def complete(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        self.prompts.append("".join(map(chr, prompt)))
        self.settings.append(dict(settings))
        self.reached.set()
        self.cancelled = bool(self.wait) and cancelled.wait(self.wait)
        self.left.set()
        return Completion(
            self.answer, self.finish, len(prompt), 10, len(self.answer), {}, self.logprobs
        )

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def weights_file(tmp_path: Path) -> Path:
    file = tmp_path / "own.gguf"
    file.touch()
    return file


@pytest.fixture(autouse=True)
def _no_shared_servers() -> Iterator[None]:
    yield
    server.close()


def model_with(engine: FakeEngine, file: Path, **args: Any) -> Model:
    model = get_model("local/own", path=str(file), opener=lambda _: engine, memoize=False, **args)
    assert isinstance(model.api, LocalAPI)
    return model


def ask(
    engine: FakeEngine,
    file: Path,
    tools: list[ToolInfo] = TOOLS,
    tool_choice: ToolChoice = "auto",
    messages: list[ChatMessage] | None = None,
    **config: Any,
) -> ModelOutput:
    async def go() -> ModelOutput:
        return await model_with(engine, file).generate(
            messages or [user("Email Bob.")],
            tools=tools,
            tool_choice=tool_choice,
            config=GenerateConfig(**config),
        )

    return anyio.run(go)


def test_registered_under_its_name() -> None:
    assert callable(local)
    with pytest.raises(PrerequisiteError, match=r"qwen2\.5-coder-1\.5b"):
        get_model("local/qwen")


def test_direct_answer_becomes_a_tool_call(weights_file: Path) -> None:
    engine = FakeEngine()
    output = ask(engine, weights_file)
    (call,) = output.message.tool_calls or []
    assert (call.function, call.arguments) == ("send_email", {"to": "bob@example.com"})
    assert output.message.text == ""
    assert output.stop_reason == "tool_calls"
    schema = engine.settings[0]["json_schema"]
    assert len(schema["anyOf"]) == 2
    assert schema["x-guidance"]["whitespace_flexible"] is False


def test_deliberate_answer_keeps_its_fields_in_the_text(weights_file: Path) -> None:
    engine = FakeEngine(DELIBERATE)
    output = ask(engine, weights_file, response_schema=SCHEMA)
    assert output.message.text == '{"policy": "Write French.", "breaks_policy": "no"}'
    assert [call.function for call in output.message.tool_calls or []] == ["send_email"]
    assert next(iter(engine.settings[0]["json_schema"]["properties"])) == "policy"


def test_plain_text_without_tools(weights_file: Path) -> None:
    engine = FakeEngine("Hello.")
    output = ask(engine, weights_file, tools=[])
    assert output.completion == "Hello."
    assert output.stop_reason == "stop"
    assert "json_schema" not in engine.settings[0]
    assert "<tools>" not in engine.prompts[0]


@pytest.mark.parametrize("answer", ["A summary.", CALL])
def test_tool_choice_none_is_text_after_the_same_prefix(weights_file: Path, answer: str) -> None:
    engine = FakeEngine()
    history: list[ChatMessage] = [
        user("Email Bob."),
        said("Done."),
    ]
    ask(engine, weights_file, messages=history)
    engine.answer = answer
    summarize = [*history, user("Summarize.")]
    output = ask(
        engine, weights_file, tool_choice="none", messages=summarize, response_schema=SCHEMA
    )
    assert output.completion == answer
    assert not output.message.tool_calls
    assert "json_schema" not in engine.settings[1]
    agent, summarizer = engine.prompts
    assert summarizer.startswith(agent.removesuffix("<|im_start|>assistant\n"))


def test_other_response_schema_constrains_text(weights_file: Path) -> None:
    engine = FakeEngine('{"score": 1}')
    wanted = ResponseSchema(name="score", json_schema=JSONSchema(type="object"))
    output = ask(engine, weights_file, tools=[], response_schema=wanted)
    assert output.completion == '{"score": 1}'
    assert engine.settings[0]["json_schema"]["type"] == "object"


def test_chosen_tool_is_the_only_alternative(weights_file: Path) -> None:
    engine = FakeEngine('{"name": "decline", "arguments": {}}')
    ask(engine, weights_file, tool_choice=ToolFunction(name="decline"))
    (only,) = engine.settings[0]["json_schema"]["anyOf"]
    assert only["properties"]["name"] == {"const": "decline"}


@pytest.mark.parametrize(
    ("finish", "stop_reason"), [("length", "max_tokens"), ("context", "model_length")]
)
def test_answer_cut_off_is_no_call(weights_file: Path, finish: Finish, stop_reason: str) -> None:
    output = ask(FakeEngine(CALL[:-5], finish), weights_file)
    assert output.stop_reason == stop_reason
    assert not output.message.tool_calls
    assert output.completion == CALL[:-5]


@pytest.mark.parametrize(
    ("name", "answer", "content"),
    [
        ("direct_or_words", '"I cannot do that."', "I cannot do that."),
        (
            "deliberate_or_words",
            '{"policy": "No email.", "breaks_policy": "yes", "call": "I cannot do that."}',
            '{"policy": "No email.", "breaks_policy": "yes", "call": "I cannot do that."}',
        ),
    ],
)
def test_words_may_stand_in_place_of_a_call(
    weights_file: Path, name: str, answer: str, content: str
) -> None:
    engine = FakeEngine(answer)
    wanted = ResponseSchema(name=name, json_schema=JSONSchema(type="object"))
    output = ask(engine, weights_file, tools=TOOLS[:1], response_schema=wanted)
    assert output.completion == content
    assert not output.message.tool_calls
    assert '"string", "maxLength": 400' in json.dumps(engine.settings[0]["json_schema"])


def test_malformed_answer_stays_text(weights_file: Path) -> None:
    output = ask(FakeEngine('{"name": "nobody", "arguments": {}}'), weights_file)
    assert not output.message.tool_calls
    assert output.stop_reason == "stop"


def test_unconstrained_sampling_is_broken_machinery(weights_file: Path) -> None:
    with pytest.raises(EpisodeError, match="not constrained"):
        ask(FakeEngine("Sure, I will."), weights_file)


def test_usage_counts_cached_tokens_apart(weights_file: Path) -> None:
    engine = FakeEngine()
    usage = ask(engine, weights_file).usage
    assert usage is not None
    assert usage.input_tokens == len(engine.prompts[0]) - 10
    assert usage.input_tokens_cache_read == 10
    assert usage.output_tokens == len(CALL)
    assert usage.total_tokens == len(engine.prompts[0]) + len(CALL)


def test_greedy_and_bounded_by_default(weights_file: Path) -> None:
    engine = FakeEngine()
    ask(engine, weights_file)
    assert engine.settings[0]["temperature"] == 0.0
    assert engine.settings[0]["n_predict"] == 320
    assert "seed" not in engine.settings[0]


def test_settings_are_passed_on(weights_file: Path) -> None:
    engine = FakeEngine()
    ask(engine, weights_file, temperature=0.7, seed=2**32 + 1, max_tokens=9, stop_seqs=["x"])
    sent = engine.settings[0]
    assert (sent["temperature"], sent["n_predict"], sent["stop"]) == (0.7, 9, ["x"])
    # The seed after which llama.cpp would draw one itself is never sent.
    assert sent["seed"] == 2


def test_tokens_are_the_models_own(weights_file: Path) -> None:
    model = model_with(FakeEngine(), weights_file)
    assert anyio.run(model.count_tokens, "four") == 4
    messages: list[ChatMessage] = [user("four")]
    whole = "".join([Control.START.value, "user\nfour", Control.END.value, "\n"])
    assert anyio.run(model.api.count_tokens, messages) == len(whole)


def test_cancelled_request_is_told_to_stop(weights_file: Path) -> None:
    engine = FakeEngine(wait=60)

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model_with(engine, weights_file).generate, "Hello")
            assert await anyio.to_thread.run_sync(engine.reached.wait, 60)
            tasks.cancel_scope.cancel()

    anyio.run(go)
    # The thread outlives the task that was cancelled, by a moment.
    assert engine.left.wait(60)
    assert engine.cancelled


def test_one_server_for_the_same_parameters(weights_file: Path) -> None:
    opened: dict[ServerParams, FakeEngine] = {}

    def opener(params: ServerParams) -> FakeEngine:
        assert params not in opened
        opened[params] = FakeEngine("Hello.")
        return opened[params]

    async def go() -> None:
        for context in (100, 100, 200):
            model = get_model(
                "local/own", path=str(weights_file), opener=opener, n_ctx=context, memoize=False
            )
            await model.generate("Hello")

    anyio.run(go)
    assert [params.context for params in opened] == [100, 200]
    server.close()
    assert all(engine.closed for engine in opened.values())


@pytest.mark.parametrize(
    "args", [{"n_ctx": 0}, {"parallel": 0}, {"threads": "two"}, {"n_gpu_layers": -1}]
)
def test_wrong_model_argument(weights_file: Path, args: dict[str, Any]) -> None:
    with pytest.raises(PrerequisiteError, match=next(iter(args))):
        model_with(FakeEngine(), weights_file, **args)


def test_missing_file() -> None:
    with pytest.raises(PrerequisiteError, match="no weights file"):
        get_model("local/own", path="/nowhere/own.gguf", memoize=False)


def test_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "installed", lambda name: name != "xllamacpp")
    with pytest.raises(MissingExtraError, match=r"pip install 'constraintrot\[local\]'"):
        LocalAPI("smollm2-135m")


def test_connections_follow_the_server(weights_file: Path) -> None:
    one = model_with(FakeEngine(), weights_file).api
    two = model_with(FakeEngine(), weights_file, parallel=2).api
    assert (one.max_connections(), two.max_connections()) == (1, 2)
    assert one.connection_key() != two.connection_key()
    assert one.collapse_user_messages() is False


@pytest.mark.parametrize(
    ("parallel", "given", "most"), [(1, {}, 1), (2, {}, 2), (1, {"max_connections": 3}, 3)]
)
def test_an_evaluation_begins_no_more_samples_than_the_server_answers(
    weights_file: Path, tmp_path: Path, parallel: int, given: dict[str, Any], most: int
) -> None:
    under_way: list[int] = []

    @solver
    def counted() -> Solver:
        begun: set[object] = set()

        async def solve(state: TaskState, generate: Generate) -> TaskState:
            begun.add(state.sample_id)
            under_way.append(len(begun))
            await anyio.sleep(0.05)
            begun.discard(state.sample_id)
            return state

        return solve

    samples = [Sample(input="Hello.", id=at) for at in range(6)]
    model = model_with(FakeEngine(), weights_file, parallel=parallel)
    eval(
        Task(dataset=samples, solver=counted()),
        model=model,
        log_dir=str(tmp_path),
        display="none",
        **given,
    )
    assert max(under_way) == most
