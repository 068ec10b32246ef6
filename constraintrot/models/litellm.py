"""``litellm/PROVIDER/NAME``: any model that LiteLLM can call, in any role.

::

    inspect eval constraintrot/... --model litellm/anthropic/claude-haiku-4-5
    inspect eval constraintrot/... --model litellm/openai/mine -M api_base=http://127.0.0.1:8000/v1

Keys come from the environment as LiteLLM names them. Model arguments beside
``api_base`` are passed on to ``litellm.acompletion``, as ``-M drop_params=true``.
Nothing is reported to anybody: LiteLLM's telemetry is off, and its table of
prices is the one in its package.
"""

from __future__ import annotations

import os
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    RetryDecision,
    StopReason,
    messages_to_openai,
    model_output_from_openai,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo

from constraintrot.errors import ParameterError
from constraintrot.extras import require
from constraintrot.models.config_errors import plainly
from constraintrot.tokens import count

# Inspect's name of a setting, and LiteLLM's.
_SETTINGS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop_seqs": "stop",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "logit_bias": "logit_bias",
    "num_choices": "n",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "parallel_tool_calls": "parallel_tool_calls",
    "reasoning_effort": "reasoning_effort",
    "extra_headers": "extra_headers",
    "extra_body": "extra_body",
}


@modelapi(name="litellm")
def litellm() -> type[ModelAPI]:
    """The provider's class."""
    return plainly(LiteLLMAPI)


class LiteLLMAPI(ModelAPI):
    """A model called through LiteLLM.

    Args:
        model_name: as LiteLLM writes it, the provider first.
        base_url: where the provider is; ``api_base`` says the same.
        api_key: its key; by default LiteLLM finds it in the environment.
        config: generation defaults.
        api_base: where the provider is.
        **arguments: passed on to ``litellm.acompletion``.

    Raises:
        MissingExtraError: LiteLLM is not installed.
        ParameterError: it knows no such provider.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        api_base: str | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(model_name, api_base or base_url, api_key, [], config)
        self._arguments = arguments
        self._litellm = _imported()
        try:
            self._litellm.get_llm_provider(model_name, api_base=self.base_url)
        except self._litellm.exceptions.BadRequestError as error:
            raise ParameterError(
                f"LiteLLM knows no provider of {model_name!r}; write the provider first, as"
                " litellm/openai/gpt-4o, or litellm/openai/NAME with -M api_base=URL for any"
                " server of that protocol"
            ) from error

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """One answer; errors that are worth another attempt are raised, for Inspect to retry."""
        request: dict[str, Any] = {
            "model": self.model_name,
            "messages": await messages_to_openai(input),
            **_tools(tools, tool_choice),
            **_settings(config),
            **self._arguments,
        }
        call = ModelCall.create(request, None)
        errors = self._litellm.exceptions
        try:
            response = await self._litellm.acompletion(
                **request, api_base=self.base_url, api_key=self.api_key, max_retries=0
            )
        except errors.ContextWindowExceededError as error:
            return self._refused(error, "model_length"), call
        except errors.ContentPolicyViolationError as error:
            return self._refused(error, "content_filter"), call
        answered = response.model_dump(exclude_none=True)
        call.set_response(answered)
        return await model_output_from_openai(_strict(answered)), call

    def should_retry(self, ex: Exception) -> bool | RetryDecision:
        """Whether another attempt may succeed: too many requests, timeouts, a server's fault."""
        errors = self._litellm.exceptions
        if isinstance(ex, errors.RateLimitError):
            return RetryDecision.rate_limit()
        transient = (
            errors.Timeout,
            errors.APIConnectionError,
            errors.InternalServerError,
            errors.ServiceUnavailableError,
            errors.BadGatewayError,
        )
        return isinstance(ex, transient)

    def is_auth_failure(self, ex: Exception) -> bool:
        return isinstance(ex, self._litellm.exceptions.AuthenticationError)

    async def count_text_tokens(self, text: str) -> int:
        """Tokens of a text, counted offline in the o200k vocabulary."""
        return count(text)

    def connection_key(self) -> str:
        """Requests to one server share a limit."""
        return f"litellm {self.base_url or self.model_name.partition('/')[0]}"

    def _refused(self, error: Exception, reason: StopReason) -> ModelOutput:
        return ModelOutput.from_content(
            self.model_name, str(error), stop_reason=reason, error=str(error)
        )


def _imported() -> Any:
    # Read when it is imported: else it fetches its table of prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    require("the provider litellm", "litellm")
    import litellm as module

    module.telemetry = False
    module.suppress_debug_info = True
    return module


def _tools(tools: list[ToolInfo], choice: ToolChoice) -> dict[str, Any]:
    if not tools:
        return {}
    offered = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters.model_dump(exclude_none=True),
            },
        }
        for tool in tools
    ]
    chosen: Any = "required" if choice == "any" else choice
    if isinstance(choice, ToolFunction):
        chosen = {"type": "function", "function": {"name": choice.name}}
    return {"tools": offered, "tool_choice": chosen}


def _settings(config: GenerateConfig) -> dict[str, Any]:
    given = config.model_dump(include=set(_SETTINGS), exclude_none=True)
    found = {_SETTINGS[name]: value for name, value in given.items()}
    if (schema := config.response_schema) is not None:
        described = {
            "name": schema.name,
            "schema": schema.json_schema.model_dump(exclude_none=True),
            "description": schema.description,
            "strict": schema.strict,
        }
        found["response_format"] = {
            "type": "json_schema",
            "json_schema": {name: part for name, part in described.items() if part is not None},
        }
    return found


def _strict(answered: dict[str, Any]) -> dict[str, Any]:
    """A response with what the protocol's type insists on."""
    choices: list[dict[str, Any]] = []
    for at, choice in enumerate(answered.get("choices") or []):
        message = {"role": "assistant", "content": None, **choice["message"]}
        choices.append({"logprobs": None, "index": at, **choice, "message": message})
    return {**answered, "choices": choices}
