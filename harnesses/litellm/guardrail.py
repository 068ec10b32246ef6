"""The guardrail: it pins each request, and verifies the pins in LiteLLM's calls for it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import litellm
from fastapi import HTTPException
from litellm.exceptions import BadRequestError
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import GuardrailEventHooks, LitellmParams

from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    LOGGER,
    PinnedBlock,
    Receipt,
    Report,
    log_receipt,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.litellm.placement import PINNED, in_place, pin, writes_nothing
from constraintrot.harnesses.litellm.policy_sources import SkipRules, nonce_of, registry_of
from constraintrot.harnesses.litellm.provider_support import as_user, asks_language_model, loses
from constraintrot.harnesses.litellm.request_keys import (
    allowed_keys,
    names_fallbacks,
    refused,
    replaced,
    told_apart,
)
from constraintrot.harnesses.litellm.routes import Passage, install, named, passage

HEADER = "x-constraintrot-pins"
RECEIPT = "constraintrot_pins"
"""Key of the receipt in a request's metadata, which the proxy's loggers get."""

_SETTINGS = frozenset({"guardrail_name", "event_hook", "default_on", "guardrail_id"})


class PinGuardrail(CustomGuardrail):
    """A guardrail that puts every pin into each request once or refuses the request.

    It pins chat completions, responses (in ``instructions``) and Anthropic's messages (in
    ``system``). Routes that it does not pin are refused, unless they reach no language model,
    and so are requests with keys that could replace the pins after it. A client cannot switch
    it off.

    Args:
        registry: the pins; or ``policies``, ``seeds`` or ``signed``, as in a configuration.
        policies: texts to pin.
        seeds: a seed file, or a folder of seed files, whose blocks are all pinned.
        signed: ``file`` and ``key`` of a list that ``constraintrot pin export`` wrote, and
            ``repository`` and ``least_revision`` as ``load_pins`` takes them.
        skip: requests to leave unpinned, such as a summarizer's. Any of: ``models``, name
            patterns; ``last_message``, patterns of the user's last message; ``tags``;
            ``metadata``, values that the request must all have; ``no_tools``, true. Clients
            control their messages, tags, metadata and tools, so by these rules a client can
            avoid the pins. By default no request is skipped.
        routes: patterns of paths to let through unpinned.
        keys: keys of a request's body to let through, besides those known to be harmless.
        heading: the line above the pins.
        nonce: marks the blocks; see ``PinnedBlock``. All workers of a proxy need the same, or
            they take each other's blocks for a client's text. ``os.environ/NAME`` means that
            variable's value.
        report: receives each receipt; by default it writes to the logger ``constraintrot.pins``.
        **settings: LiteLLM's own, as ``guardrail_name``; the name is dropped, so that neither
            a request nor a pipeline of LiteLLM's policies can name the guardrail.

    Raises:
        ParameterError: nothing to pin was given, the guardrail would not run on each
            request, or a setting or rule is unknown.
        SeedError: a seed file cannot be read.
        OperatorError: the signed list is refused.
    """

    def __init__(
        self,
        registry: Registry | None = None,
        *,
        policies: Sequence[str] | None = None,
        seeds: str | Path | None = None,
        signed: Mapping[str, Any] | None = None,
        skip: Mapping[str, Any] | None = None,
        routes: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        heading: str = HEADING,
        nonce: str | None = None,
        report: Report = log_receipt,
        **settings: Any,
    ) -> None:
        chosen: dict[str, Any] = {"event_hook": GuardrailEventHooks.pre_call, "default_on": True}
        chosen |= settings
        _check(chosen)
        if sum(given is not None for given in (registry, policies, seeds, signed)) != 1:
            raise ParameterError(
                "give the guardrail one of policies (a list of texts), seeds (a file or folder),"
                " signed (a list and its owner's key) or, in Python, a registry"
            )
        super().__init__(
            supported_event_hooks=[GuardrailEventHooks.pre_call],
            **chosen,
        )
        # LiteLLM skips a guardrail whose name a request's own metadata lists under
        # `_pipeline_managed_guardrails`; one without a name cannot be listed.
        self.guardrail_name = None
        self.registry = registry if registry is not None else registry_of(policies, seeds, signed)
        self.skip = SkipRules(skip)
        self.routes = named(routes)
        self.keys = allowed_keys(keys)
        self.heading = heading
        self.nonce = nonce_of(nonce)
        self.report = report
        self._block(lambda _: None)  # a nonce that the registry cannot take is an error here
        install(_running)

    def should_run_guardrail(self, data: Any, event_type: GuardrailEventHooks) -> bool:
        """Return whether to run: before each call, regardless of a request's or key's settings."""
        return event_type == GuardrailEventHooks.pre_call

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Put the pins into a request, or refuse it.

        Raises:
            HTTPException: the request cannot be pinned, or could lose its pins.
        """
        kind = str(getattr(call_type, "value", call_type))
        # Removes a receipt that the client wrote.
        for name in ("metadata", "litellm_metadata"):
            if isinstance(data.get(name), dict):
                data[name].pop(RECEIPT, None)
        here = passage()
        if here is not None and here.let_through:
            _left_alone(data, "routes")
            return data
        if kind not in PINNED and not writes_nothing(kind):
            _refuse(f"a call of the type {kind} has no place for pins")
        if why := refused(data, kind, self.keys):
            _refuse(why)
        if kind not in PINNED:
            return data
        rule = self.skip.rule(data, _metadata(data))
        if rule is not None:
            if names_fallbacks(data):
                _refuse(f"a request that the rule {rule} leaves alone names no fallbacks")
            self._passage().skipped[id(self)] = rule
            _left_alone(data, rule)
            return data
        receipts: list[Receipt] = []
        block = self._block(receipts.append)
        try:
            pin(data, kind, block)
        except ValueError as error:
            _refuse(str(error))
        self._passage().blocks[id(self)] = block.text.rstrip("\n")
        for receipt in receipts:
            self.report(receipt)
            _metadata(data)[RECEIPT] = receipt.model_dump(mode="json")
        return data

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Verify the pins before each call that LiteLLM makes, including retries and fallbacks.

        A call without a pinned request, such as a health check, is pinned here.

        Raises:
            litellm.BadRequestError: the pins are not in place, or would be replaced.
        """
        kind = str(getattr(call_type, "value", call_type))
        kwargs = told_apart(kwargs, kind)
        here = passage()
        if here is not None and (here.let_through or self._skips(here, kwargs)):
            return kwargs
        if kind not in PINNED:
            if not writes_nothing(kind):
                _stop(kwargs, f"a call of the type {kind} has no place for pins")
            if asks_language_model(kwargs, kind):
                _stop(kwargs, "a language model would be asked for the image, without the pins")
            return kwargs
        if what := replaced(kwargs):
            _stop(kwargs, f"{what} would replace the pins")
        kwargs, block = self._verified(here, kwargs, kind)
        if why := loses(kwargs, kind, block):
            _stop(kwargs, why)
        if here is not None and (says := as_user(kwargs, kind, block)) is not here.as_user:
            here.as_user = says
            if says:
                LOGGER.warning(
                    "the pins are said as the user: %s takes no system message", kwargs.get("model")
                )
        return kwargs

    def _verified(
        self, here: Passage | None, kwargs: dict[str, Any], kind: str
    ) -> tuple[dict[str, Any], str]:
        """Return a call with the pins in place, and the pins as they were put into its request."""
        block = self._block(lambda _: None)
        current = block.text.rstrip("\n")
        put_in = here.blocks.get(id(self)) if here is not None else None
        if put_in is None:
            kwargs = dict(kwargs)
            pin(kwargs, kind, block)
        elif in_place(kwargs, kind, put_in):
            return kwargs, put_in
        if not in_place(kwargs, kind, current):
            _stop(kwargs, "the pins are not in the request")
        return kwargs, current

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], *args: Any, **call: Any
    ) -> dict[str, str] | None:
        """Return the receipt as a header of the response."""
        here = passage()
        if here is not None and here.stopped:
            return {HEADER: "refused"}
        receipt = _metadata(data).get(RECEIPT)
        if not isinstance(receipt, dict):
            return None
        found = cast("dict[str, Any]", receipt)
        if "skipped" in found:
            return {HEADER: f"skipped; rule={found['skipped']}"}
        parts = [f"{name}={found[name]}" for name in ("manifest", "revision", "tokens")]
        if here is not None and here.as_user:
            parts.append("place=user")
        return {HEADER: "; ".join([str(found["state"]), *parts])}

    def _block(self, report: Report) -> PinnedBlock:
        return PinnedBlock(self.registry, heading=self.heading, report=report, nonce=self.nonce)

    def _skips(self, here: Passage, kwargs: Mapping[str, Any]) -> bool:
        rule = here.skipped.get(id(self))
        # LiteLLM may have fallen back to a model that the rule does not name.
        return rule is not None and (
            rule != "models" or all(map(self.skip.is_skipped_model, _groups(kwargs)))
        )

    def _passage(self) -> Passage:
        """Return the current request's facts; outside of the proxy, facts that are not kept."""
        return passage() or Passage()


def _running() -> list[PinGuardrail]:
    """Return the guardrails of this class that LiteLLM calls."""
    return [one for one in cast("list[Any]", litellm.callbacks) if isinstance(one, PinGuardrail)]


def _check(settings: Mapping[str, Any]) -> None:
    if settings["default_on"] is not True:
        raise ParameterError("the guardrail would pin nothing; set default_on: true")
    if settings["event_hook"] != GuardrailEventHooks.pre_call:
        raise ParameterError("the guardrail pins before each call; set mode: pre_call")
    known = _SETTINGS | set(LitellmParams.model_fields)
    if unknown := sorted(set(settings) - known):
        raise ParameterError(f"unknown setting {unknown[0]!r} of the guardrail that pins")


def _groups(kwargs: Mapping[str, Any]) -> list[Any]:
    """Return the proxy's names of the called model, from either kind of metadata."""
    kept = [kwargs.get(name) for name in ("metadata", "litellm_metadata")]
    found = [
        cast("Mapping[str, Any]", one)["model_group"]
        for one in kept
        if isinstance(one, Mapping) and "model_group" in one
    ]
    return found or [kwargs.get("model")]


def _left_alone(data: dict[str, Any], rule: str) -> None:
    LOGGER.info("not pinned, by the rule %s", rule)
    _metadata(data)[RECEIPT] = {"skipped": rule}


def _refuse(why: str) -> NoReturn:
    raise HTTPException(status_code=400, detail={"error": f"constraintrot pins: {why}"})


def _stop(kwargs: Mapping[str, Any], why: str) -> NoReturn:
    LOGGER.error("a call was stopped: %s", why)
    if (here := passage()) is not None:
        here.stopped = True
    raise BadRequestError(
        message=f"constraintrot pins: {why}", model=str(kwargs.get("model")), llm_provider=""
    )


def _metadata(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the proxy's metadata of a request, made if it is missing."""
    name = "litellm_metadata" if "litellm_metadata" in data else "metadata"
    found = data.get(name)
    if not isinstance(found, dict):
        found = cast("dict[str, Any]", data)[name] = {}
    return cast("dict[str, Any]", found)
