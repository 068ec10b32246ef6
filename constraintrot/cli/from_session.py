"""``constraintrot scenario from-session``: recorded sessions as scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from constraintrot.cli import agreement
from constraintrot.command_line import (
    at_terminal,
    clear_errors,
    named_model,
    named_values,
    needs,
    say,
)
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.redaction import Masker

if TYPE_CHECKING:
    from constraintrot.authoring.answers import Answers
    from constraintrot.authoring.draft import Draft
    from constraintrot.coding_agents.sessions.events import Session
    from constraintrot.runs.plan import Size

_SCRIPTED = "scripted/obedient"
# Models that run in this process: nothing is sent anywhere.
_HERE = ("scripted/", "local/", "mockllm/", "hf/")


@click.command("from-session")
@click.argument(
    "paths", metavar="SESSION...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--rule", help="The rule, as one sentence; by default you choose among those that were said."
)
@click.option("--at", type=click.IntRange(1), help="Number of one session; by default all.")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="File to write; for several sessions, a folder with a file each.")  # fmt: skip
@click.option("--answers", "answered", type=click.Path(path_type=Path),
              help="A file of answers about the rule, as this command writes it.")  # fmt: skip
@click.option("--compare", is_flag=True,
              help="Then play it through four summarizers, with the rule pinned and without.")  # fmt: skip
@click.option("--model", help=f"Model for --compare.  [default: {_SCRIPTED}, a script]")
@click.option("-T", "task_args", multiple=True, metavar="NAME=VALUE",
              help="A task parameter for --compare.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Ask nothing; refuse what is not understood for sure.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@needs("eval")
def from_session(
    paths: tuple[Path, ...],
    rule: str | None,
    at: int | None,
    out: Path,
    answered: Path | None,
    compare: bool,
    model: str | None,
    task_args: tuple[str, ...],
    yes: bool,
    force: bool,
) -> None:
    """Make a recorded SESSION the history of a scenario: would another compactor have kept its rule?

    SESSION is a file or folder that `constraintrot doctor` reads. The turns before the first
    compaction become the history, as they were; secrets are masked first, and nothing leaves
    this machine. The rule is drafted as `new` drafts it.

    With --compare the same command prints a table of four summarizers, with the pin and
    without, and goes on where it was stopped.
    """
    with clear_errors():
        if not compare and (model or task_args):
            raise ParameterError("--model and -T are for --compare")
        there = out.exists() and not force
        if there and not compare:
            raise ParameterError(f"--out {out}: it is there already; --force overwrites it")
        if there and (rule or answered):
            say(f"{out} is played as it is; --force drafts its rule anew", err=True)
        if not there:
            _write(paths, rule, at, out, answered, yes)
        if compare:
            _compare(out, model or _SCRIPTED, named_values("-T", task_args), yes)


def _write(
    paths: Sequence[Path], rule: str | None, at: int | None, out: Path, answered: Path | None, yes: bool
) -> None:  # fmt: skip
    """Draft the rule with its author, and write a scenario for each session."""
    from constraintrot.authoring import answers, draft
    from constraintrot.doctor.as_scenario import called, rules_of

    found = _sessions(paths, at)
    several = len(found) > 1
    if several and (out.suffix or out.is_file()):
        raise ParameterError(
            f"--out {out}: there are {len(found)} sessions; name a folder, or one of them with --at"
        )
    given = answers.read_file(answered) if answered else None
    text = (given.rule if given else rule) or _chosen_rule(rules_of(found), yes)

    names = "\n".join(text for session in found for text in called(session))

    def made_of(said: Answers | None) -> Draft:
        return draft.draft(said.rule if said else text, (), None, said, names)

    made = agreement.agreed(made_of(given), made_of, out / "rule" if several else out, yes)
    laid = list[tuple[dict[str, Any], Path]]()
    for number, session in enumerate(found, start=1):
        try:
            data = _laid_under(made, session)
        except ConstraintRotError as error:
            if not several:
                raise
            say(f"! left out: {error}", err=True)
            continue
        own = {"family": f"{data['family']}_{number}"} if several else {}
        path = out / f"session-{number:03}.yaml" if several else out
        laid.append(({**data, **own}, path))
    if not laid:
        raise ParameterError("none of the sessions can be played")
    # Written together: after a kill, the same command takes existing files for the whole set.
    for data, path in laid:
        agreement.finish(replace(made, data=data), path)


def _laid_under(made: Draft, session: Session) -> dict[str, Any]:
    from constraintrot.doctor import as_scenario

    masker = Masker()
    turns = as_scenario.recorded(session, made.understood.rule, masker)
    data, left_out = as_scenario.with_history(made.data, turns)
    click.echo(
        f"{len(data['recorded'])} recorded turns, without the sentences of the rule;"
        f" {left_out} more left out, which say it in other words or act on it;"
        f" {masker.masked} secrets masked",
        err=True,
    )
    return data


def _sessions(paths: Sequence[Path], at: int | None) -> list[Session]:
    from constraintrot.coding_agents.sessions import sessions
    from constraintrot.coding_agents.sessions.events import Refused, Session

    read = [one for path in paths for one in sessions(path)]
    found = [one for one in read if isinstance(one, Session)]
    refused = [f"{one.path}: {one.why}" for one in read if isinstance(one, Refused)]
    if not found:
        raise ParameterError(f"no session that can be read: {refused[0]}")
    for one in refused:
        say(f"! left out: {one}", err=True)
    if at is not None and at > len(found):
        raise ParameterError(f"--at {at}: there is no such session; {len(found)} can be read")
    return found if at is None else [found[at - 1]]


def _chosen_rule(rules: Sequence[str], yes: bool) -> str:
    """Return the rule that the author chooses among those of the sessions."""
    if not rules:
        raise ParameterError("no rule was said in the session; name one with --rule")
    for number, one in enumerate(rules, start=1):
        click.echo(f"{number:3}. {one}", err=True)
    if len(rules) == 1 and (yes or not at_terminal()):
        return rules[0]
    if yes or not at_terminal():
        raise ParameterError("several rules were said in the session; name one with --rule")
    number = int(click.prompt("Which?", type=click.IntRange(1, len(rules)), default=1, err=True))
    return rules[number - 1]


def _compare(scenarios: Path, model: str, given: Mapping[str, Any], yes: bool) -> None:
    from constraintrot.runs import estimate
    from constraintrot.runs.recorded import compared

    named_model("--model", model, memoize=True)

    def agree(size: Size) -> None:
        estimate.before({model: size}, yes=yes)
        line = f"The masked history is sent to {model}."
        agreed = yes or model.startswith(_HERE)
        if not agreed and not (at_terminal() and click.confirm(f"{line} Go on?", err=True)):
            raise ParameterError(f"{line} --yes agrees")

    click.echo(compared(scenarios, model, given, agree))
