"""The names Inspect gives our components do not depend on how we are installed."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from inspect_ai._util.registry import registry_info

import constraintrot
import constraintrot._registry as registry

ROOT = Path(__file__).parent.parent
# Where the registered name is not the module's: two components of one name and
# a solver whose Python name says what it is.
ALIASES = {"utility_scorer": "utility", "episode_solver": "episode"}


@pytest.mark.parametrize("name", registry.__all__)
def test_every_component_is_namespaced(name: str) -> None:
    info = registry_info(getattr(registry, name))
    if info.type == "modelapi":
        assert info.name.split("/")[-1] == name
        return
    assert info.name == f"constraintrot/{ALIASES.get(name, name)}"


@pytest.mark.parametrize("folder", ["attacks", "defenses", "harnesses", "tasks"])
def test_folder_has_one_import_name(folder: str) -> None:
    assert folder not in sys.modules


def test_exported_names() -> None:
    assert constraintrot.__all__ == sorted(constraintrot.__all__)
    assert set(constraintrot.__all__) == {
        *("AuthorityError", "ConstraintRotError", "DuplicateNameError", "EpisodeError"),
        *("MissingExtraError", "ParameterError", "PinOverflowError", "ScenarioError"),
        *("UnknownNameError", "WeightsError"),
        *("PinnedBlock", "PinnedCompaction", "PinnedModel", "Pins", "Principal", "Receipt"),
        *("Registry", "entailment", "load_pins", "pin_filter", "pinned", "pinned_system"),
        *("Episode", "Scenario", "Survival", "Variant", "Verdict"),
        *("catalogue", "grade", "load", "stage"),
    }
    assert all(hasattr(constraintrot, name) for name in constraintrot.__all__)


def test_the_wheel_holds_every_folder(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (sdist,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(sdist)], cwd=tmp_path, check=True)
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    for name in (
        "tasks/catalogue.py",
        "attacks/none.py",
        "defenses/none.py",
        "harnesses/replay.py",
        "attacks/impersonate_rescind.yaml",
        "attacks/_frames.yaml",
        "runs/attack_search/genetic_templates.yaml",
        "tasks/distractors/es.yaml",
        "tasks/private/zh.yaml",
        "tasks/probes/firmware.md",
        "defenses/rampart/registry.py",
    ):
        assert f"constraintrot/{name}" in held
    assert sum(name.startswith("constraintrot/tasks/scenarios/") for name in held) == 31
    assert "constraintrot/py.typed" in held


def test_the_lock_file_names_no_index() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--hash=sha256:" in text
    assert "\ntorch==" not in text


def test_every_target_sets_up_the_environment_first() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    needs = {
        name: needed.split()
        for name, needed in re.findall(r"^([\w-]+): ?(.*)$", text, re.MULTILINE)
    }
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert phony[1].split() == list(dict.fromkeys(phony[1].split()))
    for target in phony[1].split():
        reached, waiting = set[str](), [target]
        while waiting:
            reached.add(name := waiting.pop())
            waiting += needs.get(name, [])
        assert "env" in reached, target
