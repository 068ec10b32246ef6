"""The sealed file of a registry's snapshot."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constraintrot import files
from constraintrot.defenses.rampart import (
    SnapshotError,
    snapshot,
)
from tests.grading.calls import nested

KEY = b"0123456789abcdef-secret"
STATE: dict[str, object] = {
    "label": "registry",
    "blocks": [{"content": "Nie über 500 € <|endoftext|>\u2028", "created": 1.5, "run": None}],
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.snapshot"


def write(path: str | Path, state: dict[str, object], key: bytes) -> None:
    with files.locked(path, SnapshotError):
        snapshot.write(path, state, key)


def sealed(path: Path) -> bytes:
    write(path, STATE, KEY)
    return path.read_bytes()


def left_beside(path: Path) -> set[str]:
    """The other files in the folder of the snapshot and its lock."""
    return set(os.listdir(path.parent)) - {path.name, f".{path.name}.lock"}


@SAME_FOLDER
@given(state=st.dictionaries(st.text(), JSON, max_size=4), key=st.binary(min_size=16))
def test_round_trip(path: Path, state: dict[str, object], key: bytes) -> None:
    write(path, state, key)
    assert snapshot.read(path, key) == state


def test_the_file_is_the_owners_and_nothing_else_is_left(path: Path) -> None:
    path.write_text("an older one")
    path.chmod(0o644)
    write(path, STATE, KEY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert left_beside(path) == set()
    assert KEY not in path.read_bytes()


def test_the_same_state_gives_the_same_bytes(path: Path) -> None:
    first = sealed(path)
    write(path, dict(reversed(STATE.items())), KEY)
    assert path.read_bytes() == first


def test_every_byte_counts(path: Path) -> None:
    content = sealed(path)
    for at in range(len(content)):
        for bit in (0x01, 0x20):  # 0x20 makes a hex digit another one of the same value
            changed = bytearray(content)
            changed[at] ^= bit
            path.write_bytes(changed)
            with pytest.raises(SnapshotError):
                snapshot.read(path, KEY)


def test_every_shorter_or_longer_file_is_refused(path: Path) -> None:
    content = sealed(path)
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(SnapshotError, match="truncated"):
            snapshot.read(path, KEY)
    path.write_bytes(content + b" ")
    with pytest.raises(SnapshotError, match="tampered"):
        snapshot.read(path, KEY)


def test_another_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "VERSION", 2)
        sealed(path)
    with pytest.raises(SnapshotError, match=r"of version 2; this program reads version 1"):
        snapshot.read(path, KEY)


def test_another_key(path: Path) -> None:
    sealed(path)
    with pytest.raises(SnapshotError, match="another key") as caught:
        snapshot.read(path, b"another-" + KEY)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", [b"", b"secret-15-bytes", "a secret string of text", None])
def test_a_key_that_is_none(path: Path, key: bytes) -> None:
    for act in (lambda: write(path, STATE, key), lambda: snapshot.read(path, key)):
        with pytest.raises(SnapshotError, match="at least 16 secret bytes") as caught:
            act()
        assert not key or str(key) not in str(caught.value)
    assert not path.exists()


def test_a_file_that_is_too_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    length = len(sealed(path))
    monkeypatch.setattr(snapshot, "LARGEST", length)
    assert snapshot.read(path, KEY) == STATE
    monkeypatch.setattr(snapshot, "LARGEST", length - 1)
    with pytest.raises(SnapshotError, match="too large"):
        snapshot.read(path, KEY)
    path.unlink()
    with pytest.raises(SnapshotError, match="at most"):
        write(path, STATE, KEY)
    assert not path.exists()


def test_a_file_that_is_no_snapshot(path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        snapshot.read(path, KEY)
    path.write_text(json.dumps(STATE))
    with pytest.raises(SnapshotError, match="is no snapshot"):
        snapshot.read(path, KEY)
    os.unlink(path)
    os.mkfifo(path)
    with pytest.raises(SnapshotError, match="no regular file"):
        snapshot.read(path, KEY)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, float("nan"), nested([], 100_000)])
def test_a_state_that_is_no_json_leaves_the_old_file(path: Path, value: object) -> None:
    content = sealed(path)
    with pytest.raises(SnapshotError, match="not plain JSON"):
        write(path, {"value": value}, KEY)
    assert path.read_bytes() == content


def test_a_crash_while_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = sealed(path)

    def crash(handle: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(SnapshotError, match="no space left"):
        write(path, {"new": True}, KEY)
    assert path.read_bytes() == content
    assert left_beside(path) == set()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot write"):
        write(tmp_path / "missing" / "x", STATE, KEY)
    assert not (tmp_path / "missing").exists()


def test_a_planted_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    path.symlink_to(victim)
    with pytest.raises(SnapshotError, match="is a link"):
        write(path, STATE, KEY)
    assert victim.read_text() == "untouched"
    write(victim, STATE, KEY)
    with pytest.raises(SnapshotError, match="is a link"):
        snapshot.read(path, KEY)


@pytest.mark.parametrize("planted", [".{}.new", ".{}.lock"])
def test_links_planted_at_the_names_that_writing_uses(
    path: Path, tmp_path: Path, planted: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    link = path.with_name(planted.format(path.name))
    link.symlink_to(victim)
    if planted.endswith("lock"):
        with pytest.raises(SnapshotError, match="is a link"):
            write(path, STATE, KEY)
    else:
        write(path, STATE, KEY)
        assert snapshot.read(path, KEY) == STATE
    assert victim.read_text() == "untouched"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
def test_kills_leave_one_file_at_most_and_the_next_write_none(path: Path) -> None:
    content = sealed(path)
    for _ in range(3):
        if not (child := os.fork()):
            os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            write(path, {"new": True}, KEY)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert left_beside(path) == {f".{path.name}.new"}
        assert path.read_bytes() == content
    write(path, {"new": True}, KEY)
    assert left_beside(path) == set()


def test_a_lock_that_is_never_released(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_WAIT", 0.05)
    with (
        files.locked(path, SnapshotError),
        pytest.raises(SnapshotError, match="another process has held"),
    ):
        write(path, STATE, KEY)


@pytest.mark.parametrize("name", ["", ".", "..", "/", "\0", "x" * 300, "a\0b"])
def test_a_path_that_names_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SnapshotError):
        write(name, STATE, KEY)
    with pytest.raises(SnapshotError):
        snapshot.read(name, KEY)


def test_what_is_planted_at_the_name_of_the_new_file_stops_nothing_or_says_so(path: Path) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text("left by a kill")
    fresh.chmod(0o444)
    sealed(path)
    fresh.mkdir()
    with pytest.raises(SnapshotError, match="cannot write"):
        write(path, {"new": True}, KEY)
    assert snapshot.read(path, KEY) == STATE
