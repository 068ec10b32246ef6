"""A pin, and the record of its installation: ``install.json`` in the pin's folder."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import platformdirs

from constraintrot.coding_agents.pins.agents import Agent, Scope, agent_named
from constraintrot.coding_agents.pins.file_edit import PinInstallError
from constraintrot.coding_agents.pins.owners import repository_at
from constraintrot.files import replace

RECORD: Final = "install.json"
_VERSION: Final = 1


@dataclass(frozen=True)
class Pin:
    """A pin for one agent in one scope."""

    agent: Agent
    scope: Scope
    project: Path  # the project's folder; for the scope ``user``, the command's working folder
    home: Path | None = None  # a throw-away home for a trial; None for the user's own

    @property
    def settings(self) -> Path:
        return self.agent.settings(self.scope, self.project, self.home)

    @property
    def folder(self) -> Path:
        name = sha256(os.fsencode(self.settings)).hexdigest()[:12]
        return pins_folder(self.home) / f"{self.agent.name}-{self.scope}-{name}"

    @property
    def part(self) -> str:
        """The text by which the commands of this pin's hook are recognised, in any quoting."""
        return f"{self.folder.name}/hook.py"

    @property
    def named(self) -> dict[str, Any]:
        """The list's name (its scope), and what the other scope's hook has to know about it."""
        variable = self.agent.user_folder[0]
        return {
            "name": self.scope,
            "agent": self.agent.name,
            "scope": self.scope,
            "project": str(self.project) if self.scope == "project" else None,
            "settings": str(self.settings),
            "hook": self.part,
            "moved": [variable, "" if self.home else os.environ.get(variable, "")],
            # A plugin adds its text to each request; only hooks can get in each other's way.
            "merges": self.settings.suffix == ".json",
        }


@dataclass
class Record:
    """The changes to the user's files, as ``install.json`` records them."""

    agent: str
    scope: Scope
    project: str
    summarizer: bool = False  # whether the summarizer is told too
    # An entry for each file, as ``edits`` describes.
    files: list[dict[str, Any]] = field(default_factory=list)
    # The folder that the record was read from; None for a new record.
    folder: Path | None = field(default=None, compare=False)

    @property
    def pin(self) -> Pin:
        return Pin(agent_named(self.agent), self.scope, Path(self.project))

    def applies(self, here: Path) -> bool:
        """Return whether an agent that works in a folder reads the settings of this pin."""
        place, project = here.resolve(), Path(self.project).resolve()
        reads = agent_named(self.agent).reads
        root = repository_at(place) or Path(place.anchor if reads == "all parents" else place)
        if reads.endswith("parents"):
            within = place.is_relative_to(project) and project.is_relative_to(root)
        else:
            within = project in (place, root if reads == "root" else place)
        return not self.elsewhere and (self.scope == "user" or within)

    @property
    def elsewhere(self) -> bool:
        """True if the variable that moves the agent's settings had another value at the installation."""
        return self.folder is not None and self.folder.name != self.pin.folder.name


def pins_folder(home: Path | None = None) -> Path:
    """Return the folder of all pins of this user, or of another home."""
    data = home / ".local/share/constraintrot" if home else None
    return (data or platformdirs.user_data_path("constraintrot")) / "pins"


def records() -> list[Record]:
    return [
        record
        for folder in sorted(pins_folder().glob("*-*-*"))
        if (record := read_record(folder)) is not None
    ]


def together(record: Record, known: Sequence[Record], here: Path) -> list[Record]:
    """Return the pins of an agent that are in force together with one of them, the user's first."""
    project = Path(record.project) if record.scope == "project" else here
    found = [
        one
        for one in known
        if one.agent == record.agent
        and (one is record or (one.scope != record.scope and one.applies(project)))
    ]
    return sorted(found, key=lambda one: one.scope, reverse=True)


def read_record(folder: Path) -> Record | None:
    """Return the record in a folder, or None; raise PinInstallError if it is damaged."""
    path = folder / RECORD
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_bytes())
        if kept.pop("version") != _VERSION:
            raise ValueError("of another version")
        return Record(**kept, folder=folder)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise PinInstallError(
            f"{path} is damaged ({error}); what the settings were before is in {folder}"
        ) from None


def write_record(folder: Path, record: Record) -> None:
    kept = {"version": _VERSION, **vars(record)}
    del kept["folder"]
    data = json.dumps(kept, indent=1).encode()
    replace(folder / RECORD, data, PinInstallError)
