"""Ed25519 keys, in files that only their owner can read.

A private key stays inside the library that holds it: a ``SigningKey`` shows only its id
and cannot be pickled, and no error quotes a key file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final, NoReturn, final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from constraintrot.defenses.operator.directive import (
    Directive,
    Envelope,
    read,
    render,
    signed_bytes,
)
from constraintrot.defenses.operator.errors import (
    DirectiveError,
    KeyFileError,
    SignatureError,
    UnknownKeyError,
)
from constraintrot.defenses.operator.files import create, private_bytes, replace

PUBLIC: Final = ".pub"
_LARGEST: Final = 16 * 1024


@final
class VerifyingKey:
    """A public key, and the id by which directives name it."""

    __slots__ = ("_key", "id")

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        self.id: Final = sha256(key.public_bytes_raw()).hexdigest()[:32]

    @classmethod
    def of(cls, raw: str) -> VerifyingKey:
        """Return the key of 64 hex digits, as ``raw`` gives them."""
        return cls(Ed25519PublicKey.from_public_bytes(bytes.fromhex(raw)))

    @property
    def raw(self) -> str:
        """The key itself as 64 hex digits."""
        return self._key.public_bytes_raw().hex()

    def verify(self, directive: Directive, signature: str) -> None:
        """Check that the key's holder signed a directive."""
        self.verify_bytes(signed_bytes(directive), signature, "directive")

    def verify_bytes(self, data: bytes, signature: str, what: str) -> None:
        """Check that the key's holder signed bytes, which begin with a name of their kind."""
        try:
            self._key.verify(bytes.fromhex(signature), data)
        except InvalidSignature:
            raise SignatureError(
                f"the signature is not one of this {what} by key {self.id}: the {what} was"
                " changed, or signed by somebody else"
            ) from None

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the key as PEM."""
        pem = self._key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        (replace if force else create)(Path(path), pem, 0o644, KeyFileError)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifyingKey) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"VerifyingKey({self.id})"


@final
class SigningKey:
    """A private key. Make one with ``generate``, ``from_seed`` or ``load``."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public: Final = VerifyingKey(key.public_key())

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> SigningKey:
        """Return the key of 32 secret bytes."""
        if len(seed) != 32:
            raise KeyFileError("the seed of a key is 32 bytes")
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def load(cls, path: str | Path) -> SigningKey:
        """Return the key of a file that ``save`` wrote.

        Raises:
            KeyFileError: missing, empty, readable or writable by others, or not an Ed25519 key.
        """
        pem = private_bytes(Path(path), _LARGEST, KeyFileError)
        if not pem:
            raise KeyFileError(
                f"{path} is empty, as after a crash while it was written; make a key with"
                " constraintrot operator keygen --force"
            )
        try:
            key = serialization.load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise KeyFileError(
                f"{path} holds no unencrypted private key in PEM; make one with"
                " constraintrot operator keygen"
            ) from None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(f"{path} holds a key of another kind; directives need Ed25519")
        return cls(key)

    @property
    def id(self) -> str:
        return self.public.id

    def sign(self, directive: Directive) -> str:
        """Return the signed text of a directive."""
        if directive.key != self.id:
            raise DirectiveError(f"the directive names key {directive.key}, and this is {self.id}")
        signature = self.sign_bytes(signed_bytes(directive))
        return render(Envelope(directive=directive, signature=signature))

    def sign_bytes(self, data: bytes) -> str:
        """Return the signature, hex, of bytes that begin with a name of their kind."""
        return self._key.sign(data).hex()

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the key as PEM into a file of mode 0600, and the public one beside it."""
        private, public = Path(path), Path(f"{path}{PUBLIC}")
        if not force and (public.exists() or public.is_symlink()):
            raise KeyFileError(f"{public} is there already; it is overwritten with --force only")
        pem = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (replace if force else create)(private, pem, 0o600, KeyFileError)
        self.public.save(public, force=force)

    def __repr__(self) -> str:
        return f"SigningKey({self.id})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise KeyFileError("a private key is not pickled or copied; load it where it is needed")


def load_public(path: str | Path) -> VerifyingKey:
    """Return the public key of a file.

    Raises:
        KeyFileError: missing, writable by others, or not an Ed25519 public key.
    """
    try:
        # A link is followed, because mounted secrets are links; only the target is checked.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise KeyFileError(f"{path} is no regular file")
            if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o022:
                raise KeyFileError(
                    f"{path} can be written by others, who could put their own key there;"
                    f" run chmod go-w {path}"
                )
            pem = file.read(_LARGEST)
    except OSError as error:
        raise KeyFileError(f"cannot read the public key {path}: {error.strerror}") from None
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(
            f"{path} holds no public key in PEM; keygen writes one beside the private key"
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{path} holds a key of another kind; directives need Ed25519")
    return VerifyingKey(key)


def opened(text: str | bytes, trusted: Iterable[VerifyingKey]) -> Directive:
    """Return the directive of a text that a trusted key signed.

    Raises:
        DirectiveError: the text is not a signed directive.
        UnknownKeyError: its key is not a trusted one.
        SignatureError: the key that it names did not sign it.
    """
    envelope = read(text)
    directive = envelope.directive
    key = next((key for key in trusted if key.id == directive.key), None)
    if key is None:
        raise UnknownKeyError(f"key {directive.key} is not trusted here")
    key.verify(directive, envelope.signature)
    return directive
