"""The one way to add a compactor, an attack, a defense or a harness."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType

import pytest

from constraintrot import door
from constraintrot.attacks import ATTACKS
from constraintrot.compactors import COMPACTORS
from constraintrot.defenses import DEFENSES
from constraintrot.door import Door
from constraintrot.errors import ConstraintRotError, DuplicateNameError, UnknownNameError
from constraintrot.harnesses import HARNESSES

GROUP = "constraintrot.tools"
Make = Callable[[], str]


def tools(*modules: str) -> Door[Make]:
    return Door("tool", "tests_door", modules, GROUP)


def one() -> str:
    return "one"


def two() -> str:
    return "two"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points that installed packages are made to have."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str) -> EntryPoints:
        return EntryPoints(points).select(group=group)

    monkeypatch.setattr(door, "entry_points", entry_points)
    return points


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that an entry point or a door may name."""
    found = ModuleType("tests_door.more")
    monkeypatch.setitem(sys.modules, "tests_door", ModuleType("tests_door"))
    monkeypatch.setitem(sys.modules, "tests_door.more", found)
    return found


def test_what_is_registered_is_found() -> None:
    found = tools()
    assert found("one")(one) is one
    found("two")(two)
    assert found.get("one") is one
    assert found.get("two") is two
    assert found.names() == ["one", "two"]


def test_names_are_sorted() -> None:
    found = tools()
    for name in ("c", "a", "b"):
        found(name)(one)
    assert found.names() == ["a", "b", "c"]


def test_a_second_one_of_a_name_is_refused_and_the_first_stays() -> None:
    found = tools()
    found("one")(one)
    with pytest.raises(DuplicateNameError, match="tool 'one' is registered already"):
        found("one")(two)
    assert found.get("one") is one


def test_an_unknown_name_lists_the_known_ones() -> None:
    found = tools()
    found("two")(two)
    found("one")(one)
    with pytest.raises(UnknownNameError, match="unknown tool 'on'; known: one, two") as raised:
        found.get("on")
    assert (raised.value.noun, raised.value.name) == ("tool", "on")
    assert raised.value.known == ["one", "two"]
    assert isinstance(raised.value, ConstraintRotError)


def test_an_empty_door_says_so() -> None:
    with pytest.raises(UnknownNameError, match="known: none"):
        tools().get("one")


def test_installed_packages_add_theirs(installed: list[EntryPoint], module: ModuleType) -> None:
    found = tools()
    installed.append(EntryPoint("theirs", "tests_door.more:made", GROUP))
    installed.append(EntryPoint("other", "tests_door.none:made", "constraintrot.others"))
    calls: list[str] = []

    def load(name: str) -> object:
        calls.append(name)
        return found("theirs")(two)

    module.__getattr__ = load  # type: ignore[method-assign]  # a module's own hook (PEP 562)
    found("ours")(one)
    assert calls == []
    assert found.names() == ["ours", "theirs"]
    assert found.get("theirs") is two
    assert calls == ["made"]


def test_an_entry_point_cannot_take_a_name(installed: list[EntryPoint], module: ModuleType) -> None:
    found = tools()
    found("one")(one)
    module.__getattr__ = lambda name: found("one")(two)  # type: ignore[method-assign]
    installed.append(EntryPoint("one", "tests_door.more:made", GROUP))
    with pytest.raises(DuplicateNameError, match="'one'"):
        found.names()


def test_built_in_modules_are_imported_when_first_asked_for(
    installed: list[EntryPoint], module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported: list[str] = []
    found = tools("more")

    def import_module(name: str) -> ModuleType:
        imported.append(name)
        found("built_in")(one)
        return module

    monkeypatch.setattr(door, "import_module", import_module)
    assert imported == []
    assert found.names() == ["built_in"]
    assert found.get("built_in") is one
    assert imported == ["tests_door.more"]


@pytest.mark.parametrize(
    ("found", "noun", "name"),
    [
        (COMPACTORS, "compactor", "summarize"),
        (ATTACKS, "attack", "none"),
        (DEFENSES, "defense", "none"),
        (HARNESSES, "harness", "replay"),
    ],
)
def test_the_four_doors_have_their_own(found: Door[object], noun: str, name: str) -> None:
    assert name in found.names()
    assert found.get(name) is not None
    assert found.names() == sorted(set(found.names()))
    with pytest.raises(UnknownNameError, match=f"unknown {noun} 'nothing'; known: .*{name}"):
        found.get("nothing")
    with pytest.raises(DuplicateNameError, match=f"{noun} '{name}' is registered already"):
        found(name)(object())
