"""Registry, pins, operator channel and the frameworks' hooks are used without the benchmark."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from constraintrot.defenses import pinning

# What `pip install constraintrot` does not bring, and what an agent with pins has no use for.
BLOCKED = ("inspect_ai", "pandas", "scipy", "lingua")
IMPORT = f"""
import importlib, importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)

sys.meta_path.insert(0, Blocked())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""
LIGHT = (
    "rampart", "rampart.toolschemas", "operator", "pinning", "pinning.pinned_block", "tool_gate",
    "extraction", "operator_channel",
)  # fmt: skip
# By module of constraintrot.defenses.frameworks, the package that it is for.
FRAMEWORKS = {
    "agent_framework": "agent_framework",
    "autogen": "autogen_core",
    "deepagents": "deepagents",
    "google_adk": "google.adk",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "litellm": "litellm",
    "openai_agents": "agents",
}


def run(*modules: str, then: str = "") -> None:
    names = [f"constraintrot.defenses.{module}" for module in modules]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT + then, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_protects_an_agent_needs_no_inspect() -> None:
    run(*LIGHT)


def test_the_defenses_are_listed_without_inspect() -> None:
    run(then="from constraintrot.defenses import DEFENSES\nassert 'pin_gate' in DEFENSES.names()")


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_a_framework_s_hook_needs_no_inspect(module: str) -> None:
    package = FRAMEWORKS[module]
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    run(f"frameworks.{module}")


def test_a_name_of_pinning_that_needs_inspect_says_so() -> None:
    run(
        "pinning",
        then="""
from constraintrot.defenses import pinning
try:
    pinning.PinnedModel
except ModuleNotFoundError as error:
    assert error.name == "inspect_ai"
else:
    raise AssertionError("PinnedModel was imported without Inspect")
""",
    )


def test_the_names_of_pinning() -> None:
    named = sorted(set(pinning.__all__) - {"Judge"})
    assert [getattr(pinning, name).__name__ for name in named] == named
    assert callable(pinning.Judge)
    assert not hasattr(pinning, "Unknown")
