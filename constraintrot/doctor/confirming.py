"""The doctor's questions on a terminal: whether to go on, and which rules and drafts are right."""

import json
import sys
from collections.abc import Callable, Sequence

import click

from constraintrot.command_line import at_terminal
from constraintrot.doctor.findings import Diagnosis, History
from constraintrot.doctor.output.terminal import short
from constraintrot.doctor.wording import source
from constraintrot.errors import ConstraintRotError
from constraintrot.redaction import Masker
from constraintrot.report.untrusted import visible

_WIDTH = 100
# Calls that are shown of each draft.
_CALLS = 3


def ask(question: str, yes: bool) -> None:
    if yes:
        return
    terminal("--yes answers yes")
    if not click.confirm(question, err=True):
        raise ConstraintRotError("nothing was done")


def terminal(what: str) -> None:
    """Check that somebody can be asked."""
    if not at_terminal():
        raise ConstraintRotError(f"nobody can be asked, as this is no terminal; {what}")


def confirm_rules(found: Sequence[Diagnosis]) -> None:
    """Show each found rule, and drop those that the user rejects; the others are accepted."""
    same = _same(found, lambda one: True)
    if not same:
        return
    click.echo(f"Rules that were said in these sessions: {len(same)}", err=True)
    for number, each in enumerate(same, 1):
        rule = each[0].rule
        _show(f"{number:4} {rule.clause}")
        more = f", and in {len(each) - 1} more sessions" if len(each) > 1 else ""
        where = f"line {rule.line}, {rule.time or 'no time'}, {rule.session}{more}"
        _show(f"     {source(each[0])}, {where}")
    terminal("the rules found are shown for confirmation; --yes takes all of them")
    wrong = _numbers("Numbers of those that are no rules, or nothing")
    dropped = {id(one) for at, each in enumerate(same, 1) for one in each if at in wrong}
    for diagnosis in found:
        diagnosis.leave_out(dropped)
        for history in diagnosis.histories:
            history.accepted = True


def confirm_drafts(found: Sequence[Diagnosis]) -> None:
    """Show drafted breaches and judge calls by those not rejected; nothing without a terminal."""
    drafts = _same(found, lambda one: one.draft is not None)
    if not drafts or not at_terminal():
        return
    click.echo("A call would break these rules by drafts made from their words:", err=True)
    for number, each in enumerate(drafts, 1):
        calls = [call for one in each for call in one.drafted]
        _show(f"{number:4} {each[0].rule.clause}")
        _show(
            f"     breach: {json.dumps(each[0].draft, ensure_ascii=False)} ({len(calls)} calls here)"
        )
        for call in calls[:_CALLS]:
            _show(f"       line {call.line}: {call.why}")
    wrong = _numbers("Numbers of the drafts that are wrong, or nothing")
    for number, each in enumerate(drafts, 1):
        for one in each if number not in wrong else ():
            one.accept_draft()


def _same(found: Sequence[Diagnosis], chosen: Callable[[History], bool]) -> list[list[History]]:
    """Return the chosen rules of all sessions, grouped by their text."""
    same: dict[str, list[History]] = {}
    for one in (each for diagnosis in found for each in diagnosis.histories if chosen(each)):
        same.setdefault(one.rule.folded, []).append(one)
    return list(same.values())


def _show(line: str) -> None:
    width = _WIDTH if sys.stderr.isatty() else None
    click.echo(visible(short(Masker()(line), width)), err=True)


def _numbers(question: str) -> set[int]:
    told = click.prompt(question, default="", show_default=False, err=True)
    return {int(one) for one in told.replace(",", " ").split() if one.isdigit()}
