"""What reaches the model behind a LiteLLM proxy with the guardrail; the upstream server judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from constraintrot.defenses.pinning.pinned_block import HEADING
from tests.harnesses.litellm.proxy import POLICY, Proxy, guard, pins_in, proxy_of, signed_list
from tests.stub_openai import Stub, serving

pytestmark = pytest.mark.early

HEADER = "x-constraintrot-pins"
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
HELLO = [{"role": "user", "content": "Hello"}]
IMAGES = "/v1/images/generations"
# LiteLLM drops a system message that begins so, whole.
BILLING = "x-anthropic-billing-header: cc_version=2.1;"
UNPINNED = [{"role": "user", "content": "Unpinned."}]
# A guardrail without `default_on`, and two that would pin less than they are given.
REFUSED = {"guardrail": "pins.PinGuardrail", "mode": "pre_call", "policies": [POLICY]}


class Watched(Proxy):
    """A proxy whose upstream keeps what it received."""

    upstream: Stub

    @property
    def sent(self) -> dict[str, Any]:
        """The body that went upstream last."""
        return self.upstream.requests[-1]

    @contextmanager
    def received(self) -> Iterator[list[dict[str, Any]]]:
        """The bodies that go upstream meanwhile."""
        before, found = len(self.upstream.requests), list[dict[str, Any]]()
        yield found
        found.extend(self.upstream.requests[before:])


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("proxy")
    listed = signed_list(folder)
    forged = {**listed, "file": str(folder / "forged.json")}
    Path(forged["file"]).write_text(Path(listed["file"]).read_text().replace("only", "never"))
    (folder / "nested" / "more").mkdir(parents=True)
    (folder / "nested" / "email.md").write_text(POLICY)
    refused = [
        {"guardrail_name": "pins", "litellm_params": REFUSED},
        guard(policies=[]),
        guard(seeds=str(folder / "nested")),
        guard(signed=forged),
    ]
    skip = {"models": ["*-summarizer"], "last_message": ["Sum up this conversation*"]}
    given: dict[str, Any] = {"signed": listed, "skip": skip, "routes": ["/rag/*"]}
    with serving() as stub, proxy_of(folder, stub.url, *refused, **given) as started:
        watched = Watched(started.url, started.folder, started.printed)
        watched.upstream = stub
        yield watched


@pytest.fixture(autouse=True)
def answers(proxy: Watched) -> None:
    proxy.upstream.say("Hello.")


def body(path: str, **given: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"model": "mine"}
    if path == RESPONSES:
        made |= {"input": "Hello"}
    elif path in (CHAT, MESSAGES):
        made |= {"messages": HELLO}
    return made | ({"max_tokens": 9} if path == MESSAGES else {}) | given


def test_a_client_s_request_is_pinned(proxy: Watched) -> None:
    response = proxy.chat([{"role": "system", "content": "Be brief."}, *HELLO])
    assert response.parse().choices[0].message.content == "Hello."
    system, user = proxy.sent["messages"]
    assert system["content"].startswith(f"Be brief.\n\n{HEADING}")
    assert pins_in(proxy.sent) == 1
    assert user["content"] == "Hello"
    state, manifest, revision, tokens = response.headers[HEADER].split("; ")
    assert state == "injected"
    assert len(manifest.removeprefix("manifest=")) == 64
    assert revision == "revision=1"
    assert int(tokens.removeprefix("tokens=")) > 10
    receipts = [line for line in proxy.log.splitlines() if "constraintrot.pins" in line]
    assert manifest.removeprefix("manifest=") in receipts[-1]


def test_a_stream_is_pinned(proxy: Watched) -> None:
    response = proxy.chat(HELLO, stream=True)
    assert response.headers[HEADER].startswith("injected; ")
    parts = [part.choices[0].delta.content for part in response.parse() if part.choices]
    assert "".join(filter(None, parts)) == "Hello."
    assert [message["role"] for message in proxy.sent["messages"]] == ["system", "user"]
    assert pins_in(proxy.sent) == 1


def test_what_stands_there_already_is_verified(proxy: Watched) -> None:
    proxy.chat(HELLO)
    again = proxy.chat(proxy.sent["messages"])
    assert again.headers[HEADER].startswith("verified; ")
    assert pins_in(proxy.sent) == 1


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
@pytest.mark.parametrize("model", ["mine", "gem", "claude"])
def test_each_pinned_route_pins_for_each_provider(proxy: Watched, path: str, model: str) -> None:
    with proxy.received() as received:
        proxy.post(path, body(path, model=model), headers={"anthropic-beta": "context-1m"})
    assert [pins_in(sent) for sent in received] == [1]


@pytest.mark.parametrize("model", ["mine", "gem", "claude", "bridged"])
@pytest.mark.parametrize("content", ["Be brief.", [{"type": "text", "text": "Be brief."}]])
@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_operator_s_message_is_pinned_in_each_form(
    proxy: Watched, model: str, content: Any, role: str
) -> None:
    said = [{"role": role, "content": content}, *HELLO]
    with proxy.received() as received:
        proxy.post(CHAT, body(CHAT, model=model, messages=said))
    assert [pins_in(sent) for sent in received] == [1]
    assert "Be brief." in json.dumps(received)


def test_a_list_of_models_is_pinned_for_each(proxy: Watched) -> None:
    with proxy.received() as received:
        proxy.chat(HELLO, model="mine,other")
    assert [pins_in(sent) for sent in received] == [1, 1]


def test_a_client_cannot_switch_it_off(proxy: Watched) -> None:
    # LiteLLM's own mark of guardrails that one of its pipelines has run already.
    managed = {"_pipeline_managed_guardrails": ["pins"]}
    off = {"disable_global_guardrail": True, "guardrails": [], "metadata": {"guardrails": []}}
    for given in (off, {"metadata": managed}, {"litellm_metadata": managed}):
        proxy.chat(HELLO, extra_body=given)
        assert pins_in(proxy.sent) == 1


DEPLOYED = {
    "model_name": "mine",
    "litellm_params": {
        "model": "openai/upstream",
        "api_key": "any",
        "extra_body": {"messages": UNPINNED},
    },
}


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (CHAT, {"extra_body": {"messages": UNPINNED}}),
        (CHAT, {"extra_body": {"model": "other"}}),
        (RESPONSES, {"extra_body": {"instructions": "Unpinned."}}),
        (MESSAGES, {"extra_body": {"instructions": "Unpinned."}}),
        (CHAT, {"model": "gem", "extra_body": {"system_instruction": {"parts": []}}}),
        (CHAT, {"model": "gem", "system_instruction": {"parts": []}}),
        (CHAT, {"mock_testing_fallbacks": True, "fallbacks": ["other"]}),
        (CHAT, {"fallbacks": [{"model": "other", "messages": UNPINNED}]}),
        (RESPONSES, {"fallbacks": [{"model": "other", "instructions": "Unpinned."}]}),
        (MESSAGES, {"fallbacks": [{"model": "other", "system": "Unpinned."}]}),
        (CHAT, {"context_window_fallbacks": [{"mine": [{"messages": UNPINNED}]}]}),
        (CHAT, {"user_config": {"model_list": [DEPLOYED]}}),
        (RESPONSES, {"additional_drop_params": ["instructions"]}),
        (CHAT, {"additional_drop_params": ["messages"]}),
        (CHAT, {"prompt_id": "unpinned"}),
        (CHAT, {"chat_template": "{{ messages[-1].content }}"}),
        (CHAT, {"roles": {"system": {"pre_message": "", "post_message": ""}}}),
        (CHAT, {"messages": "Hello"}),
        (CHAT, {"messages": ["Hello"]}),
        (CHAT, {"messages": None}),
        (MESSAGES, {"system": ["Hello"]}),
        (RESPONSES, {"instructions": ["Hello"]}),
        (CHAT, {"model": "claude", "messages": [{"role": "system", "content": BILLING}, *HELLO]}),
        (MESSAGES, {"model": "claude", "system": BILLING}),
        (RESPONSES, {"model": "claude", "instructions": BILLING}),
        (CHAT, {"model": "plain", "messages": [{"role": "tool", "tool_call_id": "1"}, *HELLO]}),
        (RESPONSES, {"truncation": "auto"}),
        (IMAGES, {"model": "gem", "prompt": "Say hello."}),
        (IMAGES, {"custom_llm_provider": "openrouter", "prompt": "Say hello."}),
        ("/v1/embeddings", {"input": "Hello", "extra_body": {"messages": UNPINNED}}),
        (CHAT, {"model": "mine-summarizer", "fallbacks": ["mine"]}),
        (CHAT, {"model": "mine-summarizer", "extra_body": {"model": "upstream"}}),
    ],
)
def test_a_request_that_could_lose_its_pins_is_refused(
    proxy: Watched, path: str, given: dict[str, Any]
) -> None:
    proxy.upstream.answer = lambda sent: (
        (500, {"message": "down"}) if sent.get("model") == "upstream" else {"content": "Hello."}
    )
    with proxy.received() as received:
        response = proxy.post(path, body(path, **given))
    assert response.status_code == 400
    assert received == []


ROUTES = [
    "/v1beta/models/gem:generateContent",
    "/v1beta/models/mine:generateContent",
    "/v1beta/models/gem:streamGenerateContent",
    "/models/mine:generateContent",
    "/v1/completions",
    "/engines/mine/completions",
    "/openai/deployments/mine/completions",
    "/v1/rag/query",
    "/v1beta/interactions",
    "/v1/responses/compact",
    "/v1/batches",
    "/key/v1/batches",
    "/v1/threads",
    "/v1/assistants",
    "/v1/realtime/client_secrets",
    "/openai/v1/chat/completions",
    "/openai/chat/completions",
    "/anthropic/v1/messages",
    "/vllm/chat/completions",
    "/queue/chat/completions",
    "/cursor/chat/completions",
    "/a2a/mine/message/send",
    "/v1/audio/speech",
    "/health/test_connection",
    "/prompts/test",
    "/utils/transform_request",
    "/v1/chat/completions/",
    "//v1/completions",
    "/v1/messages/../completions",
    "/v1/evals/1/runs",
]


@pytest.mark.parametrize("path", ROUTES)
def test_a_route_that_is_not_pinned_is_refused(proxy: Watched, path: str) -> None:
    given: dict[str, Any] = {
        "prompt": "Hello",
        "messages": HELLO,
        "contents": [{"parts": [{"text": "Hello"}]}],
    }
    given |= {"input": "Hello", "retrieval_config": {"vector_store_id": "x"}}
    with proxy.received() as received:
        response = proxy.post(path, {"model": "mine", **given})
    assert response.status_code == 403
    assert "not known to be pinned" in response.text
    assert received == []


@pytest.mark.parametrize("path", ["/v1/realtime?model=mine", "/v1/responses", "/vertex_ai/live"])
def test_a_websocket_is_refused(proxy: Watched, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(
            f"ws{proxy.url.removeprefix('http')}{path}",
            additional_headers={"Authorization": "Bearer any"},
        )
    assert refused.value.response.status_code == 403


def test_what_reaches_no_language_model_is_let_through(proxy: Watched) -> None:
    with proxy.received() as received:
        proxy.post("/v1/embeddings", {"model": "mine", "input": "Hello"})
        proxy.post(IMAGES, {"model": "mine", "prompt": "A hat"})
    assert [sent.get("input", sent.get("prompt")) for sent in received] == ["Hello", "A hat"]
    for path in ("/v1/models", "/health/liveliness", "/model/info"):
        assert proxy.http.get(path).status_code == 200
    # By the setting `routes`; what LiteLLM says of it is its own.
    assert "not known to be pinned" not in proxy.post("/rag/query", {"model": "mine"}).text


def test_a_summarizer_s_call_is_left_alone_by_rule(proxy: Watched) -> None:
    said = [{"role": "user", "content": "Sum it up."}]
    response = proxy.chat(said, model="mine-summarizer")
    assert response.headers[HEADER] == "skipped; rule=models"
    assert proxy.sent["messages"] == said
    for path in (RESPONSES, MESSAGES):
        with proxy.received() as received:
            proxy.post(path, body(path, model="mine-summarizer"))
        # The stub answers it with a completion, so LiteLLM goes on to the operator's fallback.
        assert pins_in(received[0]) == 0


def test_a_list_of_models_is_skipped_only_where_each_is(proxy: Watched) -> None:
    for model in ("mine, mine-summarizer", "mine,x-summarizer", "mine-summarizer,mine"):
        with proxy.received() as received:
            proxy.post(CHAT, body(CHAT, model=model))
        assert received
        assert {pins_in(sent) for sent in received} == {1}


def test_the_operator_s_fallback_of_a_summarizer_is_pinned(proxy: Watched) -> None:
    proxy.upstream.answer = lambda sent: (
        (500, {"message": "down"}) if sent["model"] == "summarizer" else {"content": "Hello."}
    )
    with proxy.received() as received:
        proxy.chat(HELLO, model="mine-summarizer")
    assert [(sent["model"], pins_in(sent)) for sent in received] == [
        ("summarizer", 0),
        ("upstream", 1),
    ]


def test_a_client_s_fallback_is_pinned(proxy: Watched) -> None:
    proxy.upstream.answer = lambda sent: (
        (500, {"message": "down"}) if sent["model"] == "upstream" else {"content": "Hello."}
    )
    with proxy.received() as received:
        proxy.chat(HELLO, extra_body={"fallbacks": ["other"]})
    assert [(sent["model"], pins_in(sent)) for sent in received] == [("upstream", 1), ("other", 1)]


def test_a_summary_asked_of_an_agent_with_its_tools_is_left_alone(proxy: Watched) -> None:
    tools = [{"name": "send", "input_schema": {"type": "object"}}]
    result = {"type": "tool_result", "tool_use_id": "1", "content": "Sum up this conversation"}
    asked = {"type": "text", "text": "Sum up this conversation in detail."}
    call = {"type": "tool_use", "id": "1", "name": "send", "input": {}}
    for last, pins in (([result, asked], 0), ([result], 1), ([asked, result], 1)):
        said = [*HELLO, {"role": "assistant", "content": [call]}, {"role": "user", "content": last}]
        given = {"model": "claude", "messages": said, "tools": tools}
        with proxy.received() as received:
            proxy.post(MESSAGES, body(MESSAGES, **given))
        assert [pins_in(sent) for sent in received] == [pins]


@pytest.mark.parametrize(
    ("model", "path"), [("replaced", CHAT), ("dropped", CHAT), ("grok", RESPONSES)]
)
def test_a_deployment_that_would_lose_the_pins_is_not_called(
    proxy: Watched, model: str, path: str
) -> None:
    with proxy.received() as received:
        response = proxy.post(path, body(path, model=model))
    assert received == []
    assert response.status_code == 400
    assert response.headers[HEADER] == "refused"


def test_a_health_check_is_pinned(proxy: Watched) -> None:
    with proxy.received() as received:
        proxy.http.get("/health?model=mine")
    assert [pins_in(sent) for sent in received] == [1]


def test_a_mistake_in_the_configuration_is_an_error_at_the_start(proxy: Watched) -> None:
    off, empty, nested, forged = [line for line in proxy.printed if line.startswith("refused")]
    assert "default_on: true" in off
    assert "policies holds nothing to pin" in empty
    assert "more would not be pinned" in nested
    assert "the list was changed, or signed by somebody else" in forged


def test_an_openai_client_lists_the_models(proxy: Watched) -> None:
    assert "mine" in [model.id for model in proxy.client.models.list()]


def test_nothing_but_this_machine_is_asked_for(proxy: Watched) -> None:
    # Last, so that all of the above was asked; not from another file, so that it was this proxy.
    assert proxy.network == []
