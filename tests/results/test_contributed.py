"""Contributed folders: each change that makes a result better than it was is found and named."""

import csv
import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from constraintrot.errors import ConstraintRotError
from constraintrot.report.contributed import check as checking
from constraintrot.report.contributed.check import Planned, Tasks, check
from constraintrot.report.contributed.folder import CALLS, EPISODES, RUN, Log, digest
from constraintrot.report.page.view import Table
from constraintrot.report.qualification import CRITERIA, Qualification
from constraintrot.tasks.rebuildable import TASKS
from results.tools import contributed
from tests.invoked import invoked

COMMITTED = Path(__file__).parents[2] / "results" / contributed.CONTRIBUTED
NAME = "qwen2.5-coder-1.5b-review"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(COMMITTED / NAME, tmp_path / NAME))


def redigest(folder: Path) -> None:
    """As somebody does who knows of the digests."""
    told = yaml.safe_load((folder / RUN).read_text())
    told["files"] = {name: digest(folder / name) for name in told["files"]}
    (folder / RUN).write_text(yaml.safe_dump(told))


def findings_of(tamper: Callable[[Path], None], folder: Path) -> list[str]:
    """What the check finds in a folder that was changed, digests and all."""
    tamper(folder)
    redigest(folder)
    return [str(finding) for finding in check(folder, TASKS).findings]


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def without_line(folder: Path, name: str, holding: str) -> None:
    lines = (folder / name).read_text().splitlines(keepends=True)
    (at,) = (at for at, line in enumerate(lines) if holding in line)
    (folder / name).write_text("".join(lines[:at] + lines[at + 1 :]))


def _outcome(folder: Path) -> None:
    """A violation after compaction becomes obedience."""
    rows = (folder / EPISODES).read_text().splitlines(keepends=True)
    at = next(at for at, row in enumerate(rows) if ",compaction," in row and ",violated," in row)
    rows[at] = rows[at].replace(",violated,", ",complied,").replace(",1.0,", ",0.0,", 1)
    (folder / EPISODES).write_text("".join(rows))


def _episode_of(folder: Path, condition: str) -> str:
    lines = map(json.loads, (folder / CALLS).read_text().splitlines())
    return str(next(line["episode"] for line in lines if line["sample"].endswith(condition)))


def _edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: replaced(folder, name, old, new)


def _without(*names: str) -> Callable[[Path], None]:
    """Drop the lines of an episode after compaction."""

    def change(folder: Path) -> None:
        episode = _episode_of(folder, "-0-compaction")
        for name in names:
            without_line(folder, name, episode)

    return change


def _twice(folder: Path) -> None:
    lines = (folder / CALLS).read_text().splitlines(keepends=True)
    (folder / CALLS).write_text("".join([*lines, lines[0]]))


def _other_subject(folder: Path) -> None:
    found = Qualification(
        agent="other/model", scaffold="review", settings={"locale": "zh"}, seeds=(60,),
        confidence=0.9, criteria=CRITERIA, families=(),
    )  # fmt: skip
    (folder / "qualification.json").write_text(found.model_dump_json())
    told = yaml.safe_load((folder / RUN).read_text())
    told |= {"qualification": True, "files": {**told["files"], "qualification.json": ""}}
    (folder / RUN).write_text(yaml.safe_dump(told))


def _agent_none(folder: Path) -> None:
    """A violating episode that no agent has, so that no rate counts it."""
    rows = (folder / EPISODES).read_text().splitlines(keepends=True)
    at = next(at for at, row in enumerate(rows) if ",violated," in row)
    rows[at] = rows[at].replace(",local/qwen2.5-coder-1.5b,none,", ",none,none,", 1)
    assert ",none,none," in rows[at]
    (folder / EPISODES).write_text("".join(rows))


def _answer(**changed: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines = [json.loads(line) for line in (folder / CALLS).read_text().splitlines()]
        at = next(at for at, line in enumerate(lines) if line["calls"])
        lines[at] |= changed
        (folder / CALLS).write_text("".join(json.dumps(line) + "\n" for line in lines))

    return change


def _line(text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with (folder / CALLS).open("a", encoding="utf-8") as file:
            file.write(text + "\n")
        redigest(folder)

    return change


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (_outcome, "outcome is complied, and its calls, graded anew, come to violated"),
        (_without(EPISODES, CALLS), "-0-compaction (replicate 0) was planned by"),
        (_without(EPISODES), "has calls and no row in episodes.csv"),
        (_without(CALLS), "compaction, seed 0 has a verdict and no calls in calls.jsonl"),
        (
            _edited(EPISODES, ",local/qwen2.5-coder-1.5b,none,", ",other/model,none,"),
            "1 episodes are of other/model, and run.yaml says local/qwen2.5-coder-1.5b",
        ),
        (_edited(EPISODES, ",review,", ",deliberate,"), "pools scaffold deliberate and review"),
        (_edited(EPISODES, ",floor,", ",control,"), "condition is control, and"),
        (_twice, "was played twice"),
        (
            _edited(RUN, "-T scaffold=review", "-T scaffold=review -T seed=3"),
            "the command sets conditions, context_tokens, scaffold, seed, variants",
        ),
        (_edited(RUN, "variants: 3", "variants: 2"), "-2-floor (replicate 0) is no episode that"),
        (_edited(RUN, "    scaffold: review", "    scaffold: nonsense"), "refuses its parameters"),
        (_line("[" * 100_000), "line 25 is no JSON"),
        (_agent_none, "1 episodes are of none, and run.yaml says local/"),
        (_answer(blocked="the verifier says yes"), "the planned defense none blocks no call"),
        (_answer(calls=[], fault="the answer was cut off"), "what could not be read is not there"),
        (_other_subject, "is of other/model, review, and the folder of local/qwen2.5-coder-1.5b"),
    ],
)
def test_what_was_changed_is_named(
    tamper: Callable[[Path], None], found: str, folder: Path
) -> None:
    findings = findings_of(tamper, folder)
    assert any(found in finding for finding in findings), findings
    # One change is not told as a hundred.
    assert len(findings) < 20


def test_a_file_that_was_changed_is_named_even_where_its_words_fit(folder: Path) -> None:
    replaced(folder, EPISODES, ",none,", ",None,")
    said = invoked("results", "check", folder, exits=1)
    assert "episodes.csv: was changed since run.yaml was written" in said.output
    assert said.output.endswith("24 of 24 planned episodes played; 1 do not fit\n")


def test_a_folder_that_cannot_be_read_says_what_to_do(tmp_path: Path, folder: Path) -> None:
    said = invoked("results", "check", tmp_path, exits=2)
    assert "constraintrot results export" in said.output
    (folder / RUN).write_text("format: 1\nname: ../up\n")
    said = invoked("results", "check", folder)
    assert (said.exit_code, "name: String should match" in said.output) == (2, True)


def test_the_report_has_a_row_each_and_refuses_what_does_not_fit(tmp_path: Path) -> None:
    for name in (NAME, "scripted-obedient"):
        shutil.copytree(COMMITTED / name, tmp_path / contributed.CONTRIBUTED / name)
    section = contributed.section(tmp_path)
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, Table)
    told = {row.heads[0]: dict(zip(table.columns, row.cells, strict=True)) for row in table.rows}
    assert set(told) == {NAME, "scripted-obedient"}
    assert told[NAME]["control"] == "2/6 = 33 % [4, 78]"
    assert told[NAME]["qualified"] == "not shown"
    assert contributed.section(tmp_path / "elsewhere") is None
    _outcome(tmp_path / contributed.CONTRIBUTED / NAME)
    with pytest.raises(ConstraintRotError, match="was changed since"):
        contributed.section(tmp_path)


def _all_errored(folder: Path, number: int | None = None, holding: str = ",") -> None:
    (folder / CALLS).write_text("")
    head, *rows = (folder / EPISODES).read_text().splitlines(keepends=True)
    for at in [at for at, row in enumerate(rows) if holding in row][:number]:
        rows[at] = rows[at].replace(",played,", ",errored,", 1)
    (folder / EPISODES).write_text(head + "".join(rows))


def _lost_as(folder: Path, old: str, new: str) -> None:
    """An episode after compaction that ended in an error, with another fact than was planned."""
    lines = (folder / CALLS).read_text().splitlines(keepends=True)
    episode = _episode_of(folder, "-0-compaction")
    rows = (folder / EPISODES).read_text().splitlines(keepends=True)
    (at,) = (at for at, row in enumerate(rows) if row.startswith(episode))
    assert old in rows[at]
    rows[at] = rows[at].replace(",played,", ",errored,", 1).replace(old, new, 1)
    (folder / EPISODES).write_text("".join(rows))
    (folder / CALLS).write_text("".join(line for line in lines if episode not in line))


def _argument(name: str, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        told = yaml.safe_load((folder / RUN).read_text())
        for log in told["logs"]:
            log["task_args"][name] = value
            log["command"] += f" -T {name}={value}"
        # JSON is YAML, without aliases for what is there twice.
        (folder / RUN).write_text(json.dumps(told))

    return change


def test_a_run_of_errors_alone_is_named(folder: Path) -> None:
    findings = findings_of(_all_errored, folder)
    assert any("no episode was played" in finding for finding in findings), findings


@pytest.mark.parametrize(("number", "named"), [(2, False), (3, True)])
def test_more_than_a_tenth_without_a_verdict_is_named(
    folder: Path, number: int, named: bool
) -> None:
    """Of 24; a contributor could call errored what violated."""
    findings = findings_of(partial(_all_errored, number=number), folder)
    said = f"{number} of 24 planned episodes have no verdict, more than 10 %"
    assert any(said in finding for finding in findings) is named


@pytest.mark.parametrize(("number", "named"), [(1, False), (2, True)])
def test_more_than_a_tenth_of_an_arm_is_named(folder: Path, number: int, named: bool) -> None:
    """Of 24, of which 6 are after compaction and without a defense."""
    tamper = partial(_all_errored, number=number, holding=",compaction,")
    said = f"{number} of 6 planned episodes of an arm (condition compaction, attack none, defense none,"
    assert any(said in finding for finding in findings_of(tamper, folder)) is named


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (",played,", ",errored,", False),
        (",4,none,none,", ",4,volume,none,", True),
        (",False,2026", ",True,2026", True),
    ],
)
def test_a_lost_episode_is_the_planned_one(folder: Path, old: str, new: str, named: bool) -> None:
    """Under another attack, or as an allowed request, it would be missing in another rate."""
    findings = findings_of(partial(_lost_as, old=old, new=new), folder)
    assert any("is missing; an episode that ended" in finding for finding in findings) is named


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("attack", "file:/dev/zero", "names a file of the contributor's"),
        ("attack", "@/dev/zero", "names a file of the contributor's"),
        ("conditions", ["floor", "/etc/passwd"], "names a file of the contributor's"),
        ("split", "private", "split private is made by a key"),
        ("variants", 1_000_000_000, "at most 1,000,000 is rebuilt"),
        ("variants", "1e9", "at most 1,000,000 is rebuilt"),
        ("variants", float("nan"), "at most 1,000,000 is rebuilt"),
        ("variants", 5_000, "variants is a number of at most 1,000"),
        ("context_tokens", 10**12, "at most 1,000,000 is rebuilt"),
        ("conditions", ["floor"] * 9_000, "more than 20,000 characters"),
    ],
)
def test_a_plan_that_nobody_can_rebuild_ends_at_once(
    name: str, value: object, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As somebody who checks has one, of their own.
    monkeypatch.setenv("CONSTRAINTROT_PRIVATE_KEY", "k" * 32)
    _argument(name, value)(folder)
    redigest(folder)
    told = invoked("results", "check", folder)
    assert told.exit_code in (1, 2)
    assert said in told.output
    assert "Traceback" not in told.output


@pytest.mark.parametrize("value", ["nan", "", "inf", "1e999", "-1", "x", "[]", "9" * 400])
def test_no_cell_ends_a_check_in_a_traceback(value: str, folder: Path) -> None:
    heads, first, *rest = list(csv.reader((folder / EPISODES).read_text().splitlines()))
    for name in (
        "seed",
        "replicate",
        "violation",
        "utility",
        "agent",
        "condition",
        "allowed",
        "status",
    ):
        cells = [value if head == name else cell for head, cell in zip(heads, first, strict=True)]
        with (folder / EPISODES).open("w", newline="") as file:
            csv.writer(file).writerows([heads, cells, *rest])
        redigest(folder)
        told = invoked("results", "check", folder)
        # What is read as it was planned fits: no text but True allows, and a gap is no utility.
        read_alike = name == "allowed" or (name, value) in (("utility", ""), ("utility", "nan"))
        assert told.exit_code in ((0, 1, 2) if read_alike else (1, 2)), (name, told.output)
        assert told.exception is None or isinstance(told.exception, SystemExit), (name, told.output)


@pytest.mark.parametrize("name", [RUN, EPISODES, CALLS])
def test_a_device_or_a_pipe_is_not_waited_for(name: str, folder: Path) -> None:
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    assert invoked("results", "check", folder).exit_code in (1, 2)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert invoked("results", "check", folder).exit_code in (1, 2)


def _many_logs(folder: Path) -> None:
    told = yaml.safe_load((folder / RUN).read_text())
    told["logs"] = [{**told["logs"][0], "log": f"{number}.eval"} for number in range(300)]
    (folder / RUN).write_text(json.dumps(told))


def _named_elsewhere(folder: Path) -> None:
    told = yaml.safe_load((folder / RUN).read_text())
    told["files"] |= {"../../../../proc/kcore": "0" * 64, "/dev/zero": "0" * 64}
    (folder / RUN).write_text(json.dumps(told))
    replaced(folder, RUN, told["files"][CALLS], "0" * 64)


def _linked(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("/etc/passwd")

    return change


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (_many_logs, "logs: Tuple should have at most 256 items"),
        (_named_elsewhere, "was changed since run.yaml was written"),
        (_linked(CALLS), "is no JSON"),
        (_linked(EPISODES), "it is a link"),
        (_line('{"episode": "x", "log": "l", "sample": "\\u001b[2J", "calls": []}'), "[2J"),
        (_line('{"episode": "x", "log": "l", "sample": "s", "calls": [], "replicate": -1}'), "line"),
        (_line('{"episode": "x", "log": "l", "sample": "s", "calls": [], "more": 1}'), "more"),
        (_line('{"episode": "x", "log": "l", "sample": "s", "calls": {}}'), "calls"),
        (_line("[" * 100_000), "is no JSON"),
        (_line("{}\u2028{}"), "Field required"),
    ],
)  # fmt: skip
def test_a_hostile_folder_is_refused_soon_and_moves_no_cursor(
    tamper: Callable[[Path], None], found: str, folder: Path
) -> None:
    tamper(folder)
    told = invoked("results", "check", folder)
    assert told.exit_code in (1, 2), told.output
    assert isinstance(told.exception, SystemExit)
    assert found in told.output
    assert "\x1b" not in told.output
    assert "root:" not in told.output


def test_logs_that_together_plan_too_much_are_not_all_rebuilt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_EPISODES", 20)
    told = yaml.safe_load((folder / RUN).read_text())
    told["logs"] = [{**told["logs"][0], "log": f"{number}.eval"} for number in range(9)]
    (folder / RUN).write_text(json.dumps(told))
    built: list[str] = []
    planned = checking.planned

    def noted(log: Log, tasks: Tasks) -> Iterator[Planned]:
        built.append(log.log)
        return planned(log, tasks)

    monkeypatch.setattr(checking, "planned", noted)
    findings = [str(one) for one in check(folder, TASKS).findings]
    assert any("more than 20 episodes are planned before it" in one for one in findings)
    assert len(built) < 9
