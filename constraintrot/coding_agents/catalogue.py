"""The coding agents that were tried: their packages, versions and licences.

This repository contains none of their code; ``constraintrot agents install`` fetches
a package from its registry into the user's cache, in the version that was tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from constraintrot.errors import UnknownNameError

Mode: TypeAlias = Literal["auto", "manual"]


@dataclass(frozen=True)
class Package:
    """An agent's package in its registry."""

    agent: str
    title: str
    published: str  # the name of the package in its registry
    version: str  # the version that was tried
    licence: str
    megabytes: int
    program: str
    beside: tuple[str, ...] = ()  # packages to install with it, with versions
    # The lowest major version of Node.js that it runs on; 0 if it brings its own runtime.
    node: int = 0
    python: str = ""  # the version of Python that it runs on, for a package of PyPI; empty for npm
    # The ways to make it compact, the default first: ``auto`` by its own threshold, ``manual`` by
    # its command.
    modes: tuple[Mode, ...] = ("auto", "manual")

    @property
    def registry(self) -> str:
        return "PyPI" if self.python else "npm"

    @property
    def wanted(self) -> tuple[str, ...]:
        between = "==" if self.python else "@"
        return (f"{self.published}{between}{self.version}", *self.beside)

    def at(self, version: str) -> Package:
        """Return this agent in another version, with matching packages in ``beside``."""
        beside = (one.replace(f"@{self.version}", f"@{version}") for one in self.beside)
        return replace(self, version=version, beside=tuple(beside))


PACKAGES = (
    Package(
        "claude",
        "Claude Code",
        "@anthropic-ai/claude-code",
        "2.1.328",
        "proprietary: Anthropic's commercial terms, https://code.claude.com/docs/en/legal-and-compliance",
        356,
        "claude",
    ),
    Package(
        "copilot",
        "Copilot CLI",
        "@github/copilot",
        "1.0.102",
        "proprietary: GitHub's terms, LICENSE.md in the package",
        189,
        "copilot",
        # It brings a native program; the launcher of that program runs on Node.js.
        node=20,
        # Its automatic compaction runs in the background, at an unpredictable time.
        modes=("manual",),
    ),
    Package("codex", "Codex CLI", "@openai/codex", "0.169.0", "Apache-2.0", 404, "codex", node=16),
    Package(
        "gemini",
        "Gemini CLI",
        "@google/gemini-cli",
        "0.61.0",
        "Apache-2.0",
        100,
        "gemini",
        node=20,
        modes=("auto",),
    ),
    Package(
        "opencode",
        "opencode",
        "opencode-ai",
        "1.18.33",
        "MIT",
        417,
        "opencode",
        beside=("@opencode-ai/plugin@1.18.33",),
    ),
    Package(
        "openhands",
        "OpenHands CLI",
        "openhands",
        "1.16.0",
        "MIT",
        769,
        "openhands",
        python="3.12",
        # Only its terminal interface knows the command /condense.
        modes=("auto",),
    ),
    Package("pi", "pi", "@mariozechner/pi-coding-agent", "0.73.1", "MIT", 204, "pi", node=20),
    Package(
        "qwen",
        "Qwen Code",
        "@qwen-code/qwen-code",
        "0.24.4",
        "Apache-2.0",
        329,
        "qwen",
        # It needs Node.js 22 or newer; this package brings it.
        beside=("node@22.23.3",),
    ),
)


_INSTEAD: dict[str, Package] = {}


@contextmanager
def instead(other: Package) -> Iterator[None]:
    """Use another version of an agent than the one that was tried, within this context."""
    _INSTEAD[other.agent] = other
    try:
        yield
    finally:
        del _INSTEAD[other.agent]


def package(agent: str) -> Package:
    """Return the package of an agent."""
    if agent in _INSTEAD:
        return _INSTEAD[agent]
    for one in PACKAGES:
        if one.agent == agent:
            return one
    raise UnknownNameError("coding agent", agent, [one.agent for one in PACKAGES])
