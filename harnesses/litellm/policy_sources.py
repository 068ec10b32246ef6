"""The registry and the nonce of a guardrail, from its configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from constraintrot.defenses.operator import load_pins
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.defenses.rampart.seeds.folder import seed_files
from constraintrot.errors import ParameterError

_VARIABLE = "os.environ/"
# As many as 16 bytes of a random source have in hexadecimal.
_NONCE = 32


_SIGNED = ("file", "key", "repository", "least_revision")


def registry_of(
    policies: Iterable[str] | None, seeds: str | Path | None, signed: Mapping[str, Any] | None
) -> Registry:
    """A registry with all that a configuration pins.

    Args:
        policies: texts; or
        seeds: a seed file, or a folder of nothing but seed files; or
        signed: ``file`` and ``key`` of a signed list, as ``load_pins`` takes them.

    Raises:
        ParameterError: nothing would be pinned, or not all that was given.
        SeedError: a seed file cannot be read.
        OperatorError: the signed list is refused.
    """
    if signed is not None:
        if not isinstance(signed, Mapping) or not {"file", "key"} <= set(signed) <= set(_SIGNED):
            raise ParameterError(f"signed has file and key, and may have {', '.join(_SIGNED[2:])}")
        given = dict(signed)
        return load_pins(given.pop("file"), given.pop("key"), **given)
    operator = Principal("proxy")
    registry = Registry(operator, label="litellm proxy")
    if seeds is not None:
        for file in seed_files(Path(seeds)):
            registry.load(str(file), by=operator, pin=lambda seed: True)
    else:
        for text in _texts(policies):
            registry.pin(text, by=operator)
    if not registry.pins():
        raise ParameterError(f"{'policies' if seeds is None else seeds} holds nothing to pin")
    return registry


def nonce_of(given: str | None) -> str | None:
    """A nonce as configured, or the value of the variable that it names as LiteLLM does.

    Raises:
        ParameterError: it is no text, too short to be a secret, or its variable is not set.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        raise ParameterError("nonce is a text")
    value = given
    if given.startswith(_VARIABLE):
        name = given.removeprefix(_VARIABLE)
        value = os.environ.get(name, "")
        if not value:
            raise ParameterError(f"nonce: the environment variable {name} is not set")
    if len(value) < _NONCE:
        raise ParameterError(
            f"nonce is a secret of {_NONCE} characters or more, as of `openssl rand -hex 16`"
        )
    return value


def _texts(policies: Iterable[str] | None) -> list[str]:
    given = policies
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError("policies is a list of texts, not a text")
    texts = list(given)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ParameterError("policies holds what is not a text, or an empty one")
    return texts
