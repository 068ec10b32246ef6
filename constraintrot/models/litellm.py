"""``litellm/PROVIDER/NAME``: any model that LiteLLM can call, in any role.

::

    inspect eval constraintrot/... --model litellm/anthropic/claude-haiku-4-5
    inspect eval constraintrot/... --model litellm/openai/mine -M api_base=http://127.0.0.1:8000/v1

API keys come from LiteLLM's environment variables. Model arguments other than
``api_base`` are passed to ``litellm.acompletion``, such as ``-M drop_params=true``.
LiteLLM's telemetry is off, and it uses the tables in its package (prices, Anthropic's
beta headers) instead of downloading them.
"""

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

# Inspect's name of a setting -> LiteLLM's.
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
    return plainly(LiteLLMAPI)


class LiteLLMAPI(ModelAPI):
    """A model called through LiteLLM.

    Args:
        model_name: LiteLLM's name of the model, ``PROVIDER/NAME``.
        base_url: URL of the provider's API.
        api_key: API key; by default LiteLLM reads it from the environment.
        config: generation defaults.
        api_base: LiteLLM's name for ``base_url``; takes precedence.
        **arguments: passed to ``litellm.acompletion``.

    Raises:
        MissingExtraError: LiteLLM is not installed.
        ParameterError: LiteLLM has no such provider.
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
        """Return one answer; transient errors are raised, for Inspect to retry.

        Too long a prompt and refused content give answers with the stop reasons
        ``model_length`` and ``content_filter``.
        """
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
        """Return whether to retry: after rate limits, timeouts and server errors."""
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
        return count(text)

    def connection_key(self) -> str:
        """Return a key by which requests to one server share a connection limit."""
        return f"litellm {self.base_url or self.model_name.partition('/')[0]}"

    def _refused(self, error: Exception, reason: StopReason) -> ModelOutput:
        return ModelOutput.from_content(
            self.model_name, str(error), stop_reason=reason, error=str(error)
        )


def _imported() -> Any:
    # Without these LiteLLM downloads its table of prices, at import, and its list of
    # Anthropic's beta headers, at the first request with such a header.
    for switch in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"):
        os.environ.setdefault(switch, "True")
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
    settings: dict[str, Any] = {_SETTINGS[name]: value for name, value in given.items()}
    if (schema := config.response_schema) is not None:
        described = {
            "name": schema.name,
            "schema": schema.json_schema.model_dump(exclude_none=True),
            "description": schema.description,
            "strict": schema.strict,
        }
        settings["response_format"] = {
            "type": "json_schema",
            "json_schema": {name: part for name, part in described.items() if part is not None},
        }
    return settings


def _strict(answered: dict[str, Any]) -> dict[str, Any]:
    """Return a response with the required fields that some servers leave out.

    LiteLLM moves a refusal to the fields of one provider.
    """
    choices: list[dict[str, Any]] = []
    for at, choice in enumerate(answered.get("choices") or []):
        message = {"role": "assistant", "content": None, **choice["message"]}
        message.setdefault(
            "refusal", (message.get("provider_specific_fields") or {}).get("refusal")
        )
        choices.append({"logprobs": None, "index": at, **choice, "message": message})
    return {**answered, "choices": choices}
