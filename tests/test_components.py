"""The one way to add a component."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from constraintrot import components
from constraintrot.attacks import ATTACKS
from constraintrot.compactors import COMPACTORS
from constraintrot.components import ComponentRegistry, PluginWarning
from constraintrot.defenses import DEFENSES
from constraintrot.errors import ConstraintRotError, DuplicateNameError, UnknownNameError
from constraintrot.harnesses import HARNESSES
from constraintrot.scenario.predicate import PREDICATES

GROUP = "constraintrot.tools"
Make = Callable[[], str]


def tools() -> ComponentRegistry[Make]:
    return ComponentRegistry("tool", "tests_tools", GROUP)


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

    monkeypatch.setattr(components, "entry_points", entry_points)
    return points


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an importable package whose modules are the built-in tools."""
    (tmp_path / "tests_tools").mkdir()
    (tmp_path / "tests_tools" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "tests_tools"
    for name in [name for name in sys.modules if name.startswith("tests_tools")]:
        del sys.modules[name]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that an entry point may name."""
    made = ModuleType("their_tools")
    monkeypatch.setitem(sys.modules, "their_tools", made)
    return made


class Theirs(EntryPoint):
    """An entry point of an installed distribution."""

    dist = SimpleNamespace(name="their-package")  # type: ignore[assignment]


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
    with pytest.raises(
        DuplicateNameError, match=r"'one' is registered already, by tests\.test_comp"
    ):
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


def test_an_empty_registry_says_so() -> None:
    with pytest.raises(UnknownNameError, match="known: none"):
        tools().get("one")


def test_installed_packages_add_theirs(installed: list[EntryPoint], module: ModuleType) -> None:
    found = tools()
    installed.append(EntryPoint("theirs", "their_tools:made", GROUP))
    installed.append(EntryPoint("other", "their_tools.none:made", "constraintrot.others"))
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


def test_a_taken_name_names_the_package_and_leaves_the_first(
    installed: list[EntryPoint], module: ModuleType
) -> None:
    found = tools()
    found("one")(one)
    module.__getattr__ = lambda name: found("one")(two)  # type: ignore[method-assign]
    installed.append(Theirs("one", "their_tools:made", GROUP))
    with pytest.warns(PluginWarning, match="their-package.*'one' is registered already, by tests"):
        assert found.names() == ["one"]
    assert found.get("one") is one


@pytest.mark.parametrize("error", [ImportError("no such thing"), ValueError("at import"), KeyError])
def test_a_broken_package_is_named_and_left_out_whole(
    installed: list[EntryPoint], module: ModuleType, error: Exception
) -> None:
    found = tools()
    found("one")(one)

    def load(name: str) -> object:
        found("half")(two)
        raise error

    module.__getattr__ = load  # type: ignore[method-assign]
    installed += [
        Theirs("bad", "their_tools:made", GROUP),
        Theirs("missing", "no_such_module:made", GROUP),
    ]
    with pytest.warns(PluginWarning, match="'(bad|missing)' of the installed package their-pack"):
        assert found.names() == ["one"]
    with pytest.raises(UnknownNameError, match="known: one"):
        found.get("half")


def test_built_in_modules_are_imported_when_first_asked_for(folder: Path) -> None:
    found = tools()
    sys.modules["tests_tools.owner"] = owner = ModuleType("owner")
    vars(owner)["found"] = found
    text = "from tests_tools.owner import found\nfound({!r})(lambda: {!r})\n"
    (folder / "alone.py").write_text(text.format("alone", "alone"))
    (folder / "several.py").write_text(text.format("first", "1") + text.format("second", "2"))
    (folder / "_private.py").write_text("raise RuntimeError('a private module is nobody's')")
    assert found.get("alone")() == "alone"
    assert "tests_tools.several" not in sys.modules
    assert found.get("second")() == "2"
    assert found.names() == ["alone", "first", "second"]


def test_built_in_files_are_read_when_first_asked_for(folder: Path) -> None:
    read: list[str] = []

    def read_file(path: Path) -> None:
        if path.stem not in read:
            read.append(path.stem)
            found(path.stem)(one)

    found = ComponentRegistry[Make]("tool", "tests_tools", GROUP, read_file)
    for name in ("alone", "other", "_private"):
        (folder / f"{name}.yaml").touch()
    assert found.get("alone") is one
    assert read == ["alone"]
    assert found.names() == ["alone", "other"]
    with pytest.raises(UnknownNameError, match="known: alone, other"):
        found.get("_private")


# In a fresh process, where no module of a built-in component is imported yet.
_SCRIPT = """
import sys
from constraintrot.errors import DuplicateNameError
from constraintrot.extend import *
for line in sys.argv[1:]:
    try:
        exec(line)
    except DuplicateNameError as error:
        print(error)
"""
_TAKEN = [
    'compactor("inspect_trim")(lambda settings: "MINE")',  # its module has another name
    'compactor("playbook")(lambda settings: "MINE")',  # of an entry point of this package
    'defense("pin", hooks=["assemble"])(lambda deployment: Defense())',
    'harness("replay")(imported_when_made("mine:make"))',  # the factory is of this package
    'policy_channel("user")(lambda episode, given: episode)',
    'predicate("sql_effect")(type("Mine", (Predicate,), {}))',
    'attack("volume", knowledge="black_box")(lambda episode, settings: episode)',
]


def test_a_built_in_is_not_replaced_from_a_script() -> None:
    command = [sys.executable, "-c", _SCRIPT, *_TAKEN]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    refused = re.findall("^(.*) is registered already, by constraintrot$", ran.stdout, re.MULTILINE)
    assert len(refused) == len(_TAKEN), ran.stdout


@pytest.mark.parametrize(
    ("found", "noun", "name"),
    [
        (COMPACTORS, "compactor", "summarize"),
        (ATTACKS, "attack", "none"),
        (DEFENSES, "defense", "none"),
        (HARNESSES, "harness", "replay"),
        (PREDICATES, "predicate", "spend_above"),
    ],
)
def test_the_five_nouns_have_their_own(
    found: ComponentRegistry[object], noun: str, name: str
) -> None:
    assert name in found.names()
    assert found.get(name) is not None
    assert found.names() == sorted(set(found.names()))
    with pytest.raises(UnknownNameError, match=f"unknown {noun} 'nothing'; known: .*{name}"):
        found.get("nothing")
    with pytest.raises(DuplicateNameError, match=f"{noun} '{name}' is registered already"):
        found(name)(object())
