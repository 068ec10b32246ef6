"""A pin from its installation to its removal, as a user has it: ``python -m results.tools.pin_round_trip``.

For each installed agent a throw-away HOME with settings as a user may have them (a hook and
a comment of his own, an odd indentation), and in it: ``constraintrot pin install``, a session
of the agent with a compaction, ``pin status``, ``pin uninstall``. Then each file of the
settings is compared with what it was, byte for byte. Exit status 1 if one differs, or
the pin was not in the request after the compaction.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio

from constraintrot.coding_agents import install
from constraintrot.coding_agents.box import Box, opened
from constraintrot.coding_agents.catalogue import PACKAGES, Package, package
from constraintrot.coding_agents.drivers import DRIVERS
from constraintrot.coding_agents.drivers.agent import Place
from constraintrot.coding_agents.pins.agents import agent_named
from constraintrot.evaluation.play_settings import Network
from constraintrot.harnesses.coding.many_rules import Script, Turn, filled, hold

RULE = "Never run a migration against the production database."
SAID = "Crate 77 stays sealed until Friday."
TURNS = 3
_NOT_ASKED = "not asked"
# What the user has there before, below HOME; what the harness needs to start an agent comes
# to it. Nothing of it does anything.
_HOOKS = '{"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}'
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "claude": {".claude/settings.json": f'{{\n   "hooks": {_HOOKS},\n\n "cleanupPeriodDays": 9}}'},
    "codex": {".codex/hooks.json": f'{{\n\t"hooks": {_HOOKS}}}\n\n'},
    "gemini": {},
    "copilot": {".copilot/settings.json": '// mine\r\n{"theme": "dark"}'},
    "opencode": {".config/opencode/plugins/mine.js": "export const Mine = async () => ({})\r\n"},
    # It has one file of hooks, which the harness writes.
    "openhands": {},
    "pi": {".pi/agent/extensions/mine.ts": "export default function (pi) {}  // mine\n"},
    "qwen": {},
}


@dataclass(frozen=True)
class Trip:
    """What came of it.

    Attributes:
        agent: title and version.
        settings: the file that the pin is written into, below HOME.
        compacted: number of the last request for a summary.
        after: number of the next request of the agent's.
        roles: the roles in which that request held the pinned rule; none where it did not.
        said: whether it held what the user had said before the compaction.
        status: the line of ``pin status`` that says whether the pin was proved.
        differs: files of the settings that are not as they were.
    """

    agent: str
    settings: str
    compacted: int
    after: int
    roles: str
    said: bool
    status: str
    differs: tuple[str, ...]

    @property
    def well(self) -> bool:
        """Whether the pin held, and nothing is left of it."""
        proved = self.status == _NOT_ASKED or self.status.startswith("PROVED")
        return bool(self.roles) and not self.differs and proved


def script() -> Script:
    """A few turns, a compaction, and a request."""
    turns = [filled(number, SAID if number == 1 else "") for number in range(1, TURNS + 1)]
    return Script({"said": SAID, "pin": RULE}, (*turns, Turn("What is left to do?")), full=TURNS)


async def travel(which: Package, network: Network, *, status: bool = True) -> Trip:
    """Install the pin, work, compact, prove it, and take it out.

    Args:
        which: the agent, which is installed.
        network: as the task's parameter.
        status: whether to have ``pin status`` play a session of its own.
    """
    async with opened(network) as box:
        home = _Home(which, box)
        requests = await hold(DRIVERS[which.agent], script(), box, before=home.pin)
        last = max(one["number"] for one in requests if one["kind"] == "summary")
        after = next(o for o in requests if o["number"] > last and o["turn"] == TURNS + 1)
        proved = home.status(network) if status else _NOT_ASKED
        home.unpin()
        return Trip(
            f"{which.title} {install.needed(which).version}",
            str(home.settings.relative_to(box.home)),
            last,
            after["number"],
            ", ".join(one.split()[0] for one in after["rules"].get("pin", [])),
            "said" in after["rules"],
            proved,
            home.differs(),
        )


class _Home:
    """A user's HOME, with the settings of one agent, and a rule to pin."""

    def __init__(self, which: Package, box: Box) -> None:
        self._which, self._box = which, box
        self.settings = agent_named(which.agent).settings("user", box.work, box.home)
        self._before: dict[Path, bytes] = {}

    def pin(self, place: Place) -> None:
        """Write the settings, note them, and pin the rule."""
        for name, text in SETTINGS[self._which.agent].items():
            place.write(place.box.home / name, text)
        if self._which.agent in ("gemini", "qwen"):
            # Each reads one file, which the harness has written; comments are allowed in it.
            place.write(self.settings, f"// mine\n{self.settings.read_text(encoding='utf-8')}")
        rules = place.box.home / "rules.txt"
        place.write(rules, f"{RULE}\n")
        self._before = self._files()
        self._run("install", self._which.agent, "--rules", str(rules))

    def status(self, network: Network) -> str:
        """What ``pin status`` says of the pin."""
        program = str(install.needed(self._which).program)
        words = ("status", self._which.agent, "--program", program, "--network", network)
        lines = self._run(*words, check=False).splitlines()
        said = next((line.strip() for line in lines if "PROVED" in line), lines[-1].strip())
        return "PROVED with the agent" if said.startswith("PROVED") else said.partition(", in ")[0]

    def unpin(self) -> None:
        """Take the pin out."""
        self._run("uninstall", self._which.agent)

    def differs(self) -> tuple[str, ...]:
        """Files of the settings that are not as they were before the pin."""
        now = self._files()
        paths = sorted(self._before.keys() | now.keys())
        changed = [path for path in paths if self._before.get(path) != now.get(path)]
        return tuple(str(path.relative_to(self._box.home)) for path in changed)

    def _files(self) -> dict[Path, bytes]:
        """The file that the pin is written into, and the user's own files."""
        mine = [self._box.home / name for name in SETTINGS[self._which.agent]]
        return {path: path.read_bytes() for path in (self.settings, *mine) if path.exists()}

    def _run(self, *words: str, check: bool = True) -> str:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "constraintrot", "pin", *words],
            cwd=self._box.work, env={**kept, "HOME": str(self._box.home)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(f"pin {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout


def table(trips: Sequence[Trip]) -> str:
    """The trips as a table."""
    today = datetime.now(UTC).date().isoformat()
    lines = [
        f"`constraintrot pin install`, a session with a compaction, `pin status`, `pin uninstall`,"
        f" in a throw-away HOME; run {today}. *After*: the settings, byte for byte.",
        "",
        "| agent | written into | pin after the compaction | what the user had said | status | after |",
        "|---|---|---|---|---|---|",
    ]
    for trip in trips:
        held = f"role {trip.roles}" if trip.roles else "NOT there"
        lines.append(
            f"| {trip.agent} | `~/{trip.settings}` | {held} (#{trip.compacted} -> #{trip.after})"
            f" | {'there' if trip.said else 'gone'} | {trip.status}"
            f" | {'differ: ' + ', '.join(trip.differs) if trip.differs else 'as before'} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the trips, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("agents", nargs="*", help="their names; all that are installed by default")
    parser.add_argument("--network", choices=["none", "host"], default="none")
    parser.add_argument("--no-status", action="store_true", help="leave `pin status` out")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    agents = [package(name) for name in given.agents]
    agents = agents or [one for one in PACKAGES if install.find(one)]
    trips: list[Trip] = []
    for one in agents:
        trip = anyio.run(partial(travel, one, given.network, status=not given.no_status))
        print(trip, flush=True)
        trips.append(trip)
    if given.markdown:
        given.markdown.write_text(table(trips), encoding="utf-8")
    print(table(trips))
    sys.exit(0 if all(trip.well for trip in trips) else 1)


if __name__ == "__main__":
    main()
