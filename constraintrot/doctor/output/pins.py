"""Seeds of the policy registry for the rules that were lost (``--pin``).

A rule from a tool or an MCP server is left out by default: its author would control what
the agent is told at every step.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from constraintrot.defenses.rampart import SeedError
from constraintrot.defenses.rampart.seeds import read
from constraintrot.defenses.rampart.seeds.markdown import markdown
from constraintrot.doctor.findings import Diagnosis, History
from constraintrot.doctor.rules import unused
from constraintrot.errors import ConstraintRotError

FILE = "lost-rules.md"
# Channels of people who may set rules.
_TRUSTED = frozenset(["user", "project file", "system"])


@dataclass(frozen=True)
class Pins:
    """The rules to pin."""

    rules: dict[str, str]  # texts by name
    left_out: list[str]  # rules that came from tools or files
    unconfirmed: list[str]  # rules that were found in a session and not confirmed
    masked: list[str]  # names of rules in which a secret was masked
    unreadable: list[str]  # rules that would not read back, such as one that opens a code block


def pins(
    found: Sequence[Diagnosis], mask: Callable[[str], str], *, from_tools: bool = False
) -> Pins:
    """Return the lost rules that the user named or confirmed, each once."""
    chosen: dict[str, str] = {}
    left_out: list[str] = []
    unconfirmed: list[str] = []
    masked: list[str] = []
    unreadable: list[str] = []
    taken: set[str] = set()
    lost = [history for one in found for _, history, _ in one.lost()]
    # Trusted first: a tool that repeats the user's rule does not displace it.
    for history in sorted(lost, key=lambda one: (not one.accepted, not _trusted(one))):
        if history.rule.folded in taken:
            continue
        taken.add(history.rule.folded)
        if not history.accepted:
            unconfirmed.append(history.rule.text)
            continue
        if not from_tools and not _trusted(history):
            left_out.append(history.rule.text)
            continue
        # A name is a heading, and a value of YAML.
        name = unused(
            re.sub(r"[^\w. -]+", "-", mask(history.rule.name)).strip(" -") or "rule", chosen
        )
        text = mask(history.rule.text)
        if not _reads_back(name, text):
            unreadable.append(text)
            continue
        chosen[name] = text
        if text != history.rule.text:
            masked.append(name)
    return Pins(chosen, left_out, unconfirmed, masked, unreadable)


def _reads_back(name: str, text: str) -> bool:
    """Return whether a rule with another after it reads back as it is."""
    rules = {name: text, f"after {name}": "Another rule."}
    try:
        return {seed.name: seed.content for seed in markdown(seeds(rules), "rules")} == rules
    except SeedError:
        return False


def write(chosen: Pins, folder: Path) -> Path | None:
    """Write the seeds, and read them back; return None if there is nothing to pin."""
    if not chosen.rules:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(seeds(chosen.rules), encoding="utf-8", newline="\n")
    back: dict[str, str] = {seed.name: seed.content for seed in read(path)}
    if back != chosen.rules:
        raise ConstraintRotError(f"{path}: the seeds do not read back as they were written")
    return path


def seeds(rules: dict[str, str]) -> str:
    head = "".join(
        f"  - name: {name}\n    priority: 80\n    tags: [lost, doctor]\n" for name in rules
    )
    body = "".join(f"\n## {name}\n{text}\n" for name, text in rules.items())
    return f"---\nblocks:\n{head}---\n{body}"


def _trusted(history: History) -> bool:
    if history.rule.file:
        return True
    return history.given is not None and history.given.message.channel in _TRUSTED
