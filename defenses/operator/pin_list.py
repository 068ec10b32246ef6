"""Signed lists of pins for hooks, frameworks and a proxy (``constraintrot pin export``).

A list is JSON with sorted keys and ASCII only, a line for each entry, so changes can be
reviewed and each list has exactly one text. It names its revision and may name its
repository, so a copy in another repository and an older list are both refused.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from constraintrot.defenses.operator.directive import Content, Exact, Name, Number, told_faults
from constraintrot.defenses.operator.errors import (
    PinListError,
    ScopeError,
    SequenceError,
    UnknownKeyError,
)
from constraintrot.defenses.operator.keys import SigningKey, VerifyingKey, load_public
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.files import contents

LARGEST: Final = 1024 * 1024
"""Bytes of a signed list, at most."""
_DOMAIN: Final = b"constraintrot pins\0"
_BEGINS: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"list"\s*:\s*\{')


class ListedPin(Exact):
    """A pin's name and text."""

    name: Name
    content: Content


class PinList(Exact):
    """The pins of a registry at one moment.

    Attributes:
        repository: the repository, such as ``github.com/acme/shop``; None for a list of none.
        revision: a number that each change raises by one.
        owner: the owner's public key, 64 hex digits.
    """

    format: Literal["constraintrot-pins/1"] = "constraintrot-pins/1"
    name: Name
    repository: Name | None
    revision: Number
    owner: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    pins: Annotated[tuple[ListedPin, ...], Field(min_length=1)]

    @classmethod
    def of(
        cls, registry: Registry, owner: VerifyingKey, *, name: str, repository: str | None,
        revision: int,
    ) -> PinList:  # fmt: skip
        """Return the list of a registry's pins."""
        pins = tuple(ListedPin(name=pin.name, content=pin.content) for pin in registry.pins())
        try:
            return cls(
                name=name, repository=repository, revision=revision, owner=owner.raw, pins=pins
            )
        except ValidationError as error:
            raise PinListError(f"no list of pins: {told_faults(error)}") from None

    @property
    def key(self) -> VerifyingKey:
        return VerifyingKey.of(self.owner)

    @property
    def digest(self) -> str:
        """The SHA-256, hex, of the bytes that the signature covers."""
        return sha256(_signed_bytes(self)).hexdigest()

    def pin_into(self, registry: Registry, by: Principal) -> None:
        """Pin the list in a registry."""
        for one in self.pins:
            registry.pin(one.content, by=by, name=one.name)

    def signed(self, key: SigningKey) -> str:
        """Return the text of the list, signed by its owner."""
        return _render(_SignedList(list=self, signature=key.sign_bytes(_signed_bytes(self))))


class _SignedList(Exact):
    list: PinList
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


def looks_signed(data: bytes) -> bool:
    """Return whether a file begins as a signed list does."""
    return _BEGINS.match(data) is not None


def opened_list(data: bytes) -> PinList:
    """Return the list of a signed file; the caller decides whether to trust its owner.

    Raises:
        PinListError: the file is not a signed list of this version.
        SignatureError: the owner that the list names did not sign it.
    """
    text = data.replace(b"\r\n", b"\n").strip()
    try:
        made = _SignedList.model_validate_json(text)
        same = _render(made).encode() == text + b"\n"
    except (ValidationError, RecursionError):
        # Pydantic's errors quote the file, and a model may read this error.
        raise PinListError("no signed list of pins, or one of another version") from None
    if not same:
        raise PinListError("the list is not written as constraintrot pin export writes it")
    made.list.key.verify_bytes(_signed_bytes(made.list), made.signature, "list")
    return made.list


def read_list(path: Path) -> PinList:
    """Return the list of a file; a link to it is followed."""
    try:
        return opened_list(contents(path, LARGEST, PinListError, links=True))
    except PinListError as error:
        raise PinListError(f"{path}: {error}") from None


def load_pins(
    path: str | Path,
    key: str | Path | VerifyingKey,
    *,
    repository: str | None = None,
    least_revision: int = 0,
    owner: Principal | None = None,
) -> Registry:
    """Return a registry with the pins of a signed list, for any hook that takes a registry.

    Args:
        path: the file that ``constraintrot pin export`` wrote.
        key: the public key of the trusted owner, or its file.
        repository: the list's expected repository; None for a list of none.
        least_revision: the lowest revision that is accepted.
        owner: may change the registry; nobody may unless given.

    Raises:
        OperatorError: the list is of another owner or repository, or too old.
        RampartError: two of its names are one, or look like one.
    """
    trusted = key if isinstance(key, VerifyingKey) else load_public(key)
    found = read_list(Path(path))
    if found.key != trusted:
        raise UnknownKeyError(
            f"{path} is signed by key {found.key.id}, and key {trusted.id} is trusted here"
        )
    if found.repository != repository:
        raise ScopeError(
            f"{path} is signed for {of_repository(found.repository)}, and wanted is a list for"
            f" {of_repository(repository)}"
        )
    if found.revision < least_revision:
        raise SequenceError(
            f"{path} is of revision {found.revision}, and {least_revision} at least is expected:"
            " an older list was put in its place"
        )
    by = owner or Principal("owner of the list")
    registry = Registry(by, label=found.name)
    found.pin_into(registry, by)
    return registry


def of_repository(name: str | None) -> str:
    """Return a list's repository as messages name it."""
    return "no repository" if name is None else f"the repository {name}"


def _signed_bytes(pins: PinList) -> bytes:
    plain = pins.model_dump(mode="json")
    return _DOMAIN + json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")


def _render(made: _SignedList) -> str:
    return json.dumps(made.model_dump(mode="json"), sort_keys=True, indent=1) + "\n"
