"""The provider ``litellm/...`` against an OpenAI-compatible server on loopback."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot import extras
from tests.harnesses.messages import system, user
from tests.stub_openai import Stub, serving, tool_call

# LiteLLM's own imports are not up to date with what they use.
pytestmark = pytest.mark.filterwarnings("ignore")

SEND = ToolInfo(
    name="send",
    description="Send a text.",
    parameters=ToolParams(
        properties={"to": JSONSchema(type="string", description="To whom.")}, required=["to"]
    ),
)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as found:
        yield found


def model(stub: Stub, **given: Any) -> Model:
    return get_model(
        "litellm/openai/mine", api_base=stub.url, api_key="any", memoize=False, **given
    )


def said(model: Model, *given: Any, **settings: Any) -> ModelOutput:
    """What it answers."""
    return asyncio.run(model.generate(*given, **settings))


def test_messages_tools_settings_and_usage(stub: Stub) -> None:
    stub.answer = lambda _: tool_call("send", '{"to": "a@example.org"}')
    call = ToolCall(id="c1", function="send", arguments={"to": "b"})
    output = said(
        model(stub, extra_body={"top_k": 5}),
        [
            system("Be brief."),
            user("Send it."),
            ChatMessageAssistant(content="", tool_calls=[call]),
            ChatMessageTool(content="sent", tool_call_id="c1", function="send"),
            user("Again."),
        ],
        tools=[SEND],
        config=GenerateConfig(temperature=0.5, max_tokens=9, seed=3, stop_seqs=["x"]),
    )
    (made,) = output.message.tool_calls or []
    assert (made.function, made.arguments) == ("send", {"to": "a@example.org"})
    assert output.stop_reason == "tool_calls"
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (11, 7)
    (sent,) = stub.requests
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"to": "b"}'
    assert sent["messages"][3]["tool_call_id"] == "c1"
    (offered,) = sent["tools"]
    assert offered["function"]["name"] == "send"
    assert offered["function"]["parameters"]["required"] == ["to"]
    settings = {name: sent[name] for name in ("temperature", "max_tokens", "seed", "stop", "top_k")}
    assert settings == {
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 3,
        "stop": ["x"],
        "top_k": 5,
    }


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("any", "required"),
        ("none", "none"),
        (ToolFunction("send"), {"type": "function", "function": {"name": "send"}}),
    ],
)
def test_tool_choice(stub: Stub, choice: ToolChoice, sent: object) -> None:
    said(model(stub), "Hello", tools=[SEND], tool_choice=choice)
    asked = stub.requests[0]
    # Inspect itself leaves the tools out where none may be called.
    assert asked.get("tool_choice", "none") == sent


def test_a_response_schema_is_asked_for(stub: Stub) -> None:
    schema = ResponseSchema(name="answer", json_schema=JSONSchema(type="object"))
    said(model(stub), "Hello", config=GenerateConfig(response_schema=schema))
    asked = stub.requests[0]["response_format"]
    assert asked["json_schema"]["name"] == "answer"


def test_arguments_that_are_no_json_are_told(stub: Stub) -> None:
    stub.answer = lambda _: tool_call("send", '{"to": ')
    output = said(model(stub), "Hello", tools=[SEND])
    (made,) = output.message.tool_calls or []
    assert made.parse_error is not None


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (
            "context_length_exceeded",
            "This model's maximum context length is 10 tokens.",
            "model_length",
        ),
        (
            "content_policy_violation",
            "invalid_request_error: content_policy_violation",
            "content_filter",
        ),
    ],
)
def test_refusals_are_outputs(stub: Stub, code: str, message: str, reason: str) -> None:
    stub.answer = lambda _: (400, {"message": message, "type": "invalid", "code": code})
    output = said(model(stub), "Hello")
    assert output.stop_reason == reason
    assert message in (output.error or "")


@pytest.mark.parametrize(
    ("status", "retried", "auth"), [(429, True, False), (500, True, False), (401, False, True)]
)
def test_errors_are_told_apart(stub: Stub, status: int, retried: bool, auth: bool) -> None:
    stub.answer = lambda _: (status, {"message": "no", "type": "t", "code": "c"})
    api = model(stub).api
    with pytest.raises(Exception, match="no") as raised:
        asyncio.run(api.generate([user("Hello")], [], "auto", GenerateConfig()))
    assert bool(api.should_retry(raised.value)) is retried
    assert api.is_auth_failure(raised.value) is auth
    assert len(stub.requests) == 1


def test_tokens_are_counted_offline(stub: Stub) -> None:
    assert asyncio.run(model(stub).count_tokens("one two three")) == 3


def test_a_name_without_a_provider_is_refused() -> None:
    with pytest.raises(PrerequisiteError, match="write the provider first, as litellm/openai/"):
        get_model("litellm/nonsense")


def test_without_litellm_the_command_to_install_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "installed", lambda name: name != "litellm")
    with pytest.raises(PrerequisiteError, match=r"pip install 'constraintrot\[litellm\]'"):
        get_model("litellm/openai/mine", memoize=False)


def test_nothing_is_reported_to_anybody(stub: Stub) -> None:
    import litellm

    before = list(litellm.success_callback)
    model(stub)
    assert litellm.telemetry is False
    assert litellm.success_callback == before


def test_it_plays_any_role(stub: Stub, tmp_path: Path) -> None:
    stub.say("Routine work was done.")
    (log,) = inspect_eval(
        "constraintrot/soft_email",
        model="scripted/obedient",
        model_roles={"summarizer": model(stub)},
        task_args={"variants": 1, "conditions": "compaction"},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    assert sample.metadata["summarizer"] == "litellm/openai/mine"
    assert len(stub.requests) == 1
    assert (sample.scores or {})["violation"].value == 1


def test_a_refusal_is_the_answers_text(stub: Stub) -> None:
    stub.answer = lambda _: {"content": None, "refusal": "I can't help with that."}
    assert said(model(stub), "Hello").completion == "I can't help with that."
