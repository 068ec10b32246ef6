"""The check that LiteLLM's translation for a provider keeps the operator's words.

LiteLLM translates a request after the last hook. The checks run the translation, without
sending anything, on the operator's messages of that request, because their words can decide
what is kept (a system message that begins like Claude Code's note on billing is dropped).
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any, cast

import litellm
from litellm.exceptions import BadRequestError
from litellm.litellm_core_utils.prompt_templates.factory import map_system_message_pt
from litellm.llms.vertex_ai.common_utils import get_supports_system_message
from litellm.types.utils import LlmProviders
from litellm.utils import ProviderConfigManager

from constraintrot.defenses.pinning.message_list import OPERATOR
from constraintrot.harnesses.litellm.placement import CHAT, MESSAGES, RESPONSES, texts

_CANARY = "constraintrot canary 7f3a"
_USER = {"role": "user", "content": "Hello"}
_IMAGES = ("image_generation", "image_edit")
# The smallest PNG's header; it is never decoded.
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"
# Keys of the conversation in a request to a language model.
_CONVERSATION = frozenset({"messages", "contents"})
_DROPPED = "LiteLLM would not send this request's system message to the provider"
_APART = "LiteLLM makes each message a prompt of its own, which is answered without the pins"
# Their translation calls Google first; `get_supports_system_message` knows their models.
_GEMINI = (LlmProviders.GEMINI, LlmProviders.VERTEX_AI, LlmProviders.VERTEX_AI_BETA)


def loses(call: Mapping[str, Any], call_type: str, block: str) -> str | None:
    """Return why a provider would not be sent the pins; None if no reason is known."""
    found = _provider(str(call.get("model")), call.get("custom_llm_provider"), call.get("api_base"))
    if found is None:
        return None
    model, known = found
    if call_type in RESPONSES:
        if not _takes_instructions(model, known):
            return "the provider's responses take no instructions; use chat completions"
    elif call_type in CHAT:
        if _prompts_apart(call, model, known):
            return _APART
        if not _keeps_system(model, known):
            return "LiteLLM does not send this provider system messages"
        if block and not _keeps_messages(call, model, known, block):
            return _DROPPED
    elif call_type in MESSAGES and block and not _keeps_prompt(call, model, known, block):
        return _DROPPED
    return None


def as_user(call: Mapping[str, Any], call_type: str, block: str) -> bool:
    """Return whether LiteLLM sends the pins in the user role: the model takes no system message."""
    found = _provider(str(call.get("model")), call.get("custom_llm_provider"), call.get("api_base"))
    if found is None or not block or call_type not in CHAT:
        return False
    if call.get("supports_system_message") is False:
        return True
    model, provider = found
    made = _translation(model, provider, _leading(call.get("messages"))[0])
    if made is None and provider in _GEMINI:
        return not _takes_system(model, str(provider.value))
    return not {"user", "human"}.isdisjoint(_roles(made, block))


def asks_language_model(call: Mapping[str, Any], call_type: str) -> bool:
    """Return whether LiteLLM serves an image call by a conversation with a language model.

    It does for the images of Gemini and OpenRouter.
    """
    kind = call_type.removeprefix("a")
    if kind not in _IMAGES:
        return False
    found = _provider(str(call.get("model")), call.get("custom_llm_provider"), call.get("api_base"))
    return found is not None and _draws_by_conversation(*found, kind)


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
    # Without a config LiteLLM makes a chat completion of it, which is checked separately.
    return config is None or "instructions" in config.get_supported_openai_params(model)


@lru_cache(maxsize=1024)
def _keeps_system(model: str, provider: LlmProviders) -> bool:
    """Return whether a provider is sent system messages at all.

    Agents behind LiteLLM get only the last message, or all messages in the user role. A
    provider whose translation cannot be run is assumed to keep them.
    """
    # Their translation is not that of the provider's models.
    if model.startswith("agent_engine/") or _posts_as_user(model, provider):
        return False
    return _translated(model, provider, [{"role": "system", "content": _CANARY}], _CANARY)


def _prompts_apart(call: Mapping[str, Any], model: str, provider: LlmProviders) -> bool:
    """Return LiteLLM's condition for OpenAI's text completions, with several prompts at once."""
    return (
        provider is LlmProviders.TEXT_COMPLETION_OPENAI
        or "ft:babbage-002" in model
        or "ft:davinci-002" in model
        or call.get("text_completion") is True
    )


@lru_cache(maxsize=1024)
def _takes_system(model: str, provider: Any) -> bool:
    return get_supports_system_message(model, provider)


def _posts_as_user(model: str, provider: LlmProviders) -> bool:
    return provider is LlmProviders.AZURE_AI and model.startswith("agents/")


def _keeps_messages(
    call: Mapping[str, Any], model: str, provider: LlmProviders, block: str
) -> bool:
    """Return whether the operator's leading messages of a call keep the pins."""
    said, following = _leading(call.get("messages"))
    if call.get("supports_system_message") is False:
        try:
            said = map_system_message_pt([*said, {"role": following, "content": ""}])
        except TypeError:  # a content in parts; LiteLLM fails there as well
            return False
    return _holds(said, block) and _translated(model, provider, said, block)


def _keeps_prompt(call: Mapping[str, Any], model: str, provider: LlmProviders, block: str) -> bool:
    """Return whether the system prompt of Anthropic's messages keeps the pins."""
    try:
        config: Any = ProviderConfigManager.get_provider_anthropic_messages_config(
            model=model, provider=provider
        )
        made = config.transform_anthropic_messages_request(
            model=model,
            messages=[dict(_USER)],
            anthropic_messages_optional_request_params={
                "max_tokens": 1,
                "system": _copied(call.get("system")),
            },
            litellm_params={},
            headers={},
        )
    except Exception:  # any missing part; without a config it becomes a call of another type
        return True
    return not isinstance(made, Mapping) or _holds(made, block)


def _translated(model: str, provider: LlmProviders, said: list[Any], block: str) -> bool:
    made = _translation(model, provider, said)
    return made is None or _holds(made, block)


def _translation(model: str, provider: LlmProviders, said: list[Any]) -> Mapping[str, Any] | None:
    """Return the body that a provider would be sent; None if it cannot be made without a call."""
    try:
        config: Any = ProviderConfigManager.get_provider_chat_config(model=model, provider=provider)
        made = config.transform_request(
            model=model,
            messages=[*map(dict, said), dict(_USER)],
            optional_params={},
            litellm_params={},
            headers={},
        )
    except Exception:  # any missing part: credentials, an address, a method
        return None
    return cast("Mapping[str, Any]", made) if isinstance(made, Mapping) else None


@lru_cache(maxsize=1024)
def _draws_by_conversation(model: str, provider: LlmProviders, kind: str) -> bool:
    manager: Any = ProviderConfigManager
    config = getattr(manager, f"get_provider_{kind}_config")(model=model, provider=provider)
    given: dict[str, Any] = {"model": model, "prompt": "A hat", "headers": {}}
    try:
        if kind == "image_generation":
            made = config.transform_image_generation_request(
                **given, optional_params={}, litellm_params={}
            )
        else:
            made, _ = config.transform_image_edit_request(
                **given,
                image=[BytesIO(_PNG)],
                image_edit_optional_request_params={},
                litellm_params={},
            )
    except Exception:  # LiteLLM knows no images of the provider, or sends them in OpenAI's form
        return False
    return isinstance(made, Mapping) and not _CONVERSATION.isdisjoint(
        cast("Mapping[str, Any]", made)
    )


def _leading(messages: Any) -> tuple[list[dict[str, Any]], str]:
    """Return the operator's leading messages, and the role of the next message."""
    said: list[dict[str, Any]] = []
    listed: list[Any] = messages if isinstance(messages, list) else []
    for message in listed:
        if not isinstance(message, Mapping):
            break
        known = cast("Mapping[str, Any]", message)
        if known.get("role") not in OPERATOR:
            return said, str(known.get("role"))
        # For a provider without developer messages LiteLLM makes them system messages.
        said.append({"role": "system", "content": _copied(known.get("content"))})
    return said, "user"


def _copied(content: Any) -> Any:
    """Return a copy of content with only its texts."""
    if not isinstance(content, list):
        return content
    parts: list[Any] = content
    return [
        {"type": part.get("type", "text"), "text": text} for part in parts for text in texts([part])
    ]


def _holds(made: Any, block: str) -> bool:
    escaped = json.dumps(block)[1:-1]  # for a body that is a JSON text within the body
    return any(block in text or escaped in text for text in _all_texts(made))


def _roles(made: Any, block: str, role: str = "") -> Iterator[str]:
    """Yield the roles of the texts that hold a block."""
    if isinstance(made, str):
        if block in made:
            yield role
    elif isinstance(made, Mapping):
        known = cast("Mapping[str, Any]", made)
        for value in known.values():
            yield from _roles(value, block, str(known.get("role", role)))
    elif isinstance(made, (list, tuple)):
        for value in cast("list[Any]", made):
            yield from _roles(value, block, role)


def _all_texts(made: Any) -> Iterator[str]:
    if isinstance(made, str):
        yield made
    elif isinstance(made, Mapping):
        for value in cast("Mapping[str, Any]", made).values():
            yield from _all_texts(value)
    elif isinstance(made, (list, tuple)):
        for value in cast("list[Any]", made):
            yield from _all_texts(value)
