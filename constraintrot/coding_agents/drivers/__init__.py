"""The coding agents: command line, configuration and conversation of each."""

from collections.abc import Mapping
from typing import Final

from constraintrot.coding_agents.drivers.acp import Copilot, Gemini, OpenCode, OpenHands, Qwen
from constraintrot.coding_agents.drivers.agent import Agent
from constraintrot.coding_agents.drivers.own import Claude, Codex, Pi

DRIVERS: Final[Mapping[str, Agent]] = {
    agent.name: agent
    for agent in (Claude(), Codex(), Copilot(), Gemini(), OpenCode(), OpenHands(), Pi(), Qwen())
}
"""The driver of each agent, by the agent's name."""
