"""Questions to the author of a drafted scenario, at the command line, until the author agrees."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from constraintrot.command_line import at_terminal, write
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from constraintrot.authoring.answers import Answers
    from constraintrot.authoring.draft import Draft

# Parameters that a file of answers stands for, or that a command with questions left cannot have.
_ANSWERED = ("policy", "rule", "answered", "yes")


def agreed(
    made: Draft, made_of: Callable[[Answers | None], Draft], out: Path | None, yes: bool
) -> Draft:
    """Ask about a draft until its author agrees; end the command if that is not possible."""
    from constraintrot.authoring import conversation

    while True:
        click.echo(conversation.understanding(made), err=True)
        if yes and made.open:
            raise ParameterError(
                "--yes writes nothing that is not understood for sure; without it the questions are asked"
            )
        if yes or (not made.open and not at_terminal()):
            return made
        if not at_terminal():
            _ask_in_a_file(made, out)
        if not made.open:
            reply = _ask("Right? [Y/n/edit]").casefold()
            if reply in ("", "y", "yes"):
                return made
            said = _edited(made) if reply.startswith("e") else _given_up()
            confirmed = False
        else:
            told = conversation.asked(made, _ask)
            confirmed = bool(told and made.examples and not told.anew)
            said = told or _edited(made)
        try:
            made = made_of(said)
            if confirmed and not made.open:
                return made
        except ParameterError as error:
            # Answers that contradict each other are asked for again.
            click.echo(f"! {error}", err=True)


def _ask_in_a_file(made: Draft, out: Path | None) -> NoReturn:
    """Write the questions to a file beside the draft's, and end with status 1."""
    path = out.with_suffix(".answers.yaml") if out else None
    command = _again(path or Path("FILE"))
    text = made.understood.text(command)
    if path is None:
        click.echo(text, nl=False)
    else:
        write("--out", path, text)
        click.echo(
            f"no draft was written. Answer the questions in {path} ({len(made.open)}), then:"
            f"\n  {command}",
            err=True,
        )
    sys.exit(1)


def _again(answers: Path) -> str:
    """Return the command that is running, with a file of answers in place of the rule."""
    context = click.get_current_context()
    words = ["constraintrot", *context.command_path.split()[1:], "--answers", str(answers)]
    for param in context.command.params:
        given = context.params[str(param.name)]
        if not given or param.name in _ANSWERED:
            continue
        for one in given if isinstance(given, tuple) else [given]:
            words += [param.opts[0]] if isinstance(param, click.Option) else []
            words += [] if one is True else [str(one)]
    return shlex.join(words)


def _edited(made: Draft) -> Answers:
    """Return the answers about a draft that its author wrote in an editor."""
    from constraintrot.authoring import answers

    click.echo(
        "say it in the editor: correct what is understood, and answer what is asked", err=True
    )
    text = click.edit(
        made.understood.text(_again(Path("FILE"))), extension=".yaml", require_save=True
    )
    return answers.read(text, "the edited file") if text else _given_up()


def _given_up() -> NoReturn:
    click.echo("no draft was written; say the rule in other words, or answer edit", err=True)
    sys.exit(1)


def _ask(question: str) -> str:
    answer: str = click.prompt(
        question, default="", show_default=False, err=True, prompt_suffix=" "
    )
    return answer.strip()


def finish(made: Draft, out: Path | None) -> None:
    from constraintrot.authoring.write import text

    if out is None:
        click.echo(text(made), nl=False)
        return
    write("--out", out, text(made))
    click.echo(f"{out}: a draft{f', about {made.kind}' if made.kind else ''}; nothing to fill in")
    click.echo(f"next: constraintrot scenario check {out}")
