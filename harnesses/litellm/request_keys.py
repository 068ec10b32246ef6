"""The keys that a client may write into the body of a pinned request.

LiteLLM merges unknown keys into the upstream request, after every guardrail: a key can
replace the messages (``extra_body``), the instructions (``additional_drop_params``), the
chat template (``chat_template``) or the server (``user_config``, ``api_base``). So these are
lists of keys known to be harmless, not of keys known to be harmful. Routes without a language
model have lists too: a ``custom_llm_provider`` of OpenRouter turns an images request into a
chat completion of any deployment.
"""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import litellm

from constraintrot.defenses.pinning.message_list import CARRIERS
from constraintrot.errors import ParameterError
from constraintrot.harnesses.litellm.placement import CHAT, MESSAGES, RESPONSES

_LITELLM = """
    cache disable_global_guardrail disable_global_guardrails fallbacks fastest_response guardrails
    litellm_call_id litellm_metadata litellm_session_id litellm_trace_id metadata no-log
    num_retries priority request_timeout stream_timeout tags timeout user
"""
_CHAT = """
    audio cache_control enable_thinking frequency_penalty function_call functions logit_bias
    logprobs max_completion_tokens max_tokens messages min_p modalities model n
    parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention
    reasoning reasoning_effort repetition_penalty response_format safety_identifier seed
    service_tier stop store stream stream_options temperature thinking tool_choice tools top_k
    top_logprobs top_p verbosity web_search_options
"""
_RESPONSES = """
    background client_metadata context_management conversation include input instructions
    max_output_tokens max_tool_calls model parallel_tool_calls previous_response_id
    prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier store stream
    stream_options temperature text tool_choice tools top_logprobs top_p
"""
_MESSAGES = """
    cache_control container context_management inference_geo max_tokens mcp_servers messages
    model output_config output_format service_tier speed stop_sequences stream system
    temperature thinking tool_choice tools top_k top_p
"""
# By LiteLLM's call type without a leading "a", for requests that reach no language model.
_NO_TEXT = {
    "audio_transcription": """
        chunking_strategy file include language model prompt response_format stream temperature
        timestamp_granularities timestamp_granularities[]
    """,
    "embedding": "dimensions encoding_format input input_type model",
    "image_edit": """
        background image image[] input_fidelity mask mask[] model moderation n
        output_compression output_format partial_images prompt quality response_format size stream
    """,
    "image_generation": """
        background model moderation n output_compression output_format partial_images prompt
        quality response_format size stream style
    """,
    "moderation": "input model",
    "rerank": """
        documents max_chunks_per_doc max_tokens_per_doc model query rank_fields return_documents
        top_n
    """,
}
_NO_TEXT["transcription"] = _NO_TEXT["audio_transcription"]
_NO_TEXT["embeddings"] = _NO_TEXT["embedding"]


def _keys(known: str) -> frozenset[str]:
    return frozenset((known + _LITELLM).split())


_KNOWN = {
    **{call_type: _keys(_CHAT) for call_type in CHAT},
    **{call_type: _keys(_RESPONSES) for call_type in RESPONSES},
    **{call_type: _keys(_MESSAGES) for call_type in MESSAGES},
    **{prefix + name: _keys(keys) for name, keys in _NO_TEXT.items() for prefix in ("", "a")},
}
"""The harmless keys by call type; other call types have no body to check."""

# Otherwise a server may cut off the beginning of a conversation, which has the pins.
_HARMLESS_VALUES = {"truncation": (None, "disabled")}
FALLBACKS = ("fallbacks", "context_window_fallbacks", "content_policy_fallbacks")


def allowed_keys(given: Any) -> frozenset[str]:
    """Check and return the setting ``keys``, which lets keys through."""
    if given is not None and (isinstance(given, str) or not isinstance(given, Sequence)):
        raise ParameterError('keys is a list of keys, as ["chat_template_kwargs"]')
    return frozenset(cast("Sequence[str]", given or ()))


def refused(data: Mapping[str, Any], call_type: str, more: Collection[str]) -> str | None:
    """Return why a client's request is refused; None if it is not.

    Args:
        data: the request as the proxy knows it; the client's keys are those of the body that
            the proxy kept, or all keys without a proxy.
        call_type: LiteLLM's call type.
        more: further keys that the operator lets through.
    """
    known = _KNOWN.get(call_type)
    if known is None:
        return None
    unknown = sorted(
        str(key)
        for key, value in _body(data).items()
        if key not in known | set(more) and value not in _HARMLESS_VALUES.get(key, ())
    )
    if unknown:
        return (
            f"the key {unknown[0]!r} could change what is pinned; the operator can let it through"
            " with the guardrail's setting `keys`"
        )
    fallbacks = data.get("fallbacks")
    if fallbacks is not None and not _names(fallbacks):
        return "fallbacks is not a list of the names of models"
    return None


def names_fallbacks(data: Mapping[str, Any]) -> bool:
    """Return whether a client names other models to fall back to."""
    return any(data.get(key) for key in FALLBACKS)


def replaced(data: Mapping[str, Any]) -> str | None:
    """Return the argument of a call that would replace or drop the verified pins, or None."""
    extra: Any = data.get("extra_body")
    if isinstance(extra, Mapping) and (keys := CARRIERS & set(cast("Mapping[str, Any]", extra))):
        return f"extra_body.{min(keys)}"
    dropped: Any = data.get("additional_drop_params")
    paths: list[Any] = dropped if isinstance(dropped, list) else [dropped]
    for path in paths:
        # LiteLLM takes paths too, as in "messages[0].content".
        if isinstance(path, str) and path.replace("[", ".").split(".")[0] in CARRIERS:
            return f"additional_drop_params: {path}"
    return None


def _body(data: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = data.get("proxy_server_request")
    body = cast("Mapping[str, Any]", kept).get("body") if isinstance(kept, Mapping) else None
    return cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else data


def _names(given: Any) -> bool:
    listed: list[Any] = given if isinstance(given, list) else [None]
    return all(isinstance(one, str) for one in listed)


def told_apart(call: dict[str, Any], call_type: str) -> dict[str, Any]:
    """Return a call whose cached answer depends on its instructions.

    LiteLLM's cache key leaves out a response's instructions, so an answer under other pins, or
    without pins, could be served.
    """
    cache: Any = litellm.cache
    if cache is None or call_type not in RESPONSES:
        return call
    given: Any = call.get("cache")
    control = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    metadata: Any = call.get("metadata")
    kept = cast("Mapping[str, Any]", metadata) if isinstance(metadata, Mapping) else {}
    # LiteLLM's order of namespaces. Ours is the suffix, so a client cannot choose it.
    namespace = control.get("namespace") or kept.get("redis_namespace") or cache.namespace or ""
    said = sha256(repr(call.get("instructions")).encode("utf-8", "surrogatepass")).hexdigest()
    return call | {"cache": control | {"namespace": f"{namespace}:instructions-{said}"}}
