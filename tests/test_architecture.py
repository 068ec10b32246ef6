"""docs/architecture.md names the rooms and the layers that are there."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "constraintrot"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def _rooms() -> set[str]:
    return {one.parent.name for one in PACKAGE.glob("*/__init__.py")}


def _layers() -> list[set[str]]:
    """The layers of the contract, lowest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    return [set(re.split(r"\s*:\s*", layer)) for layer in reversed(contracts[0]["layers"])]


def test_the_tree_names_every_room() -> None:
    tree = PAGE.split("## The tree")[1].split("```")[1]
    named = set(re.findall(r"^  (\w+)/ ", tree, re.MULTILINE))
    linked = set(re.findall(r"\w+", tree.split("-> relative links")[0].splitlines()[-1]))
    assert named | linked == _rooms()


def test_there_are_at_most_26_rooms_and_13_layers() -> None:
    assert len(_rooms()) <= 26
    assert len(_layers()) <= 13


def test_the_page_lists_the_layers_of_the_contract() -> None:
    listed = re.findall(r"^\d+\. (.*)$", PAGE, re.MULTILINE)
    assert len(listed) == len(_layers())
    for line, layer in zip(listed, _layers(), strict=True):
        named = set(re.findall(r"`(\w+)`", line))
        assert named <= layer
        assert {name for name in layer if name in _rooms()} <= named
