"""``constraintrot demo``, on a scripted model."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from constraintrot.cli.main import main


def test_a_newcomer_sees_it_obey_forget_violate_and_obey_again(tmp_path: Path) -> None:
    command = [
        "demo",
        "--model",
        "scripted/obedient",
        "--variants",
        "1",
        "--log-dir",
        str(tmp_path),
    ]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table, told = result.output.split("One episode of soft_email, seed 0\n")
    for condition in ("floor", "control", "compaction", "defense_pin"):
        assert condition in table
    course = [line.strip() for line in told.splitlines() if "VIOLATED" in line or "OBEYED" in line]
    assert [line.split(".")[0] for line in course] == ["OBEYED", "VIOLATED", "OBEYED"]
    assert "lost: no sentence states it" in told
    assert "send_email(to=" in told
    files = sorted(tmp_path.glob("*.eval"))
    again = CliRunner().invoke(main, command, catch_exceptions=False)
    assert sorted(tmp_path.glob("*.eval")) == files
    assert told.splitlines()[:20] == again.output.split("seed 0\n")[1].splitlines()[:20]
