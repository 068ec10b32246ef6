"""llama.cpp in this process: one server per set of weights and parameters.

The server also listens on a loopback port, because its tokenizer is only available there. A
random API key keeps other programs out.
"""

import atexit
import json
import secrets
import threading
import urllib.request
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from constraintrot.errors import ConstraintRotError, WeightsError
from constraintrot.extras import require
from constraintrot.models.in_process.machine import import_llama
from constraintrot.models.in_process.prefix_cache import SentPrompts
from constraintrot.models.in_process.prompt import Control, Prompt

Finish: TypeAlias = Literal["stop", "length", "context"]

# Memory for the states of earlier prompts; llama.cpp's default is 8 GiB.
_CACHE_MIB = 2048
# A prompt that fits one batch has no last batch of a few tokens (see prefix_cache.py).
_BATCH = 2048
# Longest time of one batch, and so of the wait at exit.
_EXIT_SECONDS = 30


@dataclass(frozen=True)
class ServerParams:
    """The parameters of a server; requests with equal parameters share one.

    Attributes:
        weights: The GGUF file.
        context: Context window of each concurrent request, in tokens.
        parallel: Requests that are processed at the same time.
        gpu_layers: Layers to keep on a GPU; 0 for none.
        adapter: A LoRA file for all requests. It has its own server, because a switch of
            adapters drops the conversation's cache; both map the same weights.
    """

    weights: Path
    context: int
    parallel: int
    threads: int
    gpu_layers: int
    adapter: Path | None = None

    @property
    def exact(self) -> bool:
        """True if an answer depends on its request alone.

        Shared batches, and GPU kernels, change the last bits of the logits, and sometimes a token.
        """
        return self.parallel == 1 and self.gpu_layers == 0


@dataclass(frozen=True)
class Completion:
    """The server's answer.

    Attributes:
        finish: ``stop`` at the end of the answer, ``length`` at the token
            limit, ``context`` if the prompt or the answer did not fit.
        prompt_tokens: Tokens of the whole prompt.
        cached_tokens: Tokens of the prompt that came from the prompt cache.
        logprobs: One entry per generated token, if requested.
    """

    text: str
    finish: Finish
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    raw: dict[str, Any]
    logprobs: tuple[dict[str, Any], ...] = ()


class Engine(Protocol):
    """The interface of a server; tests pass a fake."""

    def tokens(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt; text in it never becomes a control token."""
        ...

    def complete(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        """Generate; blocks, and returns early once ``cancelled`` is set."""
        ...

    def close(self) -> None:
        """Stop running requests, and start no more."""
        ...


Opener: TypeAlias = Callable[[ServerParams], Engine]


class LlamaServer:
    """xllamacpp's server behind the ``Engine`` protocol."""

    def __init__(self, params: ServerParams) -> None:
        require("a local/ model", "local")
        self._params = params
        self._key = secrets.token_urlsafe(16)
        llama = import_llama()
        try:
            self._server: Any = llama.Server(self._configure(llama, params))
        except RuntimeError as error:
            # llama.cpp does not say why.
            adapted = f" with the adapter {params.adapter}" if params.adapter else ""
            raise WeightsError(
                f"llama.cpp cannot load {params.weights}{adapted}: a file is damaged, the adapter"
                " is not one of these weights, or there is too little memory"
            ) from error
        # Ignore proxies of the environment: the server is on the loopback.
        self._http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._text_tokens = lru_cache(maxsize=4096)(self._tokenize)
        self._control = {control: self._control_token(control) for control in Control}
        self._sent = SentPrompts()
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        self._running = 0
        self._idle = threading.Condition()

    def _configure(self, llama: Any, params: ServerParams) -> Any:
        common = llama.CommonParams()
        common.model.path = str(params.weights)
        common.n_ctx = params.context * params.parallel
        common.n_parallel = params.parallel
        common.n_gpu_layers = params.gpu_layers
        common.n_batch = common.n_ubatch = _BATCH
        common.cache_ram_mib = _CACHE_MIB
        for cpu in (common.cpuparams, common.cpuparams_batch):
            cpu.n_threads = params.threads
        if params.exact:
            # With repacked weights or flash attention, rounding depends on the batch size
            # (see prefix_cache.py).
            common.no_extra_bufts = True
            common.flash_attn_type = llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        if params.adapter:
            lora = llama.CommonAdapterLoraInfo()
            lora.path, lora.scale = str(params.adapter), 1.0
            common.lora_adapters = [lora]
        common.api_keys = [self._key]
        common.ui = False
        common.warmup = False
        common.verbosity = 0
        return common

    def _control_token(self, control: Control) -> int:
        ids = self._tokenize(control.value, special=True)
        if len(ids) != 1:
            raise WeightsError(
                f"{self._params.weights} is not a ChatML model: "
                f"{control.value} is {len(ids)} tokens"
            )
        return ids[0]

    def _tokenize(self, text: str, special: bool = False) -> tuple[int, ...]:
        body = {"content": text, "parse_special": special, "add_special": False}
        request = urllib.request.Request(
            f"{self._server.listening_address}/tokenize",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        with self._http.open(request, timeout=60) as response:
            return tuple(json.load(response)["tokens"])

    def tokens(self, prompt: Prompt) -> list[int]:
        ids: list[int] = []
        for piece in prompt:
            if isinstance(piece, Control):
                ids.append(self._control[piece])
            else:
                ids.extend(self._text_tokens(piece))
        return ids

    def complete(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        if not self._params.exact:
            return self._generate(prompt, settings, cancelled)
        with self._turn:
            kept = self._rewind(prompt, cancelled)
            done = self._generate(prompt, {**settings, "cache_prompt": kept != 0}, cancelled)
            if done.finish != "context" or done.output_tokens:
                self._sent.add(prompt)
        cached = done.cached_tokens if kept is None else kept
        return replace(done, cached_tokens=cached)

    def _rewind(self, prompt: list[int], cancelled: threading.Event) -> int | None:
        """Cut the cache if necessary; return the number of tokens that stay, or None for no cut."""
        cut = self._sent.rewind(prompt)
        if not cut:
            return cut
        start, end = self._control[Control.START], self._control[Control.END]
        other = end if prompt[cut] == start else start
        # A prompt that differs right after the cut makes the server drop its cache from there.
        done = self._generate([*prompt[:cut], other], {"n_predict": 0}, cancelled)
        return min(cut, done.cached_tokens)

    def _generate(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        text: list[str] = []
        entries: list[dict[str, Any]] = []
        last: dict[str, Any] = {}
        if cancelled.is_set() or self._stopping.is_set():
            return Completion("", "length", len(prompt), 0, 0, last)

        def receive(chunk: dict[str, Any]) -> bool:
            last.clear()
            last.update(chunk)
            for choice in chunk.get("choices", ()):
                text.append(choice["text"])
                entries.extend((choice.get("logprobs") or {}).get("content", ()))
            return cancelled.is_set() or self._stopping.is_set()

        request = {"cache_prompt": True, **settings, "prompt": prompt, "stream": True}
        with self._counted():
            self._server.handle_completions(request, receive)
        return replace(self._completion("".join(text), last, len(prompt)), logprobs=tuple(entries))

    @contextmanager
    def _counted(self) -> Generator[None]:
        with self._idle:
            self._running += 1
        try:
            yield
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def close(self) -> None:
        """Stop running requests, and start no more.

        A thread that calls back into a finalized interpreter crashes the process, so
        this waits until no thread is in the server.
        """
        self._stopping.set()
        with self._idle:
            self._idle.wait_for(lambda: not self._running, timeout=_EXIT_SECONDS)

    def _completion(self, text: str, last: dict[str, Any], sent: int) -> Completion:
        if error := last.get("error"):
            if error.get("type") == "exceed_context_size_error":
                return Completion("", "context", sent, 0, 0, last)
            raise ConstraintRotError(f"llama.cpp refused the request: {error.get('message')}")
        usage = last.get("usage", {})
        output = int(usage.get("completion_tokens", 0))
        cached = int(usage.get("prompt_tokens_details", {}).get("cached_tokens", 0))
        stopped = bool(last.get("choices")) and last["choices"][0].get("finish_reason") == "stop"
        cut: Finish = "context" if sent + output >= self._params.context else "length"
        return Completion(text, "stop" if stopped else cut, sent, cached, output, last)


_servers: dict[ServerParams, Engine] = {}
_lock = threading.Lock()


def shared(params: ServerParams, opener: Opener = LlamaServer) -> Engine:
    """Return this process's server for these parameters; start it if it is not running."""
    with _lock:
        if params not in _servers:
            _servers[params] = opener(params)
        return _servers[params]


@atexit.register
def close() -> None:
    """Stop all servers; runs at exit, before the interpreter is finalized."""
    with _lock:
        for engine in _servers.values():
            engine.close()
        _servers.clear()
