"""``constraintrot doctor``: which rules an agent's sessions lost."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from constraintrot.command_line import clear_errors, named_model, say, write
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.redaction import Masker, masked_texts
from constraintrot.report.untrusted import visible

if TYPE_CHECKING:
    from constraintrot.coding_agents.sessions.events import Refused, Session
    from constraintrot.doctor.asking import Answer
    from constraintrot.doctor.findings import Diagnosis
    from constraintrot.doctor.reading import Chosen
    from constraintrot.doctor.rules import Rule
    from constraintrot.rule_text.reader import ReaderName

FAIL_ON = ("lost", "broken")
# Folders that are listed before they are read.
_LISTED = 40


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--rules", "rules_files", multiple=True, type=click.Path(path_type=Path),
    help="AGENTS.md or rules.yaml; by default the rules that were said in the sessions.",
)  # fmt: skip
@click.option(
    "--reader", type=click.Choice(["words", "local", "judge"]),
    help="Who reads prose for rules: word lists; the local model (the default if its weights are"
    " here); or the model of --model, which is sent the texts.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Ask nothing: read what is found, take all rules found.")
@click.option(
    "-o", "--out", "folder", type=click.Path(path_type=Path, file_okay=False),
    help="Folder for doctor.html, doctor.json and junit.xml.",
)  # fmt: skip
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Exit with status 1 if a rule is lost, or broken.",
)
@click.option(
    "--pin", "pin_folder", type=click.Path(path_type=Path, file_okay=False),
    help="Write the lost rules that you named or confirmed as registry seeds to this folder.",
)  # fmt: skip
@click.option(
    "--pin-from-tools", is_flag=True, help="Also pin lost rules that tools and files brought."
)
@click.option(
    "--model",
    help="Ask this model which rules it still knows, and play the triggers of --rules; sends the"
    " context.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(
    paths: tuple[str, ...],
    rules_files: tuple[Path, ...],
    reader: ReaderName | None,
    yes: bool,
    folder: Path | None,
    fail_on: tuple[str, ...],
    pin_folder: Path | None,
    pin_from_tools: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Find the rules that your agent lost when its context was compacted.

    PATHS are session files of Claude Code, Codex, opencode, Gemini CLI, Qwen Code, pi and
    Copilot CLI, Inspect logs, ATIF, messages of the model APIs, LangSmith runs,
    OpenTelemetry spans, folders of them, or SERVICE:PROJECT of langsmith, phoenix, logfire
    and weave. By default the sessions that are on this machine.

    Everything stays on this machine, unless a model is named with --model.
    """
    from constraintrot.doctor import confirming
    from constraintrot.doctor.reading import choose

    with clear_errors():
        _checked(folder, pin_folder, model)
        chosen = choose(reader, (lambda: named_model("--model", model)) if model else None)
        rules = _named(rules_files) if rules_files else None
        sessions, refused = _sessions(paths or _on_this_machine(yes))
        if refused and not sessions and not as_json and folder is None:
            mask = Masker()
            for one in refused:
                click.echo(f"constraintrot: {visible(mask(f'{one.path}: {one.why}'))}", err=True)
            sys.exit(2)
        found = _observed(sessions, rules, chosen, yes, by_default=reader is None)
        if rules is None and not yes:
            confirming.confirm_rules(found)
        if not yes:
            confirming.confirm_drafts(found)
        chosen = _read(found, chosen, yes, by_default=reader is None)
        answers = _asked(found, model, yes, chosen) if model else []
        _written(found, refused, answers, chosen, folder, pin_folder, pin_from_tools, as_json)
        if not sessions:
            sys.exit(2)
        sys.exit(_status(found, answers, fail_on))


def _named(files: Sequence[Path]) -> list[Rule]:
    """The rules of files, each once; list items that do not read as rules are counted aloud."""
    from constraintrot.doctor.rules import passed_over, read

    rules: dict[str, Rule] = {}
    for file in files:
        found = read(file)
        rules |= {one.folded: one for one in found if one.breach or one.folded not in rules}
        if over := passed_over(file, found):
            click.echo(
                f"{file}: {len(found)} rules; {len(over)} list items do not read as rules and are"
                " not looked for (a rules.yaml takes each as it stands)",
                err=True,
            )
    return list(rules.values())


def _checked(folder: Path | None, pin_folder: Path | None, model: str | None) -> None:
    """Raise if an option's extra is not installed, before anything is read."""
    if folder is not None or pin_folder is not None:
        require("constraintrot doctor -o and --pin", "doctor")
    if model is not None:
        require("constraintrot doctor --model", "eval")


def _on_this_machine(yes: bool) -> tuple[str, ...]:
    from constraintrot.coding_agents.sessions import on_this_machine
    from constraintrot.doctor.confirming import ask

    found = on_this_machine()
    if not found:
        raise ConstraintRotError(
            "no session of a coding agent found in the usual places; name files or folders"
        )
    size = sum(path.stat().st_size for path in found if path.exists())
    by_folder = Counter(str(path if path.suffix == ".db" else path.parent) for path in found)
    click.echo(f"{len(found)} session files, {size / 1e6:,.1f} MB, would be read:", err=True)
    for name, count in by_folder.most_common(_LISTED):
        click.echo(f"  {count:5} in {visible(name)}", err=True)
    if len(by_folder) > _LISTED:
        click.echo(f"  … and {len(by_folder) - _LISTED} more folders", err=True)
    ask("Read them?", yes)
    return tuple(map(str, found))


def _sessions(given: Sequence[str]) -> tuple[list[Session], list[Refused]]:
    from constraintrot.coding_agents import sessions as readers
    from constraintrot.coding_agents.sessions.events import Refused, Session

    found: list[Session | Refused] = []
    for named in given:
        service = readers.service(named)
        found += readers.of_service(*service) if service else readers.sessions(Path(named))
    # A file that is named twice, or beside its folder, is read once.
    once = {
        (one.path.resolve(), one.name.removeprefix(str(one.path))): one
        for one in found
        if isinstance(one, Session)
    }
    return list(once.values()), [one for one in found if isinstance(one, Refused)]


def _observed(
    sessions: Sequence[Session],
    rules: list[Rule] | None,
    chosen: Chosen,
    yes: bool,
    *,
    by_default: bool,
) -> list[Diagnosis]:
    from constraintrot.doctor.confirming import ask
    from constraintrot.doctor.reading import LONGEST, find, finding_seconds, passages
    from constraintrot.doctor.verdicts import observe

    finds = rules is None and chosen.kind != "words"
    if finds:
        told = [one for each in sessions for _, one in passages(each, chosen.kind)]
        size = sum(len(one.text) for one in told)
    if finds and chosen.kind == "judge":
        click.echo(
            f"{chosen.reader.name} would be sent {size:,} characters to find rules.", err=True
        )
        ask("Send this?", yes)
    elif finds:
        seconds = finding_seconds(size)
        finds = seconds <= LONGEST or not by_default
        cost = f"{size:,} characters to find rules in, about {seconds:.0f} s"
        click.echo(f"{cost}{'' if finds else ': word lists do it instead'}.", err=True)
    found: list[Diagnosis] = []
    shown = sys.stderr.isatty() and len(sessions) > 1
    for at, session in enumerate(sessions, 1):
        if shown:
            click.echo(f"\r{at} of {len(sessions)}", nl=False, err=True)
        named = find(session, chosen.reader, chosen.kind) if finds else rules
        found.append(observe(session, named))
    if shown:
        click.echo("\r", nl=False, err=True)
    return found


def _read(found: Sequence[Diagnosis], chosen: Chosen, yes: bool, *, by_default: bool) -> Chosen:
    """Ask the reader what became of the rules, print the cost and return the reader used."""
    from constraintrot.doctor.confirming import ask
    from constraintrot.doctor.reading import LONGEST, choose, cost, read
    from constraintrot.doctor.wording import counted

    price = cost(found)
    if chosen.kind == "local" and by_default and price.seconds > LONGEST:
        why = f"the local model would take {price.seconds / 60:,.0f} min; --reader local asks it"
        chosen = replace(choose("words"), why=why)
    if chosen.kind == "local" and price.questions:
        click.echo(
            f"{counted(price.questions, 'question')} ({counted(price.rules, 'rule')},"
            f" {counted(price.compactions, 'compaction')}) for the local model, about"
            f" {price.seconds:.0f} s; those asked before are cached.",
            err=True,
        )
    elif chosen.kind == "judge" and price.questions:
        click.echo(
            f"{chosen.reader.name} would be sent the new contexts of {price.compactions}"
            f" compactions, {price.characters:,} characters.", err=True,
        )  # fmt: skip
        ask("Send this?", yes)
    tty = sys.stderr.isatty()
    read(
        found, chosen, lambda line: click.echo(f"\r{line:<78}", nl=False, err=True) if tty else None
    )
    if tty and price.questions:
        click.echo("\r" + " " * 78 + "\r", nl=False, err=True)
    return chosen


def _asked(found: Sequence[Diagnosis], name: str, yes: bool, chosen: Chosen) -> list[Answer]:
    import asyncio

    from constraintrot.doctor.asking import ask as ask_model
    from constraintrot.doctor.asking import question
    from constraintrot.doctor.confirming import ask
    from constraintrot.doctor.wording import counted

    mask = Masker()
    questions = [asked for one in found if (asked := question(one, mask)) is not None]
    if not questions:
        click.echo("No session was compacted and has rules: nothing is sent.", err=True)
        return []
    characters = sum(one.characters for one in questions)
    calls = sum(len(one.calls) for one in questions)
    click.echo(
        f"{name} would be sent {characters:,} characters (about {characters // 4:,} tokens):"
        f" {counted(len(questions), 'context')} to be asked for its rules,"
        f" {counted(calls, 'tool call')} to be judged, and"
        f" {counted(sum(len(one.tried) for one in questions), 'trigger')} to be tried, all twice;"
        f" {counted(mask.masked, 'secret')} in them masked.",
        err=True,
    )
    ask("Send this?", yes)

    model = named_model("--model", name)

    async def all_of() -> list[Answer]:
        return [await ask_model(one, model, name, chosen.reader) for one in questions]

    return asyncio.run(all_of())


def _written(
    found: Sequence[Diagnosis],
    refused: Sequence[Refused],
    answers: Sequence[Answer],
    chosen: Chosen,
    folder: Path | None,
    pin_folder: Path | None,
    pin_from_tools: bool,
    as_json: bool,
) -> None:
    from constraintrot.doctor.output.data import data
    from constraintrot.doctor.output.terminal import asked, summary

    mask = Masker()
    told: dict[str, Any] = {}
    seeds = str(pin_folder or "")
    width = min(100, get_terminal_size().columns) if sys.stdout.isatty() else None
    if folder is not None or as_json:
        read_by = {"name": chosen.reader.name, "why": chosen.why, "trust": chosen.trust}
        told = data(found, refused, mask, read_by, seeds)
        told["probe"] = masked_texts([asdict(one) for one in answers], mask)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=True, indent=1))
    else:
        for line in summary(found, refused, mask, read_by=chosen.line, seeds=seeds, width=width):
            click.echo(line)
        for line in asked(answers, mask, width):
            click.echo(line)
    if folder is not None:
        _files(folder, told)
    if pin_folder is not None:
        _pins(found, pin_folder, pin_from_tools, mask)


def _files(folder: Path, told: dict[str, Any]) -> None:
    from constraintrot.doctor.output.data import html, junit

    write("-o", folder / "doctor.json", json.dumps(told, ensure_ascii=True, indent=1) + "\n")
    write("-o", folder / "doctor.html", html(told))
    write("-o", folder / "junit.xml", junit(told))
    click.echo(visible(str(folder / "doctor.html")), err=True)


def _pins(found: Sequence[Diagnosis], folder: Path, from_tools: bool, mask: Any) -> None:
    from constraintrot.doctor.output.pins import pins
    from constraintrot.doctor.output.pins import write as write_pins
    from constraintrot.doctor.wording import counted

    chosen = pins(found, mask, from_tools=from_tools)
    path = write_pins(chosen, folder)
    if path is None:
        click.echo("Nothing to pin.", err=True)
    else:
        click.echo(
            f"{counted(len(chosen.rules), 'rule')} in {path}; put them in force with:"
            f" constraintrot pin install AGENT --seeds {folder} (which replaces the list that is"
            " pinned: put your other seeds into that folder first)",
            err=True,
        )
    if chosen.left_out:
        click.echo(
            f"{len(chosen.left_out)} lost rules came by tools or files and are not pinned: who"
            " writes there would write your pins; --pin-from-tools pins them",
            err=True,
        )
    if chosen.unconfirmed:
        click.echo(
            f"{len(chosen.unconfirmed)} lost rules were found in sessions and confirmed by nobody, and"
            " are not pinned: name them with --rules, or leave --yes out and confirm them",
            err=True,
        )
    for text in chosen.unreadable:
        say(f"Not pinned, because it would change how the file is read: {text}", err=True)
    if chosen.masked:
        click.echo(f"A secret was masked in: {', '.join(chosen.masked)}", err=True)


def _status(found: Sequence[Diagnosis], answers: Sequence[Answer], fail_on: Sequence[str]) -> int:
    lost = any(one.lost() for one in found)
    broken = any(history.broken for one in found for history in one.histories) or any(
        trial.did == "broken" for one in answers for trial in one.trials
    )
    return int(("lost" in fail_on and lost) or ("broken" in fail_on and broken))
