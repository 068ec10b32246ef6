"""Keys in files, and that a private key never comes out in a text."""

import copy
import os
import pickle
import traceback
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from constraintrot.defenses.operator import (
    DirectiveError,
    KeyFileError,
    SigningKey,
    draft,
    load_public,
    opened,
)
from tests.defenses.operator.desk import KEY, OTHER, fields

SEED = b"a seed that nobody else knows..."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "operator.key"


def test_a_key_goes_through_its_files(path: Path) -> None:
    key = SigningKey.generate()
    key.save(path)
    loaded, public = SigningKey.load(path), load_public(f"{path}.pub")
    assert loaded.id == public.id == key.id
    assert public == key.public
    assert public != OTHER.public
    text = loaded.sign(draft(fields(key=key.id)))
    assert opened(text, [OTHER.public, public]).key == key.id


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o377])
def test_the_private_file_is_its_owner_s_alone(path: Path, umask: int) -> None:
    was = os.umask(umask)
    try:
        KEY.save(path)
    finally:
        os.umask(was)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Path(f"{path}.pub").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o777, 0o601])
def test_a_private_file_that_is_open_to_others_is_refused(path: Path, mode: int) -> None:
    KEY.save(path)
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="open to others"):
        SigningKey.load(path)
    path.chmod(0o400)
    assert SigningKey.load(path).id == KEY.id


def test_a_public_file_that_others_can_write_is_refused(path: Path) -> None:
    KEY.save(path)
    public = Path(f"{path}.pub")
    public.chmod(0o664)
    with pytest.raises(KeyFileError, match="chmod go-w"):
        load_public(public)


def test_no_file_is_overwritten_unasked(path: Path) -> None:
    KEY.save(path)
    with pytest.raises(KeyFileError, match="--force"):
        OTHER.save(path)
    assert SigningKey.load(path).id == load_public(f"{path}.pub").id == KEY.id
    path.unlink()
    with pytest.raises(KeyFileError, match="--force"):
        OTHER.save(path)
    assert not path.exists()
    OTHER.save(path, force=True)
    assert SigningKey.load(path).id == load_public(f"{path}.pub").id == OTHER.id
    names = {found.name for found in path.parent.iterdir()}
    assert {name for name in names if not name.endswith(".lock")} == {
        "operator.key",
        "operator.key.pub",
    }


def test_a_forced_key_takes_the_mode_of_a_fresh_one(path: Path) -> None:
    path.write_text("something else")
    path.chmod(0o666)
    KEY.save(path, force=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_links_pipes_and_folders_are_no_key_files(path: Path, tmp_path: Path) -> None:
    KEY.save(tmp_path / "real")
    path.symlink_to(tmp_path / "real")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for wrong in (path, pipe, tmp_path, tmp_path / "none"):
        with pytest.raises(KeyFileError):
            SigningKey.load(wrong)
    with pytest.raises(KeyFileError):
        KEY.save(tmp_path / "no" / "such" / "folder")


def pem(
    key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey | x25519.X25519PrivateKey,
    password: bytes = b"",
) -> bytes:
    locked = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a key",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        pem(Ed25519PrivateKey.from_private_bytes(SEED), b"password"),
        pem(ec.generate_private_key(ec.SECP256R1())),
        pem(x25519.X25519PrivateKey.generate()),
        b"x" * 20_000,
    ],
)
def test_other_content_is_refused_and_never_quoted(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError) as raised:
        SigningKey.load(path)
    told = "".join(traceback.format_exception(raised.value))
    body = content.decode().split("\n")[1] if b"\n" in content else "not a key"
    assert not body or body not in told.replace(str(path), "")


def test_a_private_key_is_in_no_text(path: Path) -> None:
    key = SigningKey.from_seed(SEED)
    key.save(path)
    secret = {SEED.decode(), SEED.hex(), path.read_text().split("\n")[1]}
    said = [
        repr(key),
        str(key),
        repr(key.public),
        f"{key.public}",
        key.sign(draft(fields(key=key.id))),
    ]
    with pytest.raises(DirectiveError) as raised:
        key.sign(draft(fields()))
    said += traceback.format_exception(raised.value)
    path.chmod(0o644)
    with pytest.raises(KeyFileError) as refused:
        SigningKey.load(path)
    said += traceback.format_exception(refused.value)
    assert not any(part in text for part in secret for text in said)


def test_a_private_key_is_not_pickled_or_copied() -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(KeyFileError, match="not pickled"):
            leave(KEY)


def test_a_seed_is_32_bytes() -> None:
    with pytest.raises(KeyFileError):
        SigningKey.from_seed(b"short")
    assert SigningKey.from_seed(SEED).id == SigningKey.from_seed(SEED).id


def test_a_key_file_that_a_crash_left_empty_says_so(path: Path) -> None:
    path.touch(mode=0o600)
    with pytest.raises(KeyFileError, match="is empty, as after a crash"):
        SigningKey.load(path)


def test_a_public_key_that_is_no_file_waits_for_nobody(path: Path) -> None:
    os.mkfifo(path, 0o600)
    with pytest.raises(KeyFileError, match="no regular file"):
        load_public(path)
