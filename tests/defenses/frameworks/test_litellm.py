"""The guardrail in a LiteLLM proxy on loopback, and by itself."""

from __future__ import annotations

import asyncio
import doctest
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from openai import OpenAI

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

with warnings.catch_warnings():
    # LiteLLM's own imports are not up to date with what they use.
    warnings.simplefilter("ignore")
    from constraintrot.defenses.frameworks import litellm as pins
    from constraintrot.defenses.frameworks.litellm import HEADER, RECEIPT, PinGuardrail, pinned
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.defenses.rampart.errors import SeedError
from constraintrot.errors import ParameterError
from tests.docs_code import run_page
from tests.stub_openai import Stub, serving

POLICY = "Send email only to addresses at example.org."
OPERATOR = Principal("operator")
# The proxy as `litellm --config` starts it, on whichever port is free, and without a network.
SERVER = """
import socket
connect = socket.socket.connect

def refuse(self, address):
    host = address[0] if isinstance(address, tuple) else str(address)
    if self.family != socket.AF_UNIX and host not in ("127.0.0.1", "::1", "localhost"):
        print("network", host, flush=True)
        raise OSError("no network in tests")
    return connect(self, address)

socket.socket.connect = refuse
import uvicorn
from litellm.proxy.proxy_server import app

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        if self.started:
            print("port", self.servers[0].sockets[0].getsockname()[1], flush=True)

Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning")).run()
"""


def rules(*policies: str) -> Registry:
    registry = Registry(OPERATOR)
    for policy in policies or (POLICY,):
        registry.pin(policy, by=OPERATOR)
    return registry


def board(registry: Registry) -> PinnedBlock:
    return PinnedBlock(registry, report=lambda _: None)


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        url: where it is.
        upstream: the server behind it.
        log: where its standard error goes.
    """

    url: str
    upstream: Stub
    log: Path

    def chat(self, messages: list[Any], model: str = "mine", **given: Any) -> Any:
        """The response to a chat completion, with its headers."""
        client = OpenAI(base_url=f"{self.url}/v1", api_key="any", max_retries=0)
        return client.chat.completions.with_raw_response.create(
            model=model, messages=messages, **given
        )

    @property
    def sent(self) -> dict[str, Any]:
        """The body that went upstream last."""
        return self.upstream.requests[-1]


def config(upstream: str, **given: Any) -> str:
    deployed = {"model": "openai/upstream", "api_base": upstream, "api_key": "any"}
    guard = {"guardrail": "pins.PinGuardrail", "mode": "pre_call", "default_on": True, **given}
    return yaml.safe_dump(
        {
            "model_list": [
                {"model_name": name, "litellm_params": deployed}
                for name in ("mine", "mine-summarizer")
            ],
            "guardrails": [{"guardrail_name": "pins", "litellm_params": guard}],
        }
    )


def started(folder: Path) -> subprocess.Popen[str]:
    """The proxy of a folder's configuration, in a process of its own."""
    (folder / "pins.py").write_text(
        "import logging\n"
        "from constraintrot.defenses.frameworks.litellm import PinGuardrail\n"
        "logging.basicConfig()\n"
        "logging.getLogger('constraintrot.pins').setLevel(logging.INFO)\n"
    )
    settings = {
        "CONFIG_FILE_PATH": str(folder / "config.yaml"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",
    }
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env=os.environ | settings,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "policies").mkdir()
    (folder / "policies" / "email.md").write_text(POLICY)
    with serving() as stub:
        skip = {"models": ["*-summarizer"]}
        (folder / "config.yaml").write_text(
            config(stub.url, seeds=str(folder / "policies"), skip=skip)
        )
        process = started(folder)
        try:
            assert process.stdout is not None
            lines = list(_until_port(process.stdout))
            assert not [line for line in lines if line.startswith("network")]
            yield Proxy(f"http://127.0.0.1:{lines[-1].split()[1]}", stub, folder / "log")
        finally:
            process.terminate()
            process.wait(30)


def _until_port(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.startswith("port"):
            return
    raise AssertionError("the proxy did not start")


def block(sent: dict[str, Any]) -> int:
    """How often the pins stand in a request."""
    return json.dumps(sent).count(POLICY)


def test_a_client_s_request_is_pinned(proxy: Proxy) -> None:
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    response = proxy.chat(said)
    assert response.parse().choices[0].message.content == "Hello."
    system, user = proxy.sent["messages"]
    assert system["content"].startswith(f"Be brief.\n\n{HEADING}")
    assert block(proxy.sent) == 1
    assert user["content"] == "Hello"
    state, manifest, revision, tokens = response.headers[HEADER].split("; ")
    assert state == "injected"
    assert len(manifest.removeprefix("manifest=")) == 64
    assert revision == "revision=1"
    assert int(tokens.removeprefix("tokens=")) > 10
    receipts = [line for line in proxy.log.read_text().splitlines() if "constraintrot.pins" in line]
    assert manifest.removeprefix("manifest=") in receipts[-1]


def test_a_stream_is_pinned(proxy: Proxy) -> None:
    response = proxy.chat([{"role": "user", "content": "Hello"}], stream=True)
    assert response.headers[HEADER].startswith("injected; ")
    parts = [part.choices[0].delta.content for part in response.parse() if part.choices]
    assert "".join(filter(None, parts)) == "Hello."
    assert [message["role"] for message in proxy.sent["messages"]] == ["system", "user"]
    assert block(proxy.sent) == 1


def test_what_stands_there_already_is_verified(proxy: Proxy) -> None:
    proxy.chat([{"role": "user", "content": "Hello"}])
    again = proxy.chat(proxy.sent["messages"])
    assert again.headers[HEADER].startswith("verified; ")
    assert block(proxy.sent) == 1


def test_a_summarizer_s_call_is_left_alone_by_rule(proxy: Proxy) -> None:
    said = [{"role": "user", "content": "Sum it up."}]
    response = proxy.chat(said, model="mine-summarizer")
    assert response.headers[HEADER] == "skipped; rule=models"
    assert proxy.sent["messages"] == said


def test_a_client_cannot_switch_it_off(proxy: Proxy) -> None:
    # LiteLLM's own mark of guardrails that one of its pipelines has run already.
    managed = {"_pipeline_managed_guardrails": ["pins"]}
    off = {"disable_global_guardrail": True, "guardrails": [], "metadata": {"guardrails": []}}
    for given in (off, {"metadata": managed}, {"litellm_metadata": managed}):
        proxy.chat([{"role": "user", "content": "Hello"}], extra_body=given)
        assert block(proxy.sent) == 1


def test_a_client_cannot_forge_a_receipt() -> None:
    forged = {"metadata": {RECEIPT: {"state": "verified"}}}
    assert RECEIPT not in ran(guardrail(), {"input": "Hello", **forged}, "aembedding")["metadata"]


def test_responses_and_messages_are_pinned(proxy: Proxy) -> None:
    asked = {"model": "mine", "input": "Hello", "instructions": "Be brief."}
    response = httpx.post(f"{proxy.url}/v1/responses", json=asked, timeout=60)
    assert proxy.upstream.paths[-1].endswith("/responses")
    assert proxy.sent["instructions"].startswith("Be brief.\n\n")
    assert block(proxy.sent) == 1
    body: dict[str, Any] = {"model": "mine", "max_tokens": 9, "system": "Be brief."}
    body["messages"] = [{"role": "user", "content": "Hello"}]
    httpx.post(f"{proxy.url}/v1/messages", json=body, timeout=60)
    assert block(proxy.sent) == 1
    assert response.headers[HEADER].startswith("injected; ")


def guardrail(**given: Any) -> PinGuardrail:
    return PinGuardrail(**{"policies": [POLICY], "guardrail_name": "pins"} | given)


def ran(
    guard: PinGuardrail, data: dict[str, Any], call_type: str = "acompletion"
) -> dict[str, Any]:
    return asyncio.run(guard.async_pre_call_hook(None, None, data, call_type))


def hello(**given: Any) -> dict[str, Any]:
    return {"model": "mine", "messages": [{"role": "user", "content": "Hello"}], **given}


@pytest.mark.parametrize(
    ("skip", "data", "rule"),
    [
        ({"models": ["m*"]}, {}, "models"),
        ({"models": "mine"}, {}, "models"),
        ({"models": ["other"]}, {}, None),
        ({"tags": ["summary"]}, {"tags": ["summary", "x"]}, "tags"),
        ({"tags": ["summary"]}, {"metadata": {"tags": ["summary"]}}, "tags"),
        ({"tags": ["summary"]}, {}, None),
        ({"metadata": {"for": "summary"}}, {"metadata": {"for": "summary"}}, "metadata"),
        ({"metadata": {"for": "summary", "a": 1}}, {"metadata": {"for": "summary"}}, None),
        ({"no_tools": True}, {}, "no_tools"),
        ({"no_tools": True}, {"tools": [{"type": "function"}]}, None),
        (None, {}, None),
    ],
)
def test_rules(skip: Any, data: dict[str, Any], rule: str | None) -> None:
    sent = ran(guardrail(skip=skip), hello(**data))
    assert block(sent) == (rule is None)
    assert sent["metadata"][RECEIPT].get("skipped") == rule


def test_an_amended_registry_shows_at_the_next_call() -> None:
    registry, seen = rules(), list[Receipt]()
    guard = guardrail(registry=registry, policies=None, report=seen.append)
    sent = ran(guard, hello())
    (pin,) = registry.pins()
    registry.amend(pin.id, "Send no email.", by=OPERATOR)
    sent = ran(guard, {"messages": sent["messages"]})
    assert block(sent) == 0
    assert json.dumps(sent["messages"]).count("Send no email.") == 1
    registry.evict(pin.id, by=OPERATOR, force=True)
    sent = ran(guard, {"messages": sent["messages"]})
    assert HEADING not in json.dumps(sent["messages"])
    assert [receipt.state for receipt in seen] == ["injected", "injected", "absent"]


def test_an_empty_registry_changes_nothing() -> None:
    guard = guardrail(registry=Registry(OPERATOR), policies=None)
    for call_type, data in (
        ("acompletion", hello()),
        ("aresponses", {"input": "Hello"}),
        ("anthropic_messages", hello()),
    ):
        before = json.loads(json.dumps(data))
        sent = ran(guard, data, call_type)
        assert {name: sent.get(name) for name in before} == before
        assert not sent.get("instructions")
        assert not sent.get("system")


def test_a_system_message_in_parts() -> None:
    parts = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    registry = rules()
    once = pinned([{"role": "developer", "content": parts}], board(registry))
    assert [part["text"] for part in once[0]["content"]] == [
        "Be brief.",
        board(registry).text.rstrip("\n"),
    ]
    assert once[0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert pinned(once, board(registry)) == once
    assert len(parts) == 1


def test_a_call_without_a_place_for_pins_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="constraintrot.pins"):
        ran(guardrail(), {"prompt": "Hello"}, "atext_completion")
        ran(guardrail(), {"input": "Hello"}, "aembedding")
    assert [record.args for record in caplog.records] == [("atext_completion",)]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"policies": None}, "one of policies"),
        ({"policies": [POLICY], "seeds": "x.md"}, "one of policies"),
        ({"policies": POLICY}, "a list of texts"),
        ({"skip": {"model": "x"}}, "unknown rule 'model'.*models, metadata, tags, no_tools"),
    ],
)
def test_a_wrong_configuration_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        guardrail(**given)


def test_seeds(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no seed file"):
        guardrail(policies=None, seeds=tmp_path)
    with pytest.raises(SeedError):
        guardrail(policies=None, seeds=tmp_path / "none.md")
    (tmp_path / "email.md").write_text(POLICY)
    assert block(ran(guardrail(policies=None, seeds=tmp_path / "email.md"), hello())) == 1


def test_the_example() -> None:
    assert doctest.testmod(pins).failed == 0


def test_the_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run_page("frameworks/litellm.md")
