"""The operator's directives (pin, amend, rescind, exempt) and their format.

A directive is JSON with sorted keys, no blanks and ASCII only, so each directive has
exactly one text. Times are whole seconds since 1970, UTC.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from constraintrot.defenses.operator.errors import DirectiveError
from constraintrot.defenses.rampart.block import checked_content, checked_name
from constraintrot.strict import Strict

FORMAT: Final = "constraintrot-directive/1"
LARGEST: Final = 64 * 1024
"""Bytes of a signed directive, at most."""
LONG: Final = 24 * 3600
"""Seconds that an exemption or a directive's validity may last without a warning."""
MANY: Final = 100
"""Calls that an exemption may allow without a warning."""
_DOMAIN: Final = b"constraintrot directive\0"


def _content(text: str) -> str:
    return checked_content(text, pinned=True)


Name: TypeAlias = Annotated[str, AfterValidator(checked_name)]
Content: TypeAlias = Annotated[str, AfterValidator(_content)]
# Whole numbers that every JSON reader keeps.
Number: TypeAlias = Annotated[int, Field(ge=1, le=2**53 - 1)]
LATEST: Final = 253_402_300_799
"""The last second of the year 9999, since 1970."""
# A later time cannot be written as a date, and is most likely in milliseconds.
Time: TypeAlias = Annotated[int, Field(ge=1, le=LATEST)]


class Exact(Strict, strict=True):
    """A strict model that converts no value: it takes no text for a number."""


class Scope(Exact):
    """The deployment and session that a directive is for.

    Attributes:
        session: one conversation's id; None for all of the deployment.
    """

    deployment: Name
    session: Name | None = None


class _Directive(Exact):
    """The fields of every directive.

    Attributes:
        key: id of the signing key.
        sequence: a number above those of the key's earlier directives.
        issued: time of signing.
        expires: last time at which it may be applied.
        scope: the deployment and session where it holds.
    """

    format: Literal["constraintrot-directive/1"] = FORMAT
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    sequence: Number
    issued: Time
    expires: Time
    scope: Scope
    constraint: Name

    @model_validator(mode="after")
    def _lasts(self) -> _Directive:
        if self.expires <= self.issued:
            raise ValueError("it expires before it is issued")
        return self


class Pin(_Directive):
    """A further constraint is in force."""

    kind: Literal["pin"] = "pin"
    content: Content


class Amend(_Directive):
    """A constraint has another text from now on."""

    kind: Literal["amend"] = "amend"
    content: Content


class Rescind(_Directive):
    """A constraint is no longer in force."""

    kind: Literal["rescind"] = "rescind"


class Exempt(_Directive):
    """A constraint does not hold for some calls; it stays in force for all others.

    Attributes:
        calls: the largest number of calls; None for any number until ``until``.
        until: the end; None if it ends only with its last call.
        function: the tool that may be called; None for any.
        arguments: the arguments that the call must have; None for any.
    """

    kind: Literal["exempt"] = "exempt"
    calls: Annotated[int, Field(ge=1, le=10_000)] | None = None
    until: Time | None = None
    function: Name | None = None
    arguments: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Exempt:
        if self.calls is None and self.until is None:
            raise ValueError("an exemption is bounded by calls, by until, or by both")
        if self.arguments is not None and self.function is None:
            raise ValueError("an exemption for exact arguments names their function")
        if self.until is not None and self.until <= self.issued:
            raise ValueError("an exemption ends after it is issued")
        return self


Directive: TypeAlias = Pin | Amend | Rescind | Exempt


class Envelope(Exact):
    """A directive and its Ed25519 signature, hex."""

    directive: Annotated[Directive, Field(discriminator="kind")]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


_DIRECTIVES: TypeAdapter[Directive] = TypeAdapter(Annotated[Directive, Field(discriminator="kind")])


def draft(fields: Mapping[str, Any]) -> Directive:
    """Return a directive from its fields as JSON has them; ``kind`` says which directive.

    Raises:
        DirectiveError: a field is missing, unknown or wrong.
    """
    try:
        # Through JSON, so that fields are read as they are from a file.
        return _DIRECTIVES.validate_json(json.dumps(dict(fields)))
    except ValidationError as error:
        raise DirectiveError(f"no directive: {told_faults(error)}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise DirectiveError(f"no directive: {error}") from None


def broad(directive: Directive) -> tuple[str, ...]:
    """Return warnings for the signer of a directive that amounts to more than one decision."""
    far: list[str] = []
    if directive.expires - directive.issued > LONG:
        far.append(f"it may be applied for {_days(directive.expires - directive.issued)}")
    if isinstance(directive, Exempt):
        if directive.function is None:
            far.append("it exempts the calls of every tool")
        if directive.calls is not None and directive.calls > MANY:
            far.append(f"it exempts {directive.calls:,} calls")
        if directive.until is not None and directive.until - directive.issued > LONG:
            far.append(f"it lasts {_days(directive.until - directive.issued)}")
    return tuple(far)


def _days(seconds: int) -> str:
    return f"{seconds / LONG:,.0f} days"


def read(text: str | bytes) -> Envelope:
    """Parse a signed directive from its text, without checking the signature."""
    if not isinstance(text, str | bytes):  # callers may be untyped
        raise DirectiveError(f"a signed directive is a text, not {type(text).__name__}")
    try:
        raw = text.encode() if isinstance(text, str) else text
        if len(raw) > LARGEST:
            raise DirectiveError(f"a signed directive has at most {LARGEST:,} bytes")
        envelope = Envelope.model_validate_json(raw)
        same = render(envelope).encode() == raw.strip()
    except ValidationError as error:
        raise DirectiveError(f"no signed directive: {told_faults(error)}") from None
    except (UnicodeError, RecursionError) as error:
        raise DirectiveError(f"no signed directive: {error}") from None
    if not same:
        raise DirectiveError(
            "not written canonically: sorted keys, no blanks, ASCII, nothing left out"
        )
    return envelope


def signed_bytes(directive: Directive) -> bytes:
    """Return the bytes that a signature covers: a domain-separating constant and the directive."""
    return _DOMAIN + render(directive).encode()


def digest(directive: Directive) -> str:
    """Return the SHA-256, hex, of the bytes that a signature covers."""
    return sha256(signed_bytes(directive)).hexdigest()


def render(model: BaseModel) -> str:
    """Return the one text of a directive, signed or not."""
    try:
        return json.dumps(
            model.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except ValueError as error:
        raise DirectiveError(f"no directive: {error}") from None


def told_faults(error: ValidationError) -> str:
    """Return the faults of a text as one line that quotes none of the text."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'text'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)[:5]
    )
