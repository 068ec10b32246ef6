"""What may happen to a channel's state, keys and mailbox while it runs, and between two runs."""

import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.operator import (
    DirectiveError,
    DuplicateConstraintError,
    Mailbox,
    StateError,
    UnknownKeyError,
    broad,
    draft,
)
from constraintrot.defenses.operator.errors import KeyFileError
from tests.defenses.operator.desk import (
    CALL,
    KEY,
    NOW,
    OTHER,
    POLICY,
    WIDER,
    Clock,
    channel,
    fields,
    kept,
    signed,
    texts,
)

DAY = 24 * 3600


# Declared anew


def test_what_is_declared_otherwise_is_in_force_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(tmp_path)
    with caplog.at_level(logging.WARNING, "constraintrot.operator"):
        again = kept(tmp_path, declared={"limit": WIDER, "notes": "Spell months out."})
    assert texts(again) == {"limit": WIDER, "notes": "Spell months out."}
    assert [record.getMessage() for record in caplog.records] == [
        "shop, session s-1: declared otherwise than before, and in force from revision 1 on:"
        " limit, notes"
    ]
    assert [past.content for past in again.state.past] == [POLICY]
    caplog.clear()
    assert kept(tmp_path, declared=None).state == again.state
    same = kept(tmp_path, declared={"limit": WIDER, "notes": "Spell months out."})
    assert same.revision == 1
    assert not caplog.records


def test_a_state_that_the_shell_made_does_not_swallow_what_is_declared(tmp_path: Path) -> None:
    kept(tmp_path, declared=None).apply(signed("pin", 1))
    assert set(texts(kept(tmp_path))) == {"limit", "notes"}


def test_a_directive_goes_before_a_declaration_that_stays(tmp_path: Path) -> None:
    kept(tmp_path).apply(signed("rescind", 1))
    assert texts(kept(tmp_path)) == {}


@pytest.mark.parametrize("declared", [{"limit": "Buy all."}, {}])
def test_what_a_directive_changed_is_not_declared_away(
    tmp_path: Path, declared: dict[str, str]
) -> None:
    made = kept(tmp_path)
    made.apply(signed("amend", 1))
    with pytest.raises(StateError, match="sign a directive"):
        kept(tmp_path, declared=declared)
    assert texts(made) == {"limit": WIDER}
    assert texts(kept(tmp_path)) == {"limit": WIDER}


# An older state


def test_a_running_channel_refuses_an_older_state(tmp_path: Path) -> None:
    made, path = kept(tmp_path), tmp_path / "state" / "state"
    old = path.read_bytes()
    made.apply(signed("pin", 1))
    new = path.read_bytes()
    for act in (lambda: made.state, lambda: made.apply(signed("rescind", 2)), made.poll):
        path.write_bytes(old)
        made.mailbox.put(signed("rescind", 3))
        with pytest.raises(StateError, match="older one back"):
            act()
        assert set(texts(made)) == {"limit", "notes"}
    path.unlink()
    with pytest.raises(StateError, match="is gone"):
        _ = made.constraints
    path.write_bytes(new)
    path.chmod(0o600)
    assert [one.kind for one in made.poll() if one.accepted] == ["rescind"]


def test_two_successors_of_one_state_are_not_confused(tmp_path: Path) -> None:
    made = kept(tmp_path)
    shutil.copytree(tmp_path / "state", tmp_path / "aside")
    (tmp_path / "aside").chmod(0o700)
    other = channel(folder=tmp_path / "aside")
    other.apply(signed("rescind", 1))
    made.apply(signed("pin", 1))
    shutil.copy(tmp_path / "aside" / "state", tmp_path / "state" / "state")
    with pytest.raises(StateError, match="older one back"):
        _ = made.state


def test_a_channel_that_starts_refuses_what_is_older_than_it_is_told(tmp_path: Path) -> None:
    kept(tmp_path).apply(signed("pin", 1))
    assert kept(tmp_path, least_revision=1).revision == 1
    with pytest.raises(StateError, match="2 at least is expected"):
        kept(tmp_path, least_revision=2)
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(StateError, match="it was removed"):
        kept(tmp_path, least_revision=1)


# Keys


def test_a_revoked_key_counts_no_more_and_its_exemptions_end(tmp_path: Path) -> None:
    trusted = [KEY.public, OTHER.public]
    ours, theirs = kept(tmp_path, trusted=trusted), kept(tmp_path, trusted=trusted)
    ours.apply(signed("pin", 1, by=OTHER))
    ours.apply(signed("exempt", 2, by=OTHER))
    ours.apply(signed("exempt", 3))
    (left,) = [one for one in ours.exemptions if KEY.id in one.name]
    ours.revoke(OTHER.public)
    assert theirs.exempting(*CALL) == (left,)
    for made in (ours, theirs, kept(tmp_path, trusted=trusted)):
        with pytest.raises(UnknownKeyError, match="was revoked"):
            made.apply(signed("rescind", 4, by=OTHER))
        assert set(texts(made)) == {"limit", "notes"}
    revision = ours.revision
    ours.revoke(OTHER.id)
    assert ours.revision == revision
    ours.apply(signed("rescind", 5))
    for wrong in ("op.key.pub", "", OTHER.id.upper()):
        with pytest.raises(KeyFileError, match="32 hex digits"):
            ours.revoke(wrong)


def test_each_change_of_a_state_has_a_revision_of_its_own(tmp_path: Path) -> None:
    clock = Clock()
    ours, theirs = kept(tmp_path, clock=clock), kept(tmp_path, clock=clock)
    ours.revoke(OTHER.id)
    ours.apply(signed("exempt", 1, calls=None, until=NOW + 60, function="buy"))
    assert len(theirs.exemptions) == 1
    clock.now += 120
    ours.revoke(OTHER.id)
    assert theirs.exemptions == ours.exemptions == ()
    assert theirs.state == ours.state


def test_a_key_is_revoked_in_memory_too() -> None:
    made = channel()
    made.revoke(KEY.public)
    with pytest.raises(UnknownKeyError, match="was revoked"):
        made.apply(signed("rescind"))


@pytest.mark.parametrize("size", [0, 5, 31])
def test_a_first_start_that_was_killed_is_begun_again(tmp_path: Path, size: int) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    key = tmp_path / "state" / "state.key"
    key.write_bytes(b"x" * size)
    key.chmod(0o600)
    kept(tmp_path).apply(signed("pin", 1))
    assert set(texts(kept(tmp_path))) == {"limit", "notes"}
    key.write_bytes(b"x" * size)
    with pytest.raises(StateError, match=f"has {size} bytes of 32.*from a backup"):
        kept(tmp_path)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="is a link"):
        kept(tmp_path)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["state", "state.key"])
def test_a_link_in_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    made = kept(tmp_path)
    victim = tmp_path / "victim"
    os.replace(tmp_path / "state" / name, victim)
    before = victim.read_bytes()
    (tmp_path / "state" / name).symlink_to(victim)
    with pytest.raises(StateError):
        kept(tmp_path)
    if name == "state":
        with pytest.raises(StateError):
            made.apply(signed("pin", 1))
    assert victim.read_bytes() == before


# The mailbox

ODD: list[Any] = [
    None, 7, b"\xff", "\ud800", "{}", "[" * 5000, {"a": 1}, object(), "", b"", 1.5, ["x"], bytearray(b"x"),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(ODD) | st.text() | st.binary() | st.integers(), max_size=6))
def test_nothing_that_is_malformed_loses_what_is_behind_it(waiting: list[Any]) -> None:
    made = channel(mailbox=Mailbox(*waiting, signed("pin", 1)))
    receipts = made.poll()
    assert [one.accepted for one in receipts] == [False] * len(waiting) + [True]
    assert set(texts(made)) == {"limit", "notes"}


def test_what_fails_in_a_way_nobody_thought_of_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = channel(mailbox=Mailbox("bad", signed("pin", 1)))
    apply = made.apply

    def failing(text: str) -> Any:
        return 1 / 0 if text == "bad" else apply(text)

    monkeypatch.setattr(made, "apply", failing)
    with pytest.raises(ZeroDivisionError):
        made.poll()
    assert [one.accepted for one in made.poll()] == [True]


@pytest.mark.parametrize("name", ["LIMIT", "Iimit", "lіmit", "exemptіon-1", "em\ufe0fail"])
def test_a_name_that_looks_like_another_is_refused_as_a_directive(name: str) -> None:
    made = channel(declared={"limit": POLICY})
    with pytest.raises((DirectiveError, DuplicateConstraintError)):
        made.apply(signed("pin", 1, constraint=name))
    assert (made.revision, texts(made)) == (0, {"limit": POLICY})


# Breadth


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"calls": 1, "function": "buy"}, []),
        ({"calls": 1}, ["every tool"]),
        ({"calls": 101, "function": "buy"}, ["101 calls"]),
        ({"until": NOW + 31 * 365 * DAY, "function": "buy", "calls": None}, ["11,315 days"]),
        ({"until": NOW + 2 * DAY, "calls": None}, ["every tool", "2 days"]),
        ({"calls": 1, "function": "buy", "expires": NOW + 9 * DAY}, ["applied for 9 days"]),
    ],
)
def test_what_is_more_than_one_decision_is_said(more: dict[str, Any], says: list[str]) -> None:
    directive = draft(fields("exempt", **more))
    far = broad(directive)
    assert len(far) == len(says)
    assert all(part in whole for part, whole in zip(says, far, strict=True))
    made = channel(mailbox=Mailbox(signed("exempt", **more)))
    assert made.poll()[0].warnings == far


# All of it, in any order

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["pin", "amend", "rescind", "exempt", "use", "later", "revoke", "restart", "poll"]
        ),
        st.booleans(),
        st.sampled_from(["limit", "notes"]),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_two_channels_of_one_folder_never_differ(steps: list[tuple[str, bool, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        given = {"folder": Path(folder) / "state", "clock": clock}
        given["trusted"] = [KEY.public, OTHER.public]
        pair = [channel(**given), channel(**given)]
        for number, (step, first, name) in enumerate(steps, start=1):
            made, by = pair[first], KEY if name == "limit" else OTHER
            at = {"issued": int(clock.now), "expires": int(clock.now) + 600}
            before = pair[not first].state
            if step == "use":
                made.use(made.exempting(*CALL), made.constraints)
            elif step == "later":
                clock.now += 100
            elif step == "revoke":
                made.revoke(by.public)
            elif step == "restart":
                pair[first] = channel(**given, least_revision=made.revision)
            else:
                more = {"until": at["issued"] + 50, "calls": None} if step == "exempt" else {}
                kind = "pin" if step == "poll" else step
                text = signed(kind, number, by=by, constraint=name, **at, **more)
                made.mailbox.put(text)
                refused = [one.error for one in made.poll() if not one.accepted]
                assert not refused or pair[not first].state == before
            assert pair[0].state == pair[1].state
            for one in pair:
                assert texts(one) == {held.name: held.content for held in one.constraints}
                assert one.state.revision >= before.revision
                assert not any(
                    key in held.name for key in one.state.revoked for held in one.exemptions
                )
