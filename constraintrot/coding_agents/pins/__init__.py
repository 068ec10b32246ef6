"""Pins for coding agents that people use, through the hooks that these agents offer.

Claude Code, Codex, opencode, Gemini CLI, Qwen Code, Copilot CLI, OpenHands and pi compact their history in their own code.
Each starts a program, or calls a plugin, at events around that; ``install`` puts ours
there, and the pins of a registry are handed to the agent again after each compaction.

>>> from constraintrot.coding_agents.pins.agents import AGENTS
>>> sorted(AGENTS)
['claude', 'codex', 'copilot', 'gemini', 'opencode', 'openhands', 'pi', 'qwen']

Layout: ``agents`` says where each agent's settings are and which events count;
``compiled`` makes the text out of rules or seeds; ``hook`` is the program that the agent
starts; ``settings_edit`` and ``installing`` change a user's settings and take the change
back, ``record`` notes it; ``checking`` looks at a pin, and the package ``proof`` beside this
one proves that it arrives.
"""
