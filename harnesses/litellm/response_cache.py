"""Keeping LiteLLM's response cache apart for responses with different instructions.

LiteLLM's key of a cached answer is made of the messages and the input, and leaves the
instructions of a response out: an answer that was given under other pins, or without any,
would be served for a request that has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

import litellm

from constraintrot.harnesses.litellm.placement import RESPONSES


def told_apart(call: dict[str, Any], call_type: str) -> dict[str, Any]:
    """A call whose cached answer is for its own instructions only.

    Args:
        call: the arguments of a call of LiteLLM's; left as it is.
        call_type: its type.
    """
    cache: Any = litellm.cache
    if cache is None or call_type not in RESPONSES:
        return call
    given: Any = call.get("cache")
    control = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    metadata: Any = call.get("metadata")
    kept = cast("Mapping[str, Any]", metadata) if isinstance(metadata, Mapping) else {}
    # In this order LiteLLM looks for a namespace. Ours comes last: no client can choose it.
    namespace = control.get("namespace") or kept.get("redis_namespace") or cache.namespace or ""
    said = sha256(repr(call.get("instructions")).encode("utf-8", "surrogatepass")).hexdigest()
    return call | {"cache": control | {"namespace": f"{namespace}:instructions-{said}"}}
