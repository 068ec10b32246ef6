"""The interface of a coding agent: how it is configured, spoken to, and compacted."""

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from inspect_ai.tool import ToolInfo

from constraintrot.coding_agents.box import Box
from constraintrot.coding_agents.catalogue import Package, package
from constraintrot.coding_agents.drivers import mcp_server
from constraintrot.coding_agents.install import Installed
from constraintrot.coding_agents.wire.messages import ModelRequest
from constraintrot.episode.messages import last_user_text

NativeCall: TypeAlias = tuple[str, dict[str, Any]]
FullOn: TypeAlias = Literal["reply", "call", "refusal"]
# A context window that no history of an episode fills.
ENDLESS = 10_000_000
# The context window of an agent that should compact, in tokens.
WINDOW = 100_000
_TOOLS = "tools.json"


@dataclass(frozen=True)
class Place:
    """The set-up of an agent for one episode."""

    box: Box
    installed: Installed
    system: str  # the operator's text for the system prompt
    tools: tuple[ToolInfo, ...]  # the tools of the scenario's MCP server
    compacts: bool  # whether the agent compacts at its own threshold; otherwise never
    reads_files: bool = False  # whether its tool for reading files is on
    delegates: bool = False  # whether its tool for sub-agents is on
    # Whether compaction keeps the agent's default number of newest messages; otherwise it keeps the
    # fewest possible, so that a short history is compacted.
    keeps_tail: bool = False

    @property
    def mcp(self) -> list[str]:
        return [
            sys.executable, "-I", "-S", mcp_server.__file__, str(self.box.folder / _TOOLS),
            f"{self.box.url}/tool",
        ]  # fmt: skip

    @property
    def server(self) -> dict[str, Any]:
        """That command as most agents' settings state it."""
        command, *arguments = self.mcp
        return {"command": command, "args": arguments}

    @property
    def window(self) -> int:
        return WINDOW if self.compacts else ENDLESS

    def write(self, path: Path, text: str | object) -> None:
        """Write a file of the box; an object that is not a string is written as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = text if isinstance(text, str) else json.dumps(text, indent=1)
        path.write_text(text, encoding="utf-8")

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The scenario's tools as an MCP server lists them."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters.model_dump(exclude_none=True),
                "annotations": {"readOnlyHint": True},
            }
            for tool in self.tools
        ]

    def write_tools(self) -> None:
        self.write(self.box.folder / _TOOLS, self.offered)


class Dialogue(ABC):
    @abstractmethod
    async def say(self, text: str) -> None:
        """Send the agent a request, and wait until it has answered."""

    async def compact(self) -> None:
        """Make the agent compact with its own command, for the mode ``manual``."""
        raise NotImplementedError("this agent has no command to compact")


class Agent(ABC):
    """A coding agent."""

    name: ClassVar[str]
    # The response that reports a full window in the mode ``auto``: the history's last reply, its
    # last reply that calls a tool, or the refusal of the next request.
    full_on: ClassVar[FullOn] = "reply"
    full: ClassVar[int] = WINDOW - 1_000  # the token usage that this reply reports
    # Whether the reply with the summary reports the same usage; the agent computes from it what the
    # compaction saved.
    full_summary: ClassVar[bool] = False
    # Arguments that the agent adds to each call and that no scenario has.
    added: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    rule_file: ClassVar[str] = "AGENTS.md"  # name of the file for rules in a project's folder
    memory_file: ClassVar[str]  # the user's file for rules, below HOME
    # Pattern of the user's last message in a request for a summary; None if the agent's summary
    # requests are those without tools.
    asks_for_summary: ClassVar[re.Pattern[str] | None] = None

    @property
    def package(self) -> Package:
        return package(self.name)

    @abstractmethod
    def read_call(self, path: Path) -> NativeCall:
        """Return the call of the agent's own tool that reads a file."""

    def delegate_call(self, task: str) -> NativeCall | None:
        """Return the call that hands a task to a sub-agent; None if the agent has no sub-agents."""
        return None

    @abstractmethod
    def prepare(self, place: Place) -> None:
        """Write the agent's configuration into its box."""

    @abstractmethod
    async def start(self, place: Place) -> Dialogue:
        """Start the agent, in a new conversation."""

    def is_summary(self, request: ModelRequest) -> bool:
        if self.asks_for_summary is None:
            return not request.tools
        return self.asks_for_summary.search(last_user_text(request.messages)) is not None

    def shaped(self, summary: str) -> str:
        """Return a summary in the form that the agent requires."""
        return summary
