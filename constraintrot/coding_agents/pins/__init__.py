"""Pins for coding agents that people use, through the hooks that these agents offer.

Each agent compacts its history in its own code, and starts a program or calls a plugin at
events around that. ``install`` registers ours, which hands the agent the pins of a registry
again after each compaction.

>>> from constraintrot.coding_agents.pins.agents import AGENTS
>>> sorted(AGENTS)
['claude', 'codex', 'copilot', 'gemini', 'opencode', 'openhands', 'pi', 'qwen']

Layout: ``agents`` has each agent's settings files and events; ``compiled`` makes the text
from rules or seeds; ``hook`` is the program that the agent starts; ``settings_edit`` and
``installing`` change a user's settings and undo the change, ``record`` notes it; ``checking``
inspects a pin, and the package ``proof`` beside this one proves that it arrives.
"""
