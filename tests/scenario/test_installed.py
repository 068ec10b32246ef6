"""Scenario files of installed packages: what an entry point names is there like our own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace

import pytest

from constraintrot.components import PluginWarning
from constraintrot.errors import UnknownNameError
from constraintrot.scenario import files

OURS = files.FOLDER / "soft_spend.en.yaml"


class Theirs(EntryPoint):
    """An entry point of an installed distribution."""

    dist = SimpleNamespace(name="their-package")  # type: ignore[assignment]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an importable package that an entry point names."""
    folder = tmp_path / "their_scenarios"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    point = Theirs("any", "their_scenarios", files.GROUP)
    monkeypatch.setattr(
        files, "entry_points", lambda group: EntryPoints([point]).select(group=group)
    )
    _forget()
    yield folder
    sys.modules.pop("their_scenarios", None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cached in (files.catalogue, files.folders, files.installed, files._read_once):
        cached.cache_clear()


def test_a_family_of_an_installed_package_is_loaded_and_listed(package: Path) -> None:
    text = OURS.read_text(encoding="utf-8").replace("family: soft_spend", "family: soft_rent")
    (package / "soft_rent.en.yaml").write_text(text, encoding="utf-8")
    scenario = files.load("soft_rent")
    assert scenario.family == "soft_rent"
    assert files.locales("soft_rent") == ("en",)
    assert scenario in files.every()
    assert "soft_rent" not in files.catalogue()
    with pytest.raises(UnknownNameError, match="unknown locale of soft_rent 'es'; known: en"):
        files.load("soft_rent", "es")


def test_a_file_is_laid_over_one_of_ours_or_beside_it(package: Path) -> None:
    (package / "soft_rent.en.yaml").write_text(
        "extends: soft_spend\nfamily: soft_rent\nlocale: en\ntitle: Rent\n", encoding="utf-8"
    )
    (package / "soft_lease.en.yaml").write_text(
        "extends: soft_rent\nfamily: soft_lease\nlocale: en\n", encoding="utf-8"
    )
    assert files.load("soft_lease").title == "Rent"
    assert files.load("soft_lease").trigger == files.load("soft_spend").trigger


def test_a_family_that_is_there_already_is_left_out_and_the_package_named(package: Path) -> None:
    (package / "soft_spend.en.yaml").write_text("family: soft_spend\n", encoding="utf-8")
    with pytest.warns(PluginWarning, match="their-package.*family soft_spend is there already"):
        assert files.load("soft_spend").family == "soft_spend"


def test_a_package_without_scenarios_is_named(package: Path) -> None:
    with pytest.warns(PluginWarning, match="their-package.*no <family>.<locale>.yaml"):
        assert "soft_spend" in files.folders()
