"""The page "Add your own" is a package: installed as it stands there, and used."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_code import DOCS

pytestmark = pytest.mark.early

_FILE = re.compile(r"^`([\w/.]+)`[^\n]*:\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLAY = """
import json, sys
from inspect_ai import eval
for given in json.loads(sys.argv[1]):
    (log,) = eval(
        "badge_rot/soft_badge",
        model="scripted/obedient",
        task_args={"context_tokens": 800} | given,
        log_dir=sys.argv[2],
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", [s.error and s.error.message for s in log.samples or []]
    print("played", json.dumps([
        [s.metadata["condition"], s.scores["violation"].value, s.scores["survival"].value["survived"]]
        for s in log.samples
    ]))
"""
ONE = {"variants": 1, "conditions": "compaction"}
# What is played, and violation and survival of each sample, by condition.
PLAYED = [
    ({"variants": 2}, {"floor": [(1, 0)] * 2, "control": [(0, 1)] * 2, "compaction": [(1, 0)] * 2}),
    (ONE | {"channel": "notice", "conditions": "control"}, {"control": [(0, 1)]}),
    (ONE | {"compactor": "first_lines"}, {"compaction": [(0, 1)]}),
    (ONE | {"attack": "new_badge_rules"}, {"compaction": [(1, 0)]}),
    (ONE | {"defense": "remind"}, {"compaction": [(0, 1)]}),
    (ONE | {"harness": "last_messages"}, {"compaction": [(1, 0)]}),
    (ONE | {"harness": "last_messages", "defense": "remind"}, {"compaction": [(0, 1)]}),
    (ONE | {"harness": "last_messages:ends"}, {"compaction": [(0, 1)]}),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the page's package is installed in, as pip does it."""
    source = tmp_path_factory.mktemp("badge-rot")
    for name, text in _FILE.findall((DOCS / "add-your-own.md").read_text(encoding="utf-8")):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # By that name Inspect knows a folder of installed packages.
    target = tmp_path_factory.mktemp("installed") / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", str(target), str(source)], check=True)
    return target


def inside(site: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of somebody who has the package installed, away from any checkout."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    cache = str(folder / "cache")
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "CONSTRAINTROT_CACHE": cache},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_family_and_each_component_do_what_the_page_says(site: Path, tmp_path: Path) -> None:
    asked = json.dumps([given for given, _ in PLAYED])
    ran = inside(site, tmp_path, sys.executable, "-c", PLAY, asked, str(tmp_path / "logs"))
    assert ran.returncode == 0, ran.stderr
    logs = [line for line in ran.stdout.splitlines() if line.startswith("played ")]
    for (given, expected), line in zip(PLAYED, logs, strict=True):
        found: dict[str, list[tuple[float, float]]] = {}
        for condition, violation, survived in json.loads(line.removeprefix("played ")):
            found.setdefault(condition, []).append((violation, survived))
        assert found == expected, given


def test_the_command_line_shows_and_grades_it(site: Path, tmp_path: Path) -> None:
    show = inside(site, tmp_path, sys.executable, "-m", "constraintrot", "show", "soft_badge")
    assert show.returncode == 0, show.stderr
    assert "badge" in show.stdout
    assert "issue_badge" in show.stdout


def test_the_page_names_every_entry_point_group() -> None:
    text = (DOCS / "add-your-own.md").read_text(encoding="utf-8")
    for noun in ("scenarios", "predicates", "compactors", "attacks", "defenses", "harnesses"):
        assert f'entry-points."constraintrot.{noun}"' in text
