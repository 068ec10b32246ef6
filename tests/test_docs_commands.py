"""Every command of the docs: run as written elsewhere, run here with a stand-in, or named as left."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from constraintrot import extras
from constraintrot.cli.main import main
from constraintrot.report.compare import EXIT
from constraintrot.scenario import user_files
from constraintrot.tasks.rebuildable import TASKS
from tests import shell
from tests.docs_code import DOCS
from tests.small_install import ROOT
from tests.stub_openai import serving
from tests.test_commands import _PAGES, _TUTORIALS, RUNNABLE, sequences

# What no test runs as a command, and what holds it instead.
LEFT = {
    r"pip install": "takes packages from an index; tests/installation installs what is built",
    r"constraintrot models pull": "fetches a gigabyte; tests/models fetch from a hub of their own",
    r"constraintrot pin trust": "asks its reader; tests/coding_agents/pins/test_signed_lists.py",
    r"make ": "targets of the Makefile, whose commands have tests of their own",
    r"(\w+=\S+ )*ollama serve|llama-server": "other programs",
    r"scout scan": "another program; tests/doctor/test_scanners.py scans with it where it is installed",
    r"inspect eval badge_rot/|constraintrot show soft_badge": "tests/test_add_your_own.py",
    r".*new_badge_rules|.*harness=last_messages": "tests/test_add_your_own.py",
    r"python -m results.tools.(playbook|wiki)|constraintrot report LOGS": "tests/results, tests/memory/wiki, tests/report",
}
# They run where they are written, in a test of their own.
_OWN = (*_TUTORIALS, "docs/tutorials/doctor-your-sessions.md")
_PINNED = "constraintrot pin install claude --rules rules.txt"
# What a block goes on from.
_GOES_ON = {
    "docs/wiki.md:1": "docs/wiki.md:0",
    "docs/pin-coding-agents.md:2": "docs/pin-coding-agents.md:1",
}
# The exit status says what was found, by command.
_FINDS = {"qualify": {0, 1}, "doctor": {0, 1}, "compare": {*EXIT.values()}}


def blocks() -> dict[str, list[str]]:
    """The lines of each block that nothing runs as it is written, less those that are left."""
    found: dict[str, list[str]] = {}
    for page in _PAGES:
        for at, lines in enumerate(sequences(page)):
            name = f"{page}:{at}"
            if page in _OWN or name in RUNNABLE:
                continue
            if kept := [line for line in lines if not is_left(line)]:
                found[name] = kept
    return found


def is_left(line: str) -> bool:
    """Whether a line is one that no test runs."""
    return any(re.match(pattern, line.removeprefix("$ ")) for pattern in LEFT)


BLOCKS = blocks()


def test_every_reason_for_leaving_a_command_is_used() -> None:
    every = [line for page in _PAGES for lines in sequences(page) for line in lines]
    for pattern in LEFT:
        assert any(re.match(pattern, line.removeprefix("$ ")) for line in every), pattern
    assert len(BLOCKS) > 20


# In a line of its own, in whatever block, or in backticks; `constraintrot directive` is no command.
_LINE = re.compile(r"^ *((?:constraintrot|inspect eval|python -m) [^#|\n]+)", re.MULTILINE)
_INLINE = re.compile(r"`((?:constraintrot (?!directive`|--)|inspect eval |python -m )[^`\n]+)`")


def other_lines() -> list[str]:
    """Commands that the docs show in blocks of other languages, and between other words."""
    found: list[str] = []
    for page in _PAGES:
        text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
        text = re.sub(r"^```console\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        found += [*_LINE.findall(text), *_INLINE.findall(text)]
    return found


def test_every_option_that_the_docs_show_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of options and parameters, without running anything."""
    monkeypatch.setenv("CONSTRAINTROT_PRIVATE_KEY", "5" * 64)
    seen = 0
    for line in (*(line for lines in BLOCKS.values() for line in lines), *other_lines()):
        words = shell.parsed(line).words
        if words[:1] == ["constraintrot"]:
            _parse(shell.ours(words))
            seen += 1
        # An agent that is not installed is refused, whatever else is given.
        elif (
            words[:2] == ["inspect", "eval"] and words[2] in TASKS and "harness=coding" not in line
        ):
            arguments = shell.evaluation(words)
            given = [arguments[at + 1] for at, word in enumerate(arguments) if word == "-T"]
            TASKS[words[2]](**dict(_value(text) for text in given if "file:" not in text))
            seen += 1
        elif words[:2] == ["python", "-m"]:
            assert find_spec(words[2]), line
            seen += 1
    assert seen > 40


def _value(text: str) -> tuple[str, str | int | bool]:
    name, _, value = text.partition("=")
    if value in ("true", "false"):
        return name, value == "true"
    return name, int(value) if value.isdecimal() else value


def _parse(arguments: list[str]) -> None:
    command: click.Command = main
    while isinstance(command, click.Group) and arguments:
        found = command.get_command(click.Context(command), arguments[0])
        assert found is not None, arguments[0]
        command = found
        arguments = arguments[1:]
    # Files need not be there, but an unknown option is an error all the same.
    command.make_context("constraintrot", list(arguments), resilient_parsing=True)


@pytest.mark.soak
@pytest.mark.limit(300)
@pytest.mark.parametrize("name", BLOCKS)
def test_every_other_command_runs_with_a_stand_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)
    _furnish(tmp_path, monkeypatch, name)
    with serving() as stub:
        for address, key in shell.SERVED.values():
            monkeypatch.setenv(address, stub.url)
            monkeypatch.setenv(key, "none")
        for text in BLOCKS[name]:
            line = shell.parsed(text)
            if (extra := _needs(line.words)) and not _has(extra):
                pytest.skip(f"!!! constraintrot[{extra}] is not installed: NOT RUN: {text}")
            result = shell.run(line, monkeypatch)
            if result is None:
                continue
            fine = next((known for word, known in _FINDS.items() if word in line.words), {0})
            assert result.exit_code in fine, f"{text}\n{result.output}\n{result.exception!r}"


def _needs(words: Sequence[str]) -> str:
    """The extra without which a command does nothing."""
    if words[:2] == ["constraintrot", "sweep"]:
        return "scale"
    return "doctor" if words[:2] == ["constraintrot", "doctor"] and "-o" in words else ""


def _has(extra: str) -> bool:
    return all(extras.installed(module) for module in extras.MODULES[extra])


def _furnish(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What a reader has: sessions, rules, logs."""
    session = DOCS / "tutorials" / "session.jsonl"
    for place in ("sessions", ".claude/projects/-srv-shop"):
        (folder / place).mkdir(parents=True)
        shutil.copyfile(session, folder / place / "session.jsonl")
    shutil.copyfile(session, folder / "session.jsonl")
    rules = "rules:\n  - Never force-push to the release branch.\n"
    (folder / "rules.yaml").write_text(rules)
    (folder / "rules.txt").write_text("Never force-push to the release branch.\n")
    (folder / "team-rules.md").write_text("Never force-push to the release branch.\n")
    (folder / ".git").mkdir()
    origin = '[remote "origin"]\n\turl = https://github.com/acme/shop\n'
    (folder / ".git" / "config").write_text(origin)
    (folder / "AGENTS.md").write_text("- Never force-push to the release branch.\n")
    if name.startswith("docs/report.md"):
        played = shell.parsed(f"inspect eval constraintrot/soft_email --model {shell.SCRIPTED}")
        assert shell.run(played, monkeypatch)
    if BLOCKS[name][0] == "$ constraintrot pin status":
        # A pin is there already; its agent is not, so only the hook is proved.
        monkeypatch.setenv("PATH", "")
        pinned = shell.run(shell.parsed(_PINNED), monkeypatch)
        assert pinned is not None
        assert pinned.exit_code == 0, pinned.output
    if name.startswith("docs/doctor.md"):
        page = (DOCS / "doctor.md").read_text(encoding="utf-8")
        shown = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        (folder / "tried.yaml").write_text(next(one for one in shown if "trigger:" in one))
    if name in _GOES_ON:
        for text in BLOCKS[_GOES_ON[name]]:
            before = shell.run(shell.parsed(text), monkeypatch)
            assert before is None or before.exit_code == 0, before.output
