"""Authority is the object: no copy of its id, no look-alike, no leak of its secret."""

import copy
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from constraintrot.defenses.rampart import AuthorityError, Principal, Registry, RegistryError
from constraintrot.defenses.rampart.principal import identify

SECRET = b"sixteen bytes or more of it"


def test_the_same_secret_is_the_same_principal_and_the_id_is_no_secret() -> None:
    one, other = Principal("a", SECRET), Principal("b", SECRET)
    assert one.id == other.id
    assert one.id != Principal("a").id != Principal("a").id
    assert SECRET[:16] != one.id.bytes


def test_no_text_nor_pickle_holds_the_secret() -> None:
    principal = Principal("operator", SECRET)
    shown = [repr(principal), str(principal), f"{principal}"]
    with pytest.raises(AuthorityError) as caught:
        pickle.dumps(principal)
    for text in (*shown, str(caught.value)):
        assert SECRET.decode() not in text
        assert SECRET.hex() not in text
    assert not hasattr(principal, "__dict__")


def test_a_copy_is_the_same_object() -> None:
    principal = Principal("operator")
    assert copy.copy(principal) is principal
    assert copy.deepcopy({"by": principal})["by"] is principal


def _copied_id(victim: Principal) -> Any:
    fake = Principal("fake")
    fake._id = victim.id
    return fake


def _copied_after_a_proof(victim: Principal) -> Any:
    fake = Principal("fake")
    identify(fake)
    fake._id = victim.id
    return fake


def _changed_after_a_proof(victim: Principal) -> Any:
    fake = Principal("fake")
    object.__setattr__(identify(fake), "int", victim.id.int)
    return fake


def _two_faced_id(victim: Principal) -> Any:
    fake = Principal("fake")
    own = fake.id.bytes

    class TwoFaced(UUID):
        @property
        def bytes(self) -> bytes:
            return own

    fake._id = TwoFaced(int=victim.id.int)
    return fake


def _spoofed_class(victim: Principal) -> Any:
    class Spoof:
        _id, id = victim.id, victim.id
        _secret = b"x" * 32

        @property  # type: ignore[misc]
        def __class__(self) -> type:
            return Principal

    return Spoof()


def _unmade(victim: Principal) -> Any:
    return object.__new__(Principal)


@pytest.mark.parametrize(
    "forge",
    [
        _copied_id,
        _copied_after_a_proof,
        _changed_after_a_proof,
        _two_faced_id,
        _spoofed_class,
        _unmade,
        lambda victim: victim.id,
        lambda victim: str(victim.id),
        lambda victim: victim.label,
        lambda victim: SimpleNamespace(id=victim.id, _id=victim.id, _secret=b"x" * 32),
        lambda victim: None,
    ],
)
def test_no_forgery_writes(forge: Any) -> None:
    owner = Principal("owner", SECRET)
    registry = Registry(owner)
    pin = registry.pin("Stay.", by=owner)
    by = forge(owner)
    calls: list[Callable[[], object]] = [
        lambda: identify(by),
        lambda: Registry(by),
        lambda: registry.pin("x", by=by),
        lambda: registry.write("x", by=by),
        lambda: registry.grant(uuid4(), by=by),
        lambda: registry.evict(pin.id, by=by, force=True),
        lambda: registry.amend(pin.id, "x", by=by),
    ]
    for call in calls:
        with pytest.raises(AuthorityError) as caught:
            call()
        assert "sixteen" not in str(caught.value)
    assert registry.pins() == (pin,)


def test_there_are_no_subclasses() -> None:
    with pytest.raises(TypeError):
        type("Sub", (Principal,), {})


@pytest.mark.parametrize("secret", [b"short", "a string of sixteen", bytearray(32)])
def test_a_weak_secret_is_refused(secret: Any) -> None:
    with pytest.raises(RegistryError):
        Principal("a", secret)


@pytest.mark.parametrize("label", ["two\nlines", 3])
def test_a_label_is_a_line(label: Any) -> None:
    with pytest.raises(RegistryError):
        Principal(label)
