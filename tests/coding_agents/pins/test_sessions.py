"""Sessions of all agents in which everything changes: no rule is void, none is said twice over.

An agent is its context here: what its hooks were handed since its last compaction. Claude Code
drops a text that the conversation has held since then. Qwen Code has the text of its start in
front of the conversation, in the system prompt, and does not always start anew at a compaction.
OpenHands starts the hooks of one file alone, the project's where there is one.
The rules are compiled in this process, so that no machine is too slow for a hook's time limits.
"""

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from constraintrot.coding_agents.pins import compiled, hook
from constraintrot.coding_agents.pins.agents import AGENTS, Scope
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.installing import install, uninstall
from constraintrot.coding_agents.pins.record import Pin
from constraintrot.coding_agents.pins.settings_edit import root_of
from tests.helpers import soaked

SCOPES: tuple[Scope, ...] = ("user", "project")
WITHIN = {"gemini": ["AfterTool"], "opencode": [], "pi": []}
TURN = {
    "gemini": "BeforeAgent",
    "copilot": "UserPromptSubmit",
    "openhands": "UserPromptSubmit",
    "opencode": "system.transform",
    "pi": "before_agent_start",
}


@dataclass
class Agent:
    """One agent at work, with the pins of both scopes.

    Attributes:
        name: of the agent.
        random: chooses what happens.
        folder: with the rules and the project.
        rules: the rules in force, by scope; None while they cannot be read.
        context: what the agent holds of what it was handed.
        system: the same, in the system prompt.
        known: all that it was handed since its last compaction, for an agent that drops it.
    """

    name: str
    random: Random
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    rules: dict[Scope, str | None] = field(default_factory=dict[Scope, str | None])
    last: dict[Scope, str] = field(default_factory=dict[Scope, str])
    context: list[str] = field(default_factory=list[str])
    system: list[str] = field(default_factory=list[str])
    known: set[str] = field(default_factory=set[str])
    calls: int = 0
    clock: float = 0.0

    def pin(self, scope: Scope) -> Pin:
        return Pin(AGENTS[self.name], scope, self.folder / "project")

    def install(self, scope: Scope) -> None:
        path = self.folder / f"{scope}.txt"
        rules = f"Rule {self.random.randrange(4)} of the {scope}'s."
        path.write_text(f"{rules}\n")
        install(self.pin(scope), Source("rules", path))
        self.rules[scope] = self.last[scope] = rules

    def amend(self) -> None:
        """Change the rules of a scope, perhaps back, or so that they cannot be read."""
        scope = self.random.choice(list(self.rules))
        path = self.folder / f"{scope}.txt"
        if self.random.random() < 0.2:
            path.write_bytes(b"\xff")
            self.rules[scope] = None
        else:
            rules = f"Rule {self.random.randrange(4)} of the {scope}'s."
            path.write_text(f"{rules}\n")
            self.rules[scope] = self.last[scope] = rules

    def edit(self) -> None:
        """Change something of the user's in the settings, between and around our part."""
        scope = self.random.choice(list(self.rules))
        if self.name == "openhands" and scope == "project":
            return  # A file that stays would go on hiding the user's.
        path = self.pin(scope).settings
        if path.suffix != ".json":
            return
        value: Any = root_of(path.read_text())
        if self.name != "openhands":  # It reads nothing beside the hooks.
            value["mine"] = self.random.randrange(9)
        entries = value["hooks"].setdefault("PostToolUse", [])
        if len(entries) < 4:
            mine = {"hooks": [{"type": "command", "command": "true"}]}
            entries.insert(self.random.randrange(len(entries) + 1), mine)
        path.write_text(json.dumps(value, indent=self.random.choice([None, 2, "\t"])))

    def fire(self, event: str, source: str | None = None) -> None:
        """Start the hooks of both scopes, in any order."""
        given = {"hook_event_name": event, "session_id": self.name, "source": source}
        given["cwd"] = str(self.folder / "project")
        # The next event comes at once, or later; the hooks of one are started together.
        self.clock += self.random.choice([0, hook.TOGETHER_SECONDS])
        scopes = list(self.rules)
        if self.name == "openhands":
            scopes = scopes if len(scopes) == 1 else ["project"]
        self.random.shuffle(scopes)
        into, texts = self.context, list[str]()
        if self.name == "qwen" and event == "SessionStart":
            into = self.system
            into.clear()
        for scope in scopes:
            folder = str(self.pin(scope).folder)
            self.monkeypatch.setattr(hook, "HERE", folder)
            answer: Any = hook.answer(folder, self.name, dict(given))
            self.calls += 1
            text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
            if text and not (self.name == "claude" and text in self.known):
                texts.append(text)
                self.known.add(text)
        # Copilot CLI takes the text of one hook of an event.
        into += texts[-1:] if self.name == "copilot" else texts

    def turn(self) -> None:
        if self.name in TURN:
            if self.name in ("opencode", "pi"):
                self.context.clear()  # The plugin's text is in the system prompt of each request.
            self.fire(TURN[self.name])
            return
        if self.random.random() < 0.3:
            self.fire("SessionStart", "resume")
        self.fire("UserPromptSubmit")

    def compact(self) -> None:
        self.context.clear()
        self.known.clear()
        if self.name == "qwen" and self.random.random() < 0.5:
            self.turn()
        elif self.name not in TURN:
            self.fire("SessionStart", "compact")
            held = [*self.system, *self.context]
            assert sum(text.count('the list "') for text in held) == len(self.rules)
        else:
            self.turn()

    def check(self) -> None:
        """The last of each list is that in force, and an unreadable one is said to be."""
        for scope, rules in self.rules.items():
            held = [*self.system, *self.context]
            holding = [text for text in held if f'the list "{scope}", revision' in text]
            said = holding[-1].rpartition(f'the list "{scope}", revision')[2]
            said = said.partition('the list "')[0]
            assert self.last[scope] in said, (self.name, scope, held)
            if rules is None:
                assert "WARNING from constraintrot" in holding[-1]


def _compile(command: Sequence[str], **_: object) -> object:
    """Compile the rules of the folder at the end of a hook's command."""
    faults: list[str] = []
    status = compiled.main([command[-1]], faults.append)
    return SimpleNamespace(returncode=status, stderr="".join(faults).encode())


@pytest.mark.parametrize("calls", soaked([24, 400], [24]))
@pytest.mark.parametrize("name", AGENTS)
def test_whatever_happens_the_last_list_of_each_name_is_in_force(
    name: str, calls: int, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    agent = Agent(name, Random(name), tmp_path, monkeypatch)
    monkeypatch.setattr(subprocess, "run", _compile)
    now = {**vars(time), "time": lambda: agent.clock}
    monkeypatch.setattr(hook, "time", SimpleNamespace(**now))
    settings = {scope: agent.pin(scope).settings for scope in SCOPES}
    for scope in SCOPES:
        agent.install(scope)
    if name not in TURN:
        agent.fire("SessionStart", "startup")
    while agent.calls < calls:
        what = agent.random.random()
        if what < 0.15:
            agent.amend()
        elif what < 0.2:
            agent.edit()
        elif what < 0.3:
            agent.compact()
        elif what < 0.33:
            gone = agent.random.choice(SCOPES)
            if gone in agent.rules and len(agent.rules) == 2:
                uninstall(agent.pin(gone))
                del agent.rules[gone]
            elif len(agent.rules) == 1:
                agent.install(next(one for one in SCOPES if one not in agent.rules))
        elif what < 0.5 and agent.name not in ("opencode", "openhands", "pi"):
            agent.fire(WITHIN.get(name, ["PostToolUse"])[0])
        agent.turn()
        agent.check()
    for scope in list(agent.rules):
        uninstall(agent.pin(scope))
    for path in settings.values():
        left: Any = root_of(path.read_text()) if path.exists() else {}
        assert "hook.py" not in json.dumps(left)
        assert not path.exists() or left.keys() <= {"mine", "hooks"}
