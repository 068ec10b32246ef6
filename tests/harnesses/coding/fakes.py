"""Harnesses of the agent in ``fake_agent.py``: one for each model API, and one for each misdeed."""

import os
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

from constraintrot.coding_agents.box import Program
from constraintrot.coding_agents.catalogue import Package
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, FullOn, NativeCall, Place
from constraintrot.coding_agents.install import Installed
from constraintrot.coding_agents.pins import agents
from constraintrot.coding_agents.sandbox import without_network
from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, harness
from constraintrot.evaluation.play_settings import Network
from constraintrot.harnesses.coding.play import playing

PROGRAM = Path(__file__).with_name("fake_agent.py")
PACKAGE = Package("fake", "Fake agent", "fake-agent", "1.2.3", "none", 0, "fake")
INSTALLED = Installed(PACKAGE, Path(sys.executable), "1.2.3")
HOOK = agents.Agent(
    PACKAGE, ("FAKE_HOME", ".fake", ""), "hooks.json", ".fake/hooks.json", "a user message",
    events=("SessionStart",),
)  # fmt: skip
APIS = ("chat", "responses", "messages", "gemini")
# Where the system cannot do without a network, the fakes have one: they run nothing of a model's.
NETWORK: Network = "host" if without_network(processes=False) is None else "none"


class Fake(Agent):
    name: ClassVar[str] = "fake"
    memory_file: ClassVar[str] = ".fake/AGENTS.md"
    asks_for_summary: ClassVar[re.Pattern[str] | None] = re.compile(r"Write the summary")

    def __init__(self, api: str, misdeed: str = "") -> None:
        self.api, self.misdeed = api, misdeed

    @property
    def package(self) -> Package:
        return PACKAGE

    def read_call(self, path: Path) -> NativeCall:
        return "read", {"path": str(path)}

    def delegate_call(self, task: str) -> NativeCall | None:
        return None if self.misdeed else ("delegate", {"task": task})

    def prepare(self, place: Place) -> None:
        return None

    async def start(self, place: Place) -> Dialogue:
        argv = [
            sys.executable, str(PROGRAM), self.api, place.box.url, str(place.window // 2),
            place.system, str(place.box.folder / "tools.json"), self.misdeed,
        ]  # fmt: skip
        return Lines(await place.box.start("Fake agent", argv, {}))


class Refused(Fake):
    """The same agent, whose requests are refused when its window is full."""

    full_on: ClassVar[FullOn] = "refusal"


def commands(folder: Path) -> list[str]:
    """The commands of the processes whose environment names a folder."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(folder) in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


class Lines(Dialogue):
    def __init__(self, program: Program) -> None:
        self._program = program

    async def say(self, text: str) -> None:
        await self._program.send({"say": text})
        await self._program.receive()


def register() -> None:
    """Register the harnesses ``fake_API`` and ``fake_MISDEED``, and two as agents are named."""
    agents: dict[str, Any] = {api: Fake(api) for api in APIS}
    agents |= {
        name: Fake("responses", name) for name in ("dies", "hangs", "daemon", "opaque", "deaf")
    }
    agents["refused"] = Refused("chat")
    agents = {f"fake_{name}": agent for name, agent in agents.items()}
    agents |= {"coding/fake": agents["fake_chat"], "coding/dies": agents["fake_dies"]}
    for name, agent in agents.items():
        harness(
            name,
            hooks=FRAMEWORK_HOOKS,
            modes=("auto",),
            network_check=lambda network: None,
            repeats=True,
        )(playing(agent))
