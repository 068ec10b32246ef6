"""Whether LiteLLM's translation for a provider keeps the operator's words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import litellm
from litellm.exceptions import BadRequestError
from litellm.types.utils import LlmProviders  # pyright: ignore[reportMissingTypeStubs]
from litellm.utils import ProviderConfigManager  # pyright: ignore[reportMissingTypeStubs]

from constraintrot.defenses.frameworks.litellm.placement import CHAT, RESPONSES

_CANARY = "constraintrot canary 7f3a"


def loses(call: Mapping[str, Any], call_type: str) -> str | None:
    """Why a provider would not be sent the pins; None where nothing says so.

    Args:
        call: the arguments of a call of LiteLLM's.
        call_type: its type.
    """
    if call_type not in CHAT | RESPONSES:
        return None
    found = _provider(str(call.get("model")), call.get("custom_llm_provider"), call.get("api_base"))
    if found is None:
        return None
    model, known = found
    if call_type in RESPONSES:
        if not _takes_instructions(model, known):
            return "the provider's responses take no instructions; use chat completions"
    elif not _keeps_system(model, known):
        return "LiteLLM does not send this provider system messages"
    return None


@lru_cache(maxsize=1024)
def _provider(
    model: str, named: str | None, address: str | None
) -> tuple[str, LlmProviders] | None:
    try:
        name, provider, _, _ = litellm.get_llm_provider(
            model=model, custom_llm_provider=named, api_base=address
        )
        return name, LlmProviders(provider)
    except (ValueError, BadRequestError):
        # LiteLLM refuses such a call itself, or hands it to the operator's own handler.
        return None


@lru_cache(maxsize=1024)
def _takes_instructions(model: str, provider: LlmProviders) -> bool:
    config = ProviderConfigManager.get_provider_responses_api_config(model=model, provider=provider)
    # Without one LiteLLM makes a chat completion of it, which is looked at by itself.
    return config is None or "instructions" in config.get_supported_openai_params(model)


@lru_cache(maxsize=1024)
def _keeps_system(model: str, provider: LlmProviders) -> bool:
    """Found out by having LiteLLM translate a request, which sends nothing.

    Agents behind LiteLLM are sent the last message alone. Where a translation is not to
    be had so, nothing is known against the provider.
    """
    if model.startswith("agent_engine/"):  # translated by other code than the provider's models
        return False
    said: list[Any] = [
        {"role": "system", "content": _CANARY},
        {"role": "user", "content": "Hello"},
    ]
    try:
        config: Any = ProviderConfigManager.get_provider_chat_config(model=model, provider=provider)
        made = config.transform_request(
            model=model, messages=said, optional_params={}, litellm_params={}, headers={}
        )
    except Exception:  # whatever it lacks: credentials, an address, a method
        return True
    return not isinstance(made, Mapping) or _CANARY in repr(made)
