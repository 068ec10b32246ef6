"""The coding agents, one module each: command line, configuration and conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from constraintrot.coding_agents.drivers.agent import Agent
from constraintrot.coding_agents.drivers.claude import Claude
from constraintrot.coding_agents.drivers.codex import Codex
from constraintrot.coding_agents.drivers.copilot import Copilot
from constraintrot.coding_agents.drivers.gemini import Gemini
from constraintrot.coding_agents.drivers.opencode import OpenCode
from constraintrot.coding_agents.drivers.openhands import OpenHands
from constraintrot.coding_agents.drivers.pi import Pi
from constraintrot.coding_agents.drivers.qwen import Qwen

DRIVERS: Final[Mapping[str, Agent]] = {
    agent.name: agent
    for agent in (Claude(), Codex(), Copilot(), Gemini(), OpenCode(), OpenHands(), Pi(), Qwen())
}
"""The driver of each agent, by the agent's name."""
