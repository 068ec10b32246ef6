"""``constraintrot report`` at the command line."""

import json
import subprocess
import sys
from pathlib import Path

from inspect_ai.log import read_eval_log

from constraintrot.report.page import frames, write
from tests.invoked import invoked
from tests.report.test_qualification import qualified


def test_it_writes_all_files_and_says_the_answer(scripted: Path, tmp_path: Path) -> None:
    result = invoked("report", scripted, "-o", tmp_path / "out", exits=0)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(write.NAMES)
    assert "Does compaction break the policies?" in result.stdout
    assert result.stdout.rstrip().endswith("report.html")


def test_a_qualification_stands_on_the_page_and_chooses_its_families(
    scripted: Path, tmp_path: Path
) -> None:
    given = qualified(tmp_path / "q.json", "soft_email")
    out = tmp_path / "out"
    result = invoked("report", scripted, "-o", out, "--qualification", given, exits=0)
    assert "(qualifies: 1 of 1 families)" in result.stdout
    assert "! Left out, with no qualification of theirs: hard_pii" in result.stderr
    shown = (out / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert "scripted/obedient, scaffold direct: families that claims are of:" in shown
    assert set(frames.read(str(out / "episodes.csv"))["family"]) == {"soft_email"}


def test_the_primary_claims_are_those_of_the_file(scripted: Path, tmp_path: Path) -> None:
    declared = tmp_path / "primary.yaml"
    declared.write_text(
        "margin: 0.2\nclaims: [{name: absent, claim: No policy at all., a: floor, b: control}]"
    )
    out = tmp_path / "out"
    # Two logs of one second have no order by name: the one with a control is asked for.
    logs = next(
        str(path)
        for path in scripted.glob("*soft-email*")
        if "control" in read_eval_log(str(path), header_only=True).eval.task_args["conditions"]
    )
    options = ["--primary", str(declared)]
    result = invoked("report", logs, "-o", out, *options, exits=0)
    told = json.loads((out / "summary.json").read_text())
    assert told["primary"]["margin"] == 0.2
    assert [one["b"] for one in told["comparisons"] if one["primary"]] == ["control"]
    assert "Not a primary claim" in result.stdout
    declared.write_text("margin: 2")
    wrong = invoked("report", logs, "-o", out, "--primary", declared, exits=2)
    assert "is no family of primary claims" in wrong.stderr


def test_nothing_to_report_on_exits_with_2_and_one_line(tmp_path: Path) -> None:
    result = invoked("report", tmp_path, "-o", tmp_path / "out", exits=2)
    assert "no finished ConstraintRot episode" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_was_left_out_is_said_on_standard_error(logs: Path, tmp_path: Path) -> None:
    for path in set(logs.iterdir()) - {next(logs.glob("*spend*.eval"))}:
        path.unlink()
    (logs / "cut.eval").write_bytes(b"PK\x03\x04 cut")
    result = invoked("report", logs, "-o", tmp_path / "out", exits=0)
    assert "! Not counted: cut.eval is no readable Inspect log" in result.stderr


def test_write_needs_no_drawing_library_to_say_that_it_is_missing() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['jinja2'] = None;"
        "import constraintrot.report.page.write"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
