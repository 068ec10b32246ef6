"""The Inspect model provider of a local model.

Tool calls are sampled under a JSON schema. If tools are offered and the tool
choice is not ``none``, the answer is always a call, also with ``auto``. A
``response_schema`` named ``deliberate`` selects the deliberate scaffold: then the
message's text is the recalled policy and the yes or no, as JSON, and the message
has the tool call as usual. Under ``direct_or_words`` and ``deliberate_or_words`` the
model may write words instead of the call.

``extra_body={"adapter": "rule-judge"}`` answers this one call with that adapter; all
other calls are the base model's. ``local/BASE+NAME`` with ``-M adapter=FILE`` answers with that
LoRA file if a tool call is asked for; its summaries and other texts are the base model's.
``logprobs`` and ``top_logprobs`` are supported.

Token usage follows Inspect's convention: ``input_tokens`` were processed,
``input_tokens_cache_read`` came from the prompt cache, and their sum is the whole
prompt.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    StopReason,
    set_model_info,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from constraintrot.episode.scaffold.answer_format import ToolLike, deliberation, read
from constraintrot.errors import EpisodeError, ParameterError, UnknownNameError, WeightsError
from constraintrot.extras import require
from constraintrot.models.downloads import sha256_of
from constraintrot.models.in_process import catalogue, weights
from constraintrot.models.in_process.machine import default_threads
from constraintrot.models.in_process.prompt import Prompt, as_text, render_prompt
from constraintrot.models.in_process.request import (
    acting_adapter,
    adapter_name,
    answer_schema,
    read_logprobs,
    sampling,
    tool_spec,
)
from constraintrot.models.in_process.server import (
    Completion,
    Engine,
    Finish,
    LlamaServer,
    Opener,
    ServerParams,
    shared,
)
from constraintrot.rule_text.packaged_adapter import BASE
from constraintrot.rule_text.rule_judge import adapter as rule_judge
from constraintrot.rule_text.rule_reader import adapter as rule_reader

_CONTEXT = 8192
_ADAPTERS: Mapping[str, ModuleType] = {one.NAME: one for one in (rule_judge, rule_reader)}
_STOP_REASONS: Mapping[Finish, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "context": "model_length",
}


class LocalAPI(ModelAPI):
    """A small model in this process, its tool calls constrained to their schema."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        *,
        path: str | None = None,
        adapter: str | None = None,
        n_ctx: int | None = None,
        n_gpu_layers: int = 0,
        threads: int | None = None,
        parallel: int = 1,
        opener: Opener | None = None,
    ) -> None:
        """Check the configuration; weights are downloaded and loaded on first use.

        Args:
            model_name: A name of the catalogue, or any name together with ``path``; with
                ``adapter``, followed by ``+`` and a name for the adapter.
            base_url: Not used.
            api_key: Not used.
            config: Generation defaults; ``max_connections`` becomes ``parallel`` if neither it nor
                ``adaptive_connections`` is set.
            path: GGUF file of a ChatML model that is not in the catalogue.
            adapter: LoRA file, as GGUF, for answers with a tool call.
            n_ctx: Context window of one request, in tokens.
            n_gpu_layers: Layers on the GPU, if llama.cpp was built for one; 99 for all.
            threads: CPU threads; by default one per physical core.
            parallel: Requests that are processed at the same time. With 1, on the CPU,
                an answer depends on its request alone, without loss of speed.
            opener: Starts the server; tests pass a fake.

        Raises:
            UnknownNameError: The catalogue has no such model, and no path is given.
            WeightsError: There is no file at ``path`` or ``adapter``.
            ParameterError: A number is out of its range, or name and adapter do not match.
            MissingExtraError: llama.cpp is not installed.
        """
        config = GenerateConfig() if config is None else config
        super().__init__(model_name, base_url, api_key, [], config)
        parallel = _at_least(1, "parallel", parallel)
        if config.max_connections is None and config.adaptive_connections is None:
            # By default Inspect plays 20 samples at once to probe a service's capacity; they would
            # evict each other's prefix cache. A run's --max-connections takes precedence.
            config.max_connections = parallel
        self._base = catalogue.base(model_name)
        self._acting = acting_adapter(model_name, adapter)
        # The name is the user's choice, so each answer states the file's digest.
        self._digest = sha256_of(self._acting) if self._acting else ""
        self._path = Path(path).expanduser() if path else None
        if self._path is None:
            default = catalogue.get(self._base).context
        elif self._path.is_file():
            default = _CONTEXT
        else:
            raise WeightsError(f"there is no weights file at {self._path} (model argument path)")
        self._context = _at_least(1, "n_ctx", default if n_ctx is None else n_ctx)
        self._gpu_layers = _at_least(0, "n_gpu_layers", n_gpu_layers)
        self._threads = _at_least(1, "threads", default_threads() if threads is None else threads)
        self._parallel = parallel
        if opener is None:
            require("a local/ model", "local")
        self._opener = opener or LlamaServer
        self._engines: dict[str | Path | None, Engine] = {}
        self._opening = threading.Lock()
        # Otherwise a threshold as a share of the window would refer to Inspect's default window.
        set_model_info(f"local/{model_name}", ModelInfo(context_length=self._context))

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Return one answer, constrained as in the module's docstring."""
        specs = [tool_spec(tool) for tool in tools]
        schema = answer_schema(specs, tool_choice, config)
        prompt = render_prompt(input, specs)
        settings = sampling(config, schema)
        calling = bool(specs) and tool_choice != "none"
        adapter = adapter_name(config) or (self._acting if calling else None)
        done = await self._complete(prompt, settings, adapter)
        output = self._output(done, specs if calling else [], constrained=bool(schema))
        if adapter is not None and adapter == self._acting:
            output.metadata = {**(output.metadata or {}), "adapter_sha256": self._digest}
        call = ModelCall.create(
            {"prompt": as_text(prompt), **settings}, {**done.raw, "text": done.text}
        )
        return output, call

    async def _complete(
        self, prompt: Prompt, settings: dict[str, Any], adapter: str | Path | None
    ) -> Completion:
        engine = await self._open(adapter)
        cancelled = threading.Event()

        def work() -> Completion:
            return engine.complete(engine.tokens(prompt), settings, cancelled)

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            # The thread outlives a cancelled task; this stops it at its next token.
            cancelled.set()

    async def _open(self, adapter: str | Path | None = None) -> Engine:
        if adapter in self._engines:
            return self._engines[adapter]
        return await anyio.to_thread.run_sync(self._load, adapter)

    def _load(self, adapter: str | Path | None) -> Engine:
        # A threading lock: a provider may serve several event loops, one after another.
        with self._opening:
            if adapter not in self._engines:
                # First, so that a refusal does not wait for a download.
                adapter_file = self._adapter(adapter) if isinstance(adapter, str) else adapter
                params = ServerParams(
                    weights=self._weights(),
                    context=self._context,
                    parallel=self._parallel,
                    threads=self._threads,
                    gpu_layers=self._gpu_layers,
                    adapter=adapter_file,
                )
                self._engines[adapter] = shared(params, self._opener)
            return self._engines[adapter]

    def _weights(self) -> Path:
        if self._path is None:
            return weights.pull(self._base, weights.to_stderr())
        return weights.own(self._base, self._path)

    def _adapter(self, name: str) -> Path:
        if name not in _ADAPTERS:
            raise UnknownNameError("adapter", name, list(_ADAPTERS))
        if self._base != BASE:
            raise ParameterError(f"the adapter {name} belongs to local/{BASE}")
        file: Path = _ADAPTERS[name].file()
        return file

    def _output(
        self, done: Completion, tools: Sequence[ToolLike], *, constrained: bool
    ) -> ModelOutput:
        if done.text and constrained and done.text[0] not in '{["':
            raise EpisodeError(f"sampling was not constrained to the schema: {done.text[:80]!r}")
        message = ChatMessageAssistant(content=done.text, model=self.model_name, source="generate")
        if tools and done.finish == "stop":
            message = self._called(message, tools)
        stop = _STOP_REASONS[done.finish]
        choice = ChatCompletionChoice(
            message=message,
            stop_reason="tool_calls" if message.tool_calls else stop,
            logprobs=read_logprobs(done.logprobs),
        )
        return ModelOutput(model=self.model_name, choices=[choice], usage=_usage(done))

    def _called(
        self, message: ChatMessageAssistant, tools: Sequence[ToolLike]
    ) -> ChatMessageAssistant:
        reading = read(message.text, tools)
        if reading.error:
            # Graded as malformed; the message keeps the model's text.
            return message
        if reading.prose is not None:
            # Under ``deliberate`` the recalled policy stays beside the words.
            said = reading.prose if reading.policy is None else message.text
            return message.model_copy(update={"content": said})
        content = ""
        if reading.policy is not None and reading.breaks is not None:
            content = deliberation(reading.policy, reading.breaks)
        calls = [ToolCall(id=f"call_{uuid4().hex[:12]}", **call) for call in reading.calls]
        return message.model_copy(update={"content": content, "tool_calls": calls})

    async def count_tokens(
        self, input: str | list[ChatMessage], config: GenerateConfig | None = None
    ) -> int:
        """Return the number of the model's tokens, turn markers included; no network."""
        prompt: Prompt = (
            [input] if isinstance(input, str) else render_prompt(input, [], answer=False)
        )
        engine = await self._open()
        return len(await anyio.to_thread.run_sync(engine.tokens, prompt))

    async def count_text_tokens(self, text: str) -> int:
        return await self.count_tokens(text)

    def max_connections(self) -> int:
        return self._parallel

    def connection_key(self) -> str:
        """Return a key by which requests to one server share a connection limit."""
        return f"{self._path or self.model_name}:{self._context}:{self._parallel}"

    def tools_required(self) -> bool:
        """Return True: else Inspect drops the tools, and the prefix, for tool choice ``none``."""
        return True

    def collapse_user_messages(self) -> bool:
        """Return False: ChatML allows consecutive user turns; merging would change the prefix."""
        return False


def _at_least(least: int, name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"model argument {name} is {value!r}; it must be {least} or more")
    return value


def _usage(done: Completion) -> ModelUsage:
    return ModelUsage(
        input_tokens=done.prompt_tokens - done.cached_tokens,
        input_tokens_cache_read=done.cached_tokens,
        output_tokens=done.output_tokens,
        total_tokens=done.prompt_tokens + done.output_tokens,
    )
