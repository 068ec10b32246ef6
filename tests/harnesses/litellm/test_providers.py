"""What LiteLLM sends each of its providers, read by a server that answers nobody.

All providers of the installed version are walked, so a new one, or a new translation of
an old one, is looked at without anybody knowing of it.
"""

import asyncio
import json
import logging
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.http_stub import JSON, Answer, answering

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

with warnings.catch_warnings():
    # LiteLLM's own imports are not up to date with what they use.
    warnings.simplefilter("ignore")
    import litellm
    from litellm.types.utils import LlmProviders

    from constraintrot.harnesses.litellm.routes import Passage, passing
    from constraintrot.litellm import PinGuardrail

pytestmark = [
    pytest.mark.early,
    # Of the clients of sixty providers, not of ours.
    pytest.mark.filterwarnings("ignore"),
]

POLICY = "Send email only to addresses at example.org."
WORDS = "USERWORDS hello"
# Their sign-in waits for a person, or asks for a token several times.
SIGNING_IN = {"chatgpt", "github_copilot"}
# By provider, models that it has a translation of their own for.
MODELS = {
    "openai": ["some-model", "o1-mini", "gpt-3.5-turbo-instruct", "ft:babbage-002:me"],
    "azure": ["some-model", "o1-mini"],
    "gemini": ["some-model", "gemini-2.5-flash", "gemma-3-27b-it"],
    "together_ai": ["some-model", "meta-llama/Llama-3-8b-chat-hf"],
    "clarifai": ["a.b.c"],
}


@dataclass
class Echo:
    """A server that keeps what it is sent, and answers with an error."""

    url: str = ""
    bodies: list[Any] = field(default_factory=list[Any])


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    kept = Echo()

    def answer(path: str, body: bytes) -> Answer:
        text = body.decode()
        kept.bodies.append(json.loads(text) if text[:1] in "{[" else parse_qs(text))
        return 400, JSON, b'{"error": {"message": "nobody answers here"}}'

    with answering(answer) as kept.url:
        yield kept


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> PinGuardrail:
    made = PinGuardrail(policies=[POLICY], guardrail_name="pins", report=lambda _: None)
    monkeypatch.setattr(litellm, "callbacks", [made])
    monkeypatch.setattr(litellm, "suppress_debug_info", True)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    return made


async def asked(call: Any, model: str, echo: Echo, **given: Any) -> tuple[list[Any], Passage, str]:
    """What a call sends, what is known of it, and its error."""
    before = len(echo.bodies)
    with passing(Passage()) as through:
        try:
            made = call(model=model, api_base=echo.url, api_key="any", num_retries=0, **given)
            await asyncio.wait_for(made, 20)
            said = ""
        except Exception as error:  # whatever sixty clients raise of an answer that is none
            said = str(error)
    return echo.bodies[before:], through, said


def answered_alone(body: Any) -> list[str]:
    """The texts of a request to each of which a model writes an answer of its own."""
    prompts: Any = body
    for key in ("params", "prompt", "inputs"):
        prompts = prompts.get(key, prompts) if isinstance(prompts, dict) else prompts
    apart = prompts if isinstance(prompts, list) and len(prompts) > 1 else [body]
    return [json.dumps(one) for one in apart]


def roles(node: Any, role: str = "") -> Iterator[str]:
    """The roles in whose name the policy is said."""
    if isinstance(node, str):
        if POLICY in node:
            yield role
    elif isinstance(node, dict):
        for value in node.values():
            yield from roles(value, str(node.get("role", role)))
    elif isinstance(node, list):
        for value in node:
            yield from roles(value, role)


def wrong(bodies: list[Any], through: Passage) -> list[str]:
    """What is sent without the pins, with them twice, or in another's name and not said to be."""
    found: list[str] = []
    for body in bodies:
        if WORDS not in json.dumps(body):
            continue  # a sign-in, a look at the models
        for text in answered_alone(body):
            if text.count(POLICY) != 1:
                found.append(f"pinned {text.count(POLICY)} times: {text[:300]}")
        if ("user" in list(roles(body))) is not through.as_user:
            found.append(f"as_user is {through.as_user}: {body}"[:300])
    return found


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_every_provider_is_sent_the_pins_in_each_text_that_it_answers(
    kind: str, echo: Echo, guard: PinGuardrail, caplog: pytest.LogCaptureFixture
) -> None:
    logging.disable(logging.CRITICAL)
    calls: dict[str, tuple[Any, dict[str, Any]]] = {
        "chat": (litellm.acompletion, {"messages": [{"role": "user", "content": WORDS}]}),
        "responses": (litellm.aresponses, {"input": WORDS}),
        "messages": (
            litellm.anthropic.messages.acreate,  # type: ignore[attr-defined]
            {"messages": [{"role": "user", "content": WORDS}], "max_tokens": 9},
        ),
    }
    call, given = calls[kind]

    async def walked() -> tuple[dict[str, list[str]], int]:
        faults: dict[str, list[str]] = {}
        reached = 0
        for provider in LlmProviders:
            if provider.value in SIGNING_IN:
                continue
            for name in MODELS.get(provider.value, ["some-model"]):
                model = f"{provider.value}/{name}"
                bodies, through, _ = await asked(call, model, echo, **given)
                reached += any(WORDS in json.dumps(body) for body in bodies)
                if found := wrong(bodies, through):
                    faults[model] = found
        return faults, reached

    try:
        faults, reached = asyncio.run(walked())
    finally:
        logging.disable(logging.NOTSET)
    assert faults == {}
    # Not all have an address that can be set; enough do for the walk to mean something.
    assert reached > 50


@pytest.mark.parametrize(
    "model",
    [
        "text-completion-openai/gpt-3.5-turbo-instruct",
        "text-completion-openai/any",
        "gpt-3.5-turbo-instruct",
        "openai/ft:babbage-002:me::1",
        "openai/ft:davinci-002:me::1",
    ],
)
def test_a_model_of_texts_is_refused(model: str, echo: Echo, guard: PinGuardrail) -> None:
    messages = [{"role": "user", "content": WORDS}]
    bodies, through, said = asyncio.run(asked(litellm.acompletion, model, echo, messages=messages))
    assert bodies == []
    assert through.stopped
    assert "each message a prompt of its own" in said
