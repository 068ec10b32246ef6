"""Seeds of the policy registry for the rules that were lost (``--pin``).

A rule that a tool or an MCP server brought is left out unless it is asked for: who
writes there would write what the agent is told at every step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from constraintrot.defenses.rampart.seeds import read
from constraintrot.doctor.findings import Diagnosis, History
from constraintrot.doctor.rules import unused
from constraintrot.errors import ConstraintRotError

FILE = "lost-rules.md"
# Rules that somebody set who may set them: the user, or a file that was named as rules.
_TRUSTED = frozenset(["user", "project file", "system"])


@dataclass(frozen=True)
class Pins:
    """The rules to pin.

    Attributes:
        rules: name and text, once each.
        left_out: rules that came by tools.
        unconfirmed: rules that were found in a session, and that nobody confirmed.
        masked: names of rules in which a secret was masked.
    """

    rules: dict[str, str]
    left_out: list[str]
    unconfirmed: list[str]
    masked: list[str]


def pins(
    found: Sequence[Diagnosis], mask: Callable[[str], str], *, from_tools: bool = False
) -> Pins:
    """The rules that were lost and that somebody named or confirmed, each once."""
    chosen: dict[str, str] = {}
    left_out: list[str] = []
    unconfirmed: list[str] = []
    masked: list[str] = []
    taken: set[str] = set()
    lost = [history for one in found for _, history, _ in one.lost()]
    # A tool that says what the user said takes nothing away.
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
        name = unused(history.rule.name, chosen)
        chosen[name] = mask(history.rule.text)
        if chosen[name] != history.rule.text:
            masked.append(name)
    return Pins(chosen, left_out, unconfirmed, masked)


def write(chosen: Pins, folder: Path) -> Path | None:
    """Write the seeds, and read them back; None where there is nothing to pin.

    Raises:
        ConstraintRotError: what was written does not read as it was meant.
    """
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
    """A seed file of the policy registry: a block a rule."""
    head = "".join(
        f"  - name: {name}\n    priority: 80\n    tags: [lost, doctor]\n" for name in rules
    )
    body = "".join(f"\n## {name}\n{text}\n" for name, text in rules.items())
    return f"---\nblocks:\n{head}---\n{body}"


def _trusted(history: History) -> bool:
    if history.rule.file:
        return True
    return history.given is not None and history.given.message.channel in _TRUSTED
