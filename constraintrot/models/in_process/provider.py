"""The Inspect model provider of a local model.

Tool calls are sampled under a JSON schema: with tools on offer and a tool
choice other than ``none``, the answer is always a call (``auto`` included).
A ``response_schema`` named ``deliberate`` asks for the deliberate scaffold; the
message's text is then the recalled policy and the yes or no, as JSON, and the
tool call stands beside it.

Token usage follows Inspect's convention: ``input_tokens`` are those that were
processed, ``input_tokens_cache_read`` those that came from the prompt cache,
and together they are the whole prompt.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
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
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from constraintrot.errors import EpisodeError, ParameterError, WeightsError
from constraintrot.extras import require
from constraintrot.models.in_process import catalogue, weights
from constraintrot.models.in_process.machine import default_threads
from constraintrot.models.in_process.prompt import Prompt, as_text, render_prompt
from constraintrot.models.in_process.server import (
    Completion,
    Engine,
    Finish,
    LlamaServer,
    Opener,
    ServerParams,
    shared,
)
from constraintrot.scaffold.answer_format import (
    Scaffold,
    ToolLike,
    ToolSpec,
    call_schema,
    deliberation,
    read,
)

DELIBERATE = "deliberate"
# Names of a response schema that let words stand in place of the call.
WORDS = ("direct_or_words", "deliberate_or_words")
MAX_TOKENS_CALL = 320
MAX_TOKENS_TEXT = 512
_CONTEXT = 8192
_STOP_REASONS: Mapping[Finish, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "context": "model_length",
}
# Without this, a small model may write newlines between tokens until its limit.
_GUIDANCE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class LocalAPI(ModelAPI):
    """A small model in this process, its tool calls constrained to their schema."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        *,
        path: str | None = None,
        n_ctx: int | None = None,
        n_gpu_layers: int = 0,
        threads: int | None = None,
        parallel: int = 1,
        opener: Opener | None = None,
    ) -> None:
        """Check the configuration; weights are fetched and loaded on first use.

        Args:
            model_name: A name of the catalogue, or any name together with ``path``.
            base_url: Not used.
            api_key: Not used.
            config: Generation defaults.
            path: Your own GGUF file of a ChatML model.
            n_ctx: Tokens of context for one request.
            n_gpu_layers: Layers on the GPU, if llama.cpp was built for one; 99 for all.
            threads: CPU threads; the physical cores unless set.
            parallel: Requests that are processed at the same time. With 1, on the CPU,
                an answer depends on its request alone, and nothing is slower for it.
            opener: Starts the server; tests give a fake.

        Raises:
            UnknownNameError: The catalogue has no such model, and no path is given.
            WeightsError: There is no file at the path.
            ParameterError: A number is out of its range.
            MissingExtraError: llama.cpp is not installed.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        self._path = Path(path).expanduser() if path else None
        if self._path is None:
            default = catalogue.get(model_name).context
        elif self._path.is_file():
            default = _CONTEXT
        else:
            raise WeightsError(f"there is no weights file at {self._path} (model argument path)")
        self._context = _at_least(1, "n_ctx", default if n_ctx is None else n_ctx)
        self._gpu_layers = _at_least(0, "n_gpu_layers", n_gpu_layers)
        self._threads = _at_least(1, "threads", default_threads() if threads is None else threads)
        self._parallel = _at_least(1, "parallel", parallel)
        if opener is None:
            require("a local/ model", "local")
        self._opener = opener or LlamaServer
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        # Else a threshold given as a share of the window means a share of Inspect's default.
        set_model_info(f"local/{model_name}", ModelInfo(context_length=self._context))

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """One answer; see the module's text for what is constrained."""
        specs = [_spec(tool) for tool in tools]
        schema = _schema(specs, tool_choice, config)
        prompt = render_prompt(input, specs)
        settings = _settings(config, MAX_TOKENS_CALL if schema else MAX_TOKENS_TEXT)
        if schema:
            settings["json_schema"] = {**schema, "x-guidance": _GUIDANCE}
        done = await self._complete(prompt, settings)
        calling = bool(specs) and tool_choice != "none"
        output = self._output(done, specs if calling else [], constrained=bool(schema))
        call = ModelCall.create(
            {"prompt": as_text(prompt), **settings}, {**done.raw, "text": done.text}
        )
        return output, call

    async def _complete(self, prompt: Prompt, settings: dict[str, Any]) -> Completion:
        engine = await self._open()
        cancelled = threading.Event()

        def work() -> Completion:
            return engine.complete(engine.tokens(prompt), settings, cancelled)

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            # The thread outlives a cancelled task; this ends it at its next token.
            cancelled.set()

    async def _open(self) -> Engine:
        if self._engine is not None:
            return self._engine
        return await anyio.to_thread.run_sync(self._load)

    def _load(self) -> Engine:
        # A thread's lock, since one provider may serve one event loop after another.
        with self._opening:
            if self._engine is None:
                params = ServerParams(
                    weights=self._path or weights.pull(self.model_name, weights.to_stderr()),
                    context=self._context,
                    parallel=self._parallel,
                    threads=self._threads,
                    gpu_layers=self._gpu_layers,
                )
                self._engine = shared(params, self._opener)
            return self._engine

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
            message=message, stop_reason="tool_calls" if message.tool_calls else stop
        )
        return ModelOutput(model=self.model_name, choices=[choice], usage=_usage(done))

    def _called(
        self, message: ChatMessageAssistant, tools: Sequence[ToolLike]
    ) -> ChatMessageAssistant:
        reading = read(message.text, tools)
        if reading.error:
            # The engine counts it as malformed; the text says what was written.
            return message
        if reading.prose is not None:
            # Under ``deliberate`` what was recalled stays beside the words.
            said = reading.prose if reading.policy is None else message.text
            return message.model_copy(update={"content": said})
        kept = ""
        if reading.policy is not None and reading.breaks is not None:
            kept = deliberation(reading.policy, reading.breaks)
        calls = [ToolCall(id=f"call_{uuid4().hex[:12]}", **call) for call in reading.calls]
        return message.model_copy(update={"content": kept, "tool_calls": calls})

    async def count_tokens(
        self, input: str | list[ChatMessage], config: GenerateConfig | None = None
    ) -> int:
        """Tokens by the model's own tokenizer, turn markers included; no network."""
        prompt: Prompt = (
            [input] if isinstance(input, str) else render_prompt(input, [], answer=False)
        )
        engine = await self._open()
        return len(await anyio.to_thread.run_sync(engine.tokens, prompt))

    async def count_text_tokens(self, text: str) -> int:
        """Tokens by the model's own tokenizer; no network."""
        return await self.count_tokens(text)

    def max_connections(self) -> int:
        """As many as the server processes at the same time."""
        return self._parallel

    def connection_key(self) -> str:
        """Requests to the same server share one pool."""
        return f"{self._path or self.model_name}:{self._context}:{self._parallel}"

    def tools_required(self) -> bool:
        """Yes: else Inspect drops the tools of a ``none`` call, and with them the cached prefix."""
        return True

    def collapse_user_messages(self) -> bool:
        """No: ChatML takes consecutive user turns, and merging would move bytes."""
        return False


def _at_least(least: int, name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"model argument {name} is {value!r}; it must be {least} or more")
    return value


def _spec(tool: ToolInfo) -> ToolSpec:
    parameters = tool.parameters.model_dump(exclude_none=True)
    return ToolSpec(tool.name, tool.description, parameters)


def _schema(
    tools: Sequence[ToolSpec], choice: ToolChoice, config: GenerateConfig
) -> dict[str, Any] | None:
    wanted = config.response_schema
    if not tools or choice == "none":
        if wanted is None or wanted.name in (DELIBERATE, *WORDS):
            return None
        return wanted.json_schema.model_dump(exclude_none=True)
    offered = list(tools)
    if isinstance(choice, ToolFunction):
        offered = [tool for tool in tools if tool.name == choice.name]
    name = wanted.name if wanted else ""
    scaffold: Scaffold = "deliberate" if name.startswith(DELIBERATE) else "direct"
    return call_schema(offered, scaffold, words=name in WORDS)


def _settings(config: GenerateConfig, max_tokens: int) -> dict[str, Any]:
    """Sampling settings, all written out, so that a log says what was used.

    Greedy unless a temperature is set, and then drawn with a seed of the server's
    own unless one is given; the rest are llama.cpp's defaults.
    """
    settings: dict[str, Any] = {
        "n_predict": max_tokens if config.max_tokens is None else config.max_tokens,
        "temperature": 0.0 if config.temperature is None else config.temperature,
        "top_k": 40 if config.top_k is None else config.top_k,
        "top_p": 0.95 if config.top_p is None else config.top_p,
        "min_p": 0.05,
        "frequency_penalty": config.frequency_penalty or 0.0,
        "presence_penalty": config.presence_penalty or 0.0,
    }
    if config.seed is not None:
        # llama.cpp reads 2**32 - 1 as "draw one", so stay below it.
        settings["seed"] = config.seed % (2**32 - 1)
    if config.stop_seqs:
        settings["stop"] = config.stop_seqs
    return settings


def _usage(done: Completion) -> ModelUsage:
    return ModelUsage(
        input_tokens=done.prompt_tokens - done.cached_tokens,
        input_tokens_cache_read=done.cached_tokens,
        output_tokens=done.output_tokens,
        total_tokens=done.prompt_tokens + done.output_tokens,
    )
