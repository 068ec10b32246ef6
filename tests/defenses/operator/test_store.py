"""The state on disk: it outlives its process, is its owner's alone, and is kept whole or not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from constraintrot.defenses.operator import Channel, Mailbox, ReplayError, SequenceError, StateError
from tests.defenses.operator.desk import CALL, POLICY, WIDER, kept, signed, texts

# Between reading the state and writing it there is time for another process to write.
EXEMPT_TWENTY_CALLS = """
import os, sys, time, types, warnings
folder, platform = sys.argv[1:]
if platform == "without fcntl":
    warnings.simplefilter("ignore")  # filelock says that it has another lock there
    sys.modules["fcntl"] = None
from constraintrot.defenses.operator import store
from tests.defenses.operator.desk import CALL, channel
if platform == "without fcntl":
    store.os = types.SimpleNamespace(**{**vars(os), "name": "nt"})
shared, read = channel(folder=folder), store.Folder.read
def slow(self):
    state = read(self)
    time.sleep(0.002)
    return state
store.Folder.read = slow
print("ready", flush=True)
input()
for _ in range(20):
    assert shared.use(shared.exempting(*CALL), shared.constraints)
"""


def test_a_state_outlives_its_process(tmp_path: Path) -> None:
    made = kept(tmp_path)
    made.apply(signed("amend", 3, content="A."))
    made.apply(signed("exempt", 4, calls=2))
    again = kept(tmp_path)
    assert again.state == made.state
    assert texts(again) == {"limit": "A."}
    with pytest.raises(ReplayError):
        again.apply(signed("amend", 3, content="A."))
    with pytest.raises(SequenceError):
        again.apply(signed("rescind", 2))
    again.apply(signed("rescind", 5))
    # What another channel did is seen at once.
    assert made.constraints == ()
    assert texts(made) == {}


def test_a_state_is_its_owner_s_alone(tmp_path: Path) -> None:
    kept(tmp_path)
    for path in [tmp_path / "state", *(tmp_path / "state").iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path
    with pytest.raises(StateError, match="wanted is"):
        Channel("shop", "s-2", trusted=[], folder=tmp_path / "state")
    (tmp_path / "state").chmod(0o755)
    with pytest.raises(StateError, match="chmod 700"):
        kept(tmp_path)


@pytest.mark.parametrize("damage", ["flipped", "cut", "key", "open key"])
def test_a_changed_state_is_refused(tmp_path: Path, damage: str) -> None:
    made = kept(tmp_path)
    made.apply(signed("amend"))
    state, key = tmp_path / "state" / "state", tmp_path / "state" / "state.key"
    if damage == "flipped":
        state.write_bytes(state.read_bytes().replace(b"900", b"999"))
    elif damage == "cut":
        state.write_bytes(state.read_bytes()[:-9])
    elif damage == "key":
        key.unlink()
    else:
        key.chmod(0o644)
    with pytest.raises(StateError):
        kept(tmp_path)
    if not damage.endswith("key"):
        with pytest.raises(StateError):
            made.apply(signed("rescind", 2))
        assert texts(made) == {"limit": WIDER}


def test_nothing_is_applied_where_the_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Mailbox()
    made = kept(tmp_path, mailbox=box)
    before = made.state

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    box.put(signed("amend", 1), signed("rescind", 2))
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(StateError, match="No space left"):
            made.apply(signed("amend", 1))
        with pytest.raises(StateError, match="No space left"):
            made.poll()
        assert (made.state, texts(made)) == (before, {"limit": POLICY})
    # What could not be kept still waits.
    assert [one.kind for one in made.poll()] == ["amend", "rescind"]
    assert kept(tmp_path).constraints == ()


def test_two_channels_of_one_folder_share_one_exemption(tmp_path: Path) -> None:
    ours, theirs = kept(tmp_path), kept(tmp_path)
    ours.apply(signed("exempt"))
    (one,) = theirs.exempting(*CALL)
    assert theirs.use([one], theirs.constraints)
    assert not ours.use([one], ours.constraints)
    assert ours.exempting(*CALL) == ()


@pytest.mark.parametrize("platform", ["this one", "without fcntl"])
def test_no_process_loses_what_another_one_wrote(tmp_path: Path, platform: str) -> None:
    made = kept(tmp_path)
    made.apply(signed("exempt", calls=100))
    # Where there is no fcntl, the file itself is the lock, and this process has left one.
    (tmp_path / "state" / "lock").unlink()
    command = [sys.executable, "-c", EXEMPT_TWENTY_CALLS, str(tmp_path / "state"), platform]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) for _ in range(2)
    ]
    # Both start at once: their start-up takes longer than what they do.
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
    assert [process.wait(60) for process in processes] == [0, 0]
    (one,) = made.exemptions
    assert one.calls == 60
