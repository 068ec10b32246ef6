"""The provider's settings for the server: schema, sampling, adapter, log-probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import GenerateConfig, Logprob, Logprobs, TopLogprob
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo

from constraintrot.episode.scaffold.answer_format import ToolSpec, call_schema
from constraintrot.episode.scaffold.instructions import Scaffold
from constraintrot.errors import ParameterError, WeightsError
from constraintrot.models.in_process import acting, catalogue
from constraintrot.rule_text.packaged_adapter import BASE

DELIBERATE = "deliberate"
# Names of response schemas that allow words instead of the call.
WORDS = ("direct_or_words", "deliberate_or_words")
MAX_TOKENS_CALL = 320
MAX_TOKENS_TEXT = 512
# Without this, a small model may write newlines between tokens until its limit.
_GUIDANCE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_ADAPTER = "adapter"
_GGUF = b"GGUF"


def tool_spec(tool: ToolInfo) -> ToolSpec:
    """Return a tool as the answer format describes it."""
    parameters = tool.parameters.model_dump(exclude_none=True)
    return ToolSpec(tool.name, tool.description, parameters)


def answer_schema(
    tools: Sequence[ToolSpec], choice: ToolChoice, config: GenerateConfig
) -> dict[str, Any] | None:
    """Return the JSON schema of the answer, or None for free text."""
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


def sampling(config: GenerateConfig, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return all sampling settings, defaults included, for the log.

    Sampling is greedy unless a temperature is set; then the server draws a seed
    unless one is given. The other defaults are llama.cpp's.
    """
    most = MAX_TOKENS_CALL if schema else MAX_TOKENS_TEXT
    settings: dict[str, Any] = {
        "n_predict": most if config.max_tokens is None else config.max_tokens,
        "temperature": 0.0 if config.temperature is None else config.temperature,
        "top_k": 40 if config.top_k is None else config.top_k,
        "top_p": 0.95 if config.top_p is None else config.top_p,
        "min_p": 0.05,
        "frequency_penalty": config.frequency_penalty or 0.0,
        "presence_penalty": config.presence_penalty or 0.0,
    }
    if config.seed is not None:
        # 2**32 - 1 means "draw a seed" in llama.cpp, so stay below it.
        settings["seed"] = config.seed % (2**32 - 1)
    if config.stop_seqs:
        settings["stop"] = config.stop_seqs
    if config.logprobs:
        settings["logprobs"] = max(1, config.top_logprobs or 1)
    if schema:
        settings["json_schema"] = {**schema, "x-guidance": _GUIDANCE}
    return settings


def adapter_name(config: GenerateConfig) -> str | None:
    """Return the adapter that ``extra_body={"adapter": name}`` switches on, or None."""
    extra = config.extra_body or {}
    if extra.keys() - {_ADAPTER}:
        raise ParameterError(f"extra_body of a local/ model is {extra}; it takes {_ADAPTER!r} only")
    name: str | None = extra.get(_ADAPTER)
    return name


def acting_adapter(model_name: str, file: str | None) -> Path | None:
    """Return the adapter's file of a model, or None for a model without an adapter.

    A model with an adapter must have its own name, so that logs distinguish it from its base.

    Args:
        model_name: ``BASE`` or ``BASE+NAME``.
        file: The LoRA file; None for the packaged one, ``acting``.
    """
    base, named, own = model_name.partition(catalogue.ADAPTED)
    if not named and file is None:
        return None
    if not own:
        raise ParameterError(
            f"local/{model_name} has no name for its adapter; use local/{base}{catalogue.ADAPTED}NAME"
        )
    if file is None:
        if (base, own) == (BASE, acting.NAME):
            return acting.file()
        raise ParameterError(f"local/{model_name} wants the adapter's file: -M adapter=FILE.gguf")
    path = Path(file).expanduser()
    if not path.is_file():
        raise WeightsError(f"there is no adapter at {path} (model argument adapter)")
    with path.open("rb") as stream:
        if stream.read(len(_GGUF)) != _GGUF:
            raise WeightsError(f"{path} is no GGUF file (model argument adapter)")
    return path


def read_logprobs(entries: Sequence[Mapping[str, Any]]) -> Logprobs | None:
    """Convert the server's log-probabilities to Inspect's; None if it gave none."""
    if not entries:
        return None
    content = [
        Logprob(
            token=entry["token"],
            logprob=entry["logprob"],
            top_logprobs=[
                TopLogprob(token=top["token"], logprob=top["logprob"])
                for top in entry.get("top_logprobs", ())
            ],
        )
        for entry in entries
    ]
    return Logprobs(content=content)
