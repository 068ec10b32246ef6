"""Constraint Pinning at a LiteLLM proxy: for every OpenAI-compatible client that points at it.

A file beside the proxy's configuration names the guardrail, ``pins.py``::

    from constraintrot.defenses.frameworks.litellm import PinGuardrail

and ``config.yaml`` says what is pinned::

    guardrails:
      - guardrail_name: pins
        litellm_params:
          guardrail: pins.PinGuardrail
          mode: pre_call
          default_on: true
          policies:
            - Send email only to addresses at example.org.

>>> from constraintrot.defenses.pinning.pinned_block import PinnedBlock
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> sent = pinned([{"role": "user", "content": "Hello"}], PinnedBlock(rules))
>>> [message["role"] for message in sent]
['system', 'user']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import (  # pyright: ignore[reportMissingTypeStubs]
    GuardrailEventHooks,
)

from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    LOGGER,
    PinnedBlock,
    Receipt,
    Report,
    log_receipt,
)
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError

HEADER = "x-constraintrot-pins"
RECEIPT = "constraintrot_pins"
"""Key of the receipt in a request's metadata, which the proxy's loggers are given."""

_SKIP = ("models", "metadata", "tags", "no_tools")
_CHAT = ("completion", "acompletion")
_RESPONSES = ("responses", "aresponses")
# They generate too, and have no place that every provider takes for the operator's own.
_UNPINNED = (
    "text_completion",
    "atext_completion",
    "generate_content",
    "agenerate_content",
    "generate_content_stream",
    "agenerate_content_stream",
    "pass_through_endpoint",
    "_arealtime",
    "send_message",
    "asend_message",
)
_SEEDS = (".md", ".markdown")


def pinned(
    messages: Sequence[Mapping[str, Any]], pinned_block: PinnedBlock
) -> list[dict[str, Any]]:
    """Chat-completions messages with the pins in the leading system message.

    Args:
        messages: what a client sent; left as it is.
        pinned_block: the pins.
    """
    sent = [dict(message) for message in messages]
    if sent and sent[0].get("role") in ("system", "developer"):
        sent[0]["content"] = _into(sent[0].get("content"), pinned_block, at=0)
        return sent
    text = pinned_block.into(None, at=0)
    return [{"role": "system", "content": text}, *sent] if text else sent


class PinGuardrail(CustomGuardrail):
    """A guardrail that puts every pin into each request, once, before it is routed.

    It pins chat completions, responses (in ``instructions``) and Anthropic's
    messages (in ``system``). A client cannot switch it off where it is on by default.

    Args:
        registry: whose pins; or ``policies`` or ``seeds``, as in a configuration.
        policies: texts to pin.
        seeds: file of the rampart library's format, or a folder of them: all is pinned.
        skip: requests to leave alone, as a summarizer's. Any of: ``models``, name
            patterns; ``tags``; ``metadata``, all of whose values the request has;
            ``no_tools``, true. A client writes its own tags, metadata and tools: what
            these leave alone, it can have left alone. None by default.
        heading: the line above the pins.
        report: is given each receipt; by default the logger ``constraintrot.pins``.
        **settings: LiteLLM's own, as ``guardrail_name``; with ``default_on`` the name
            is dropped, so that no request can name the guardrail, and no pipeline of
            LiteLLM's policies either.

    Raises:
        ParameterError: nothing to pin was given, or an unknown rule.
        SeedError: a seed file cannot be read.
    """

    def __init__(
        self,
        registry: Registry | None = None,
        *,
        policies: Sequence[str] | None = None,
        seeds: str | Path | None = None,
        skip: Mapping[str, Any] | None = None,
        heading: str = HEADING,
        report: Report = log_receipt,
        **settings: Any,
    ) -> None:
        chosen: dict[str, Any] = {"event_hook": GuardrailEventHooks.pre_call, "default_on": True}
        chosen |= settings
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  # LiteLLM's
            supported_event_hooks=[GuardrailEventHooks.pre_call],
            **chosen,
        )
        if sum(given is not None for given in (registry, policies, seeds)) != 1:
            raise ParameterError(
                "give the guardrail one of policies (a list of texts), seeds (a file or folder) or,"
                " in Python, a registry"
            )
        if unknown := sorted(set(skip or {}) - set(_SKIP)):
            raise ParameterError(f"unknown rule {unknown[0]!r} in skip; known: {', '.join(_SKIP)}")
        if self.default_on:
            # LiteLLM passes over a guardrail whose name a request's own metadata lists under
            # `_pipeline_managed_guardrails`; one without a name cannot be listed.
            self.guardrail_name = None
        self.registry = registry if registry is not None else _registry(policies, seeds)
        self.skip = dict(skip or {})
        self.heading = heading
        self.report = report

    def should_run_guardrail(self, data: Any, event_type: GuardrailEventHooks) -> bool:
        """Whether to run; a request's ``disable_global_guardrail`` counts for nothing."""
        if self.default_on:
            return self._event_hook_is_event_type(event_type)
        return super().should_run_guardrail(  # pyright: ignore[reportUnknownMemberType]
            data, event_type
        )

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Put the pins into a request."""
        # A client's own word is no receipt.
        _metadata(data).pop(RECEIPT, None)
        rule = self._skipped(data)
        if rule is not None:
            LOGGER.info("not pinned, by the rule %s", rule)
            _metadata(data)[RECEIPT] = {"skipped": rule}
            return data
        receipts: list[Receipt] = []
        pinned_block = PinnedBlock(self.registry, heading=self.heading, report=receipts.append)
        _pin(data, str(getattr(call_type, "value", call_type)), pinned_block)
        for receipt in receipts:
            self.report(receipt)
            _metadata(data)[RECEIPT] = receipt.model_dump(mode="json")
        return data

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], *args: Any, **call: Any
    ) -> dict[str, str] | None:
        """The receipt as a header of the response."""
        receipt = _metadata(data).get(RECEIPT)
        if not isinstance(receipt, dict):
            return None
        found = cast("dict[str, Any]", receipt)
        if "skipped" in found:
            return {HEADER: f"skipped; rule={found['skipped']}"}
        parts = [f"{name}={found[name]}" for name in ("manifest", "revision", "tokens")]
        return {HEADER: "; ".join([str(found["state"]), *parts])}

    def _skipped(self, data: Mapping[str, Any]) -> str | None:
        model = str(data.get("model", ""))
        if any(fnmatchcase(model, pattern) for pattern in _listed(self.skip.get("models"))):
            return "models"
        metadata = _metadata(data)
        tags = {*_listed(data.get("tags")), *_listed(metadata.get("tags"))}
        if tags & set(_listed(self.skip.get("tags"))):
            return "tags"
        wanted: dict[str, Any] = self.skip.get("metadata") or {}
        if wanted and all(metadata.get(key) == value for key, value in wanted.items()):
            return "metadata"
        return "no_tools" if self.skip.get("no_tools") and not data.get("tools") else None


def _pin(data: dict[str, Any], call_type: str, pinned_block: PinnedBlock) -> None:
    if call_type in _CHAT and isinstance(data.get("messages"), list):
        data["messages"] = pinned(data["messages"], pinned_block)
    elif call_type in _RESPONSES:
        # An empty text would ask for other instructions than none do.
        data["instructions"] = pinned_block.into(data.get("instructions")) or data.get(
            "instructions"
        )
    elif call_type == "anthropic_messages":
        if system := _into(data.get("system"), pinned_block):
            data["system"] = system
    elif call_type in _UNPINNED:
        LOGGER.warning("a call of the type %s has no place for pins; nothing was pinned", call_type)


def _into(content: Any, pinned_block: PinnedBlock, *, at: int = -1) -> Any:
    """A system message's content with the pins, whether it is a text or in parts."""
    if content is None or isinstance(content, str):
        return pinned_block.into(content, at=at)
    parts = [dict(part) for part in cast("Sequence[Mapping[str, Any]]", content)]
    before = [part.get("text") for part in parts]
    for part in parts:
        if isinstance(part.get("text"), str):
            part["text"] = pinned_block.cut(part["text"]).rstrip("\n")
    parts = [part for part in parts if part.get("text") != ""]
    if pinned_block.text:
        parts.append({"type": "text", "text": pinned_block.text.rstrip("\n")})
    same = before == [part.get("text") for part in parts]
    pinned_block.receipt("verified" if same else "injected", at=at)
    return parts


def _metadata(data: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a request as the proxy keeps it, made where there is none."""
    name = "litellm_metadata" if "litellm_metadata" in data else "metadata"
    found = data.get(name)
    if not isinstance(found, dict):
        found = cast("dict[str, Any]", data)[name] = {}
    return cast("dict[str, Any]", found)


def _listed(given: Any) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else [str(one) for one in given]


def _registry(policies: Iterable[str] | None, seeds: str | Path | None) -> Registry:
    operator = Principal("proxy")
    registry = Registry(operator, label="litellm proxy")
    if seeds is not None:
        for file in _files(Path(seeds)):
            registry.load(str(file), by=operator, pin=lambda seed: True)
        return registry
    if isinstance(policies, str):
        raise ParameterError("policies is a list of texts, not a text")
    for text in policies or ():
        registry.pin(text, by=operator)
    return registry


def _files(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    found = sorted(file for file in given.iterdir() if file.suffix.lower() in _SEEDS)
    if not found:
        raise ParameterError(f"{given} has no seed file; known are {', '.join(_SEEDS)}")
    return found
