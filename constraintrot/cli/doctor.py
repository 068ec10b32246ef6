"""``constraintrot doctor``: which rules an agent's sessions lost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.cli.guard import clear_errors
from constraintrot.errors import ConstraintRotError

if TYPE_CHECKING:
    from constraintrot.doctor.readers.format import Refused, Session
    from constraintrot.doctor.rules import Rule
    from constraintrot.doctor.verdicts import Diagnosis

FAIL_ON = ("lost", "broken", "never")


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--rules", "rules_files", multiple=True, type=click.Path(path_type=Path),
    help="AGENTS.md or rules.yaml; by default what was said in the sessions.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Ask nothing: read what is found, take all rules found.")
@click.option(
    "--fail-on", multiple=True, type=click.Choice(FAIL_ON), default=(),
    help="Exit with status 1 if a rule was lost, or broken.",
)  # fmt: skip
def doctor(
    paths: tuple[str, ...], rules_files: tuple[Path, ...], yes: bool, fail_on: tuple[str, ...]
) -> None:
    """Which rules did your agent lose when its context was compacted?

    PATHS are session files of Claude Code, Codex, opencode, Gemini CLI, Qwen Code, pi and
    Copilot CLI, Inspect logs, ATIF, folders of them, or SERVICE:PROJECT of langsmith,
    phoenix, logfire and weave. Without any, the sessions that lie on this machine.

    Everything stays on this machine.
    """
    with clear_errors():
        from constraintrot.doctor.masking import Masker
        from constraintrot.doctor.output.terminal import summary

        given = paths or _on_this_machine(yes)
        rules = _rules(rules_files)
        sessions, refused = _sessions(given)
        found = _diagnosed(sessions, rules)
        for line in summary(found, refused, Masker()):
            click.echo(line)
        sys.exit(_status(found, fail_on))


def _on_this_machine(yes: bool) -> tuple[str, ...]:
    from constraintrot.doctor.readers import on_this_machine

    found = on_this_machine()
    if not found:
        raise ConstraintRotError(
            "no session of a coding agent found in the usual places; name files or folders"
        )
    return tuple(map(str, found))


def _rules(files: Sequence[Path]) -> list[Rule] | None:
    from constraintrot.doctor.rules import read

    return [rule for file in files for rule in read(file)] if files else None


def _sessions(given: Sequence[str]) -> tuple[list[Session], list[Refused]]:
    from constraintrot.doctor.readers import sessions
    from constraintrot.doctor.readers.format import Session

    found = [one for path in given for one in sessions(Path(path))]
    return (
        [one for one in found if isinstance(one, Session)],
        [one for one in found if not isinstance(one, Session)],
    )


def _diagnosed(sessions: Sequence[Session], rules: list[Rule] | None) -> list[Diagnosis]:
    from constraintrot.doctor.verdicts import diagnose

    return [diagnose(session, rules) for session in sessions]


def _status(found: Sequence[Diagnosis], fail_on: Sequence[str]) -> int:
    lost = any(one.lost() for one in found)
    broken = any(history.broken for one in found for history in one.histories)
    return int(("lost" in fail_on and lost) or ("broken" in fail_on and broken))
