"""A LiteLLM proxy with the guardrail, in a process of its own on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from openai import OpenAI

from constraintrot.defenses.operator import PinList, SigningKey
from constraintrot.defenses.operator.pin_list import ListedPin

POLICY = "Send email only to addresses at example.org."
OFFLINE = (
    "LITELLM_LOCAL_MODEL_COST_MAP",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS",
    "LITELLM_LOCAL_BLOG_POSTS",
    "LITELLM_LOCAL_POLICY_TEMPLATES",
)
# The proxy as `litellm --config` starts it, on whichever port is free, and without a network.
# Before that, LiteLLM is shown each configuration of `refused.yaml` in turn.
SERVER = """
import os, socket
connect, ask = socket.socket.connect, socket.getaddrinfo
HERE = ("127.0.0.1", "::1", "localhost", None)

def refuse(self, address):
    host = address[0] if isinstance(address, tuple) else str(address)
    if self.family != socket.AF_UNIX and host not in HERE:
        open("network", "a").write(f"{host}\\n")
        raise OSError("no network in tests")
    return connect(self, address)

def unknown(host, *args, **given):
    if host not in HERE:
        open("network", "a").write(f"{host}\\n")
        raise socket.gaierror("no network in tests")
    return ask(host, *args, **given)

socket.socket.connect, socket.getaddrinfo = refuse, unknown
import httpx, uvicorn, yaml
limited = httpx.Timeout.__init__

def patient(self, *args, **given):
    # LiteLLM gives a connection up after 5 seconds, less than a busy machine may take.
    limited(self, *args, **given)
    self.connect = None

httpx.Timeout.__init__ = patient
from litellm.proxy.guardrails.init_guardrails import init_guardrails_v2
from litellm.proxy.proxy_server import app

config = os.environ["CONFIG_FILE_PATH"]
for guard in yaml.safe_load(open("refused.yaml")):
    try:
        init_guardrails_v2([guard], config)
        print("refused nothing", flush=True)
    except Exception as error:
        print("refused", str(error), flush=True)

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        if self.started:
            print("port", self.servers[0].sockets[0].getsockname()[1], flush=True)

Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="websockets")).run()
"""


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        url: where it is.
        folder: its own, with its configuration and its ``log``.
        printed: what it printed before it listened.
    """

    url: str
    folder: Path
    printed: list[str]

    @property
    def log(self) -> str:
        """What it wrote to its standard error."""
        return (self.folder / "log").read_text()

    @property
    def network(self) -> list[str]:
        """Hosts that it asked for, other than this machine."""
        file = self.folder / "network"
        return file.read_text().splitlines() if file.exists() else []

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.url, timeout=60)
        self.client = OpenAI(base_url=f"{self.url}/v1", api_key="any", max_retries=0)

    def chat(self, messages: list[Any], model: str = "mine", **given: Any) -> Any:
        """The response to a chat completion, with its headers."""
        return self.client.chat.completions.with_raw_response.create(
            model=model, messages=messages, **given
        )

    def post(self, path: str, body: dict[str, Any], **given: Any) -> httpx.Response:
        """The response to any request."""
        return self.http.post(path, json=body, **given)


def pins_in(sent: Any) -> int:
    """How often the policy stands in what was sent."""
    return json.dumps(sent).count(POLICY)


def signed_list(folder: Path) -> dict[str, str]:
    """The settings of a guardrail that pins the policy from a signed list, which is written."""
    key = SigningKey.from_seed(b"the owner's key of these tests..")
    pins = (ListedPin(name="email", content=POLICY),)
    made = PinList(name="mine", repository=None, revision=2, owner=key.public.raw, pins=pins)
    (folder / "pins.json").write_text(made.signed(key))
    key.public.save(folder / "owner.pub", force=True)
    return {"file": str(folder / "pins.json"), "key": str(folder / "owner.pub")}


def guard(**given: Any) -> dict[str, Any]:
    """A guardrail as a configuration names it."""
    settings = {"guardrail": "pins.PinGuardrail", "mode": "pre_call", "default_on": True, **given}
    return {"guardrail_name": "pins", "litellm_params": settings}


def _models(upstream: str) -> list[dict[str, Any]]:
    def deployed(name: str, model: str, **given: Any) -> dict[str, Any]:
        params = {"model": model, "api_base": upstream, "api_key": "any", **given}
        return {"model_name": name, "litellm_params": params}

    replaced = {"messages": [{"role": "user", "content": "Unpinned."}]}
    return [
        deployed("mine", "openai/upstream"),
        deployed("other", "openai/other"),
        deployed("mine-summarizer", "openai/summarizer"),
        deployed("gem", "gemini/gemini-2.5-flash"),
        deployed("claude", "anthropic/claude-haiku-4-5", api_base=upstream.removesuffix("/v1")),
        deployed("bridged", "openai/responses/upstream"),
        deployed("replaced", "openai/upstream", extra_body=replaced),
        deployed("dropped", "openai/upstream", additional_drop_params=["messages[0].content"]),
        deployed("grok", "xai/grok-4", drop_params=True),
        deployed("plain", "openai/plain", supports_system_message=False),
    ]


@contextmanager
def proxy_of(
    folder: Path, upstream: str, *refused: dict[str, Any], retries: int = 0, **given: Any
) -> Iterator[Proxy]:
    """A proxy whose guardrail has the settings given.

    Args:
        folder: an empty one, for its configuration.
        upstream: address of the server behind it.
        *refused: guardrails that LiteLLM is shown before.
        retries: how often it asks again where the server fails.
        **given: the settings.
    """
    fallbacks = [{"mine-summarizer": ["mine"]}]
    config = {
        "model_list": _models(upstream),
        "guardrails": [guard(**given)],
        "router_settings": {
            "fallbacks": fallbacks,
            "num_retries": retries,
            "disable_cooldowns": True,
        },
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "refused.yaml").write_text(yaml.safe_dump(list(refused)))
    (folder / "pins.py").write_text(
        "import logging\n"
        "from constraintrot.litellm import PinGuardrail\n"
        "logging.basicConfig()\n"
        "logging.getLogger('constraintrot.pins').setLevel(logging.INFO)\n"
    )
    process = _started(folder)
    try:
        assert process.stdout is not None
        printed = list(_until_port(process.stdout))
        yield Proxy(f"http://127.0.0.1:{printed[-1].split()[1]}", folder, printed)
    finally:
        process.terminate()
        process.wait(30)


def _started(folder: Path) -> subprocess.Popen[str]:
    settings = {
        **dict.fromkeys(OFFLINE, "True"),
        # Or each run compiles LiteLLM anew, which takes as long as all else.
        "PYTHONDONTWRITEBYTECODE": "",
        "CONFIG_FILE_PATH": str(folder / "config.yaml"),
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


def _until_port(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.rstrip("\n")
        if line.startswith("port"):
            return
    raise AssertionError("the proxy did not start")
