"""Principals that act on a registry: capabilities, not names that a caller states.

Only the holder of a ``Principal`` object has its authority. Its id is a one-way hash of its
secret, so the id can be shown and logged. No library can guard against code in the same
process that reads private attributes of the objects that it was given.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Final, NoReturn, final
from uuid import UUID
from weakref import WeakKeyDictionary

from constraintrot.defenses.rampart.errors import AuthorityError, RegistryError

_SECRET_BYTES: Final = 32
_LEAST_BYTES: Final = 16


@final
class Principal:
    """An identity that can write blocks.

    Args:
        label: its name in reports, which says nothing about authority.
        secret: at least 16 bytes, to be the same principal in a later process; 32 random bytes
            unless given.

    Raises:
        RegistryError: the label or the secret is wrong.
    """

    __slots__ = ("__weakref__", "_id", "_label", "_secret")

    def __init__(self, label: str, secret: bytes | None = None) -> None:
        if not isinstance(label, str) or not label.isprintable():  # callers may be untyped
            raise RegistryError("a principal's label is a printable string")
        if secret is None:
            secret = secrets.token_bytes(_SECRET_BYTES)
        if not isinstance(secret, bytes) or len(secret) < _LEAST_BYTES:  # callers may be untyped
            raise RegistryError(f"a principal's secret is bytes, at least {_LEAST_BYTES} of them")
        self._label, self._secret, self._id = label, secret, UUID(bytes=_fingerprint(secret))

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Principal has no subclasses: a registry trusts its own methods only")

    @property
    def id(self) -> UUID:
        """The id, a one-way hash of the secret; safe to show."""
        return self._id

    @property
    def label(self) -> str:
        return self._label

    def __repr__(self) -> str:
        return f"Principal({self._label!r}, id={self._id})"

    # A copy has the same authority, so it may as well be the same object.
    def __copy__(self) -> Principal:
        return self

    def __deepcopy__(self, memo: object) -> Principal:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise AuthorityError(
            "a principal is not pickled: its secret would leave the process; "
            "hand over the secret by a channel of your own"
        )


def identify(by: Principal) -> UUID:
    """Return the id that a caller proves to hold, from its secret.

    Raises:
        AuthorityError: not a ``Principal``, or its id is not its secret's.
    """
    if type(by) is not Principal:
        raise AuthorityError(f"by= takes the caller's Principal, not {type(by).__name__}")
    # The attributes are read past the properties, which a caller could have replaced.
    try:
        secret, claimed = by._secret, by._id
        # A proof holds for these very objects; an id's number can be changed in place.
        proof = _proven.get(by)
        if (
            proof is not None
            and proof[0] is secret
            and proof[1] is claimed
            and proof[2] == claimed.int
        ):
            return claimed
        # A class of one's own could show one number here and another one to the registry.
        number, plain = claimed.int, type(claimed) is UUID
        proven = plain and secrets.compare_digest(_fingerprint(secret), number.to_bytes(16, "big"))
    except (AttributeError, TypeError) as error:
        raise AuthorityError("this Principal was not made by its constructor") from error
    if not proven:
        raise AuthorityError("the id of this Principal is not the one that its secret gives")
    _proven[by] = secret, claimed, number
    return claimed


# By principal that has proven its id: the secret, the id, and its number.
_proven: WeakKeyDictionary[Principal, tuple[bytes, UUID, int]] = WeakKeyDictionary()


def _fingerprint(secret: bytes) -> bytes:
    return sha256(b"constraintrot principal\0" + secret).digest()[:16]
