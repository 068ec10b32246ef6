"""Registry, pins, operator channel and the frameworks' hooks are used without the benchmark."""

import json
import subprocess
import sys
from importlib.metadata import Distribution

import pytest
from packaging.requirements import Requirement

from constraintrot.defenses import pinning
from tests.small_install import distributions, project

pytestmark = pytest.mark.early

# What `pip install constraintrot` does not bring, and what an agent with pins has no use for.
BLOCKED = ("inspect_ai", "pandas", "scipy", "lingua")
# Each part in order, and what it raised; what comes first is not helped by what comes later.
IMPORT = f"""
import importlib, importlib.abc, json, sys, traceback

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)

sys.meta_path.insert(0, Blocked())
raised = {{}}
for name, code in json.load(sys.stdin).items():
    try:
        exec(code)
    except BaseException:
        raised[name] = traceback.format_exc()
print("\\n" + json.dumps(raised))
"""
LIGHT = (
    "rampart", "rampart.toolschemas", "operator", "pinning", "pinning.pinned_block",
    "pinning.message_list", "tool_gate", "operator_channel",
)  # fmt: skip
# The modules of the front door that hold a framework's pins; each has an extra of its name.
(_HARNESSES,) = project()["optional-dependencies"]["harnesses"]
FRAMEWORKS = sorted(name.replace("-", "_") for name in Requirement(_HARNESSES).extras)
LISTED = "from constraintrot.defenses import DEFENSES\nassert 'pin_gate' in DEFENSES.names()"
PINNED = """
from constraintrot.defenses import pinning
from tests.small_install import distributions
try:
    pinning.PinnedModel
except ModuleNotFoundError as error:
    assert error.name == "inspect_ai"
else:
    raise AssertionError("PinnedModel was imported without Inspect")
try:
    from constraintrot import PinnedModel
except ImportError as error:
    assert "pip install 'constraintrot[inspect]'" in str(error), error
else:
    raise AssertionError("PinnedModel was imported without Inspect")
"""


def imported(module: str) -> str:
    return f"importlib.import_module('constraintrot.{module}')"


@pytest.fixture(scope="module")
def raised() -> dict[str, str]:
    """What each part raised in one process that has no Inspect."""
    parts = {
        "list": LISTED,
        **{module: imported(f"defenses.{module}") for module in LIGHT},
        "pinned": PINNED,
    }
    parts |= {module: imported(module) for module in FRAMEWORKS}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT],
        input=json.dumps(parts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_what_protects_an_agent_needs_no_inspect(raised: dict[str, str]) -> None:
    assert not {module: raised[module] for module in LIGHT if module in raised}


def test_the_defenses_are_listed_without_inspect(raised: dict[str, str]) -> None:
    assert "list" not in raised, raised["list"]


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_a_framework_s_hook_needs_no_inspect(raised: dict[str, str], module: str) -> None:
    needed = distributions(module.replace("_", "-"))
    if missing := [name for name in needed if not list(Distribution.discover(name=name))]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    assert module not in raised, raised[module]


def test_a_name_of_pinning_that_needs_inspect_says_so(raised: dict[str, str]) -> None:
    assert "pinned" not in raised, raised["pinned"]


def test_the_names_of_pinning() -> None:
    named = sorted(set(pinning.__all__) - {"Judge"})
    assert [getattr(pinning, name).__name__ for name in named] == named
    assert callable(pinning.Judge)
    assert not hasattr(pinning, "Unknown")
