"""What is printed moves no cursor, what is written is whole, and what is not read is named."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from constraintrot import files
from constraintrot.errors import ConstraintRotError
from tests.conftest import Run
from tests.invoked import invoked

ESCAPE = "\x1b]0;title\x07\x1b[2J\u202emodel"


@pytest.fixture
def log(shared_run: Run) -> Path:
    return Path(shared_run("soft_deploy", variants=1, conditions="control,compaction").location)


@pytest.fixture
def renamed(log: Path, tmp_path: Path) -> Path:
    """The log of a model whose name is an escape sequence."""
    read = read_eval_log(str(log))
    read.eval.model = f"m/{ESCAPE}"
    for sample in read.samples or []:
        sample.metadata |= {"agent": f"m/{ESCAPE}", "defense": f"pin{ESCAPE}"}
    write_eval_log(read, str(tmp_path / "renamed.eval"))
    return tmp_path / "renamed.eval"


@pytest.mark.parametrize(
    "words",
    [
        ["table", "LOG"],
        ["table", "LOG", "--by", "agent"],
        ["table", "LOG", "--defenses"],
        ["table", "LOG", "--matrix", "agent", "condition"],
        ["report", "LOG", "-o", "OUT"],
        ["store", "add", "OUT", "LOG"],
        ["results", "export", "LOG", "-o", "OUT"],
        ["table", f"nowhere{ESCAPE}"],
    ],
)
def test_a_models_name_moves_no_cursor(words: list[str], renamed: Path, tmp_path: Path) -> None:
    named = {"LOG": str(renamed), "OUT": str(tmp_path / "out")}
    said = invoked(*[named.get(word, word) for word in words])
    assert "\x1b" not in said.output
    assert "\x07" not in said.output
    assert "\u202e" not in said.output


def test_a_full_disk_leaves_the_report_that_was_there(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["report", str(log), "-o", str(tmp_path / "page")]
    invoked(*words, exits=0)
    before = {path: path.read_bytes() for path in (tmp_path / "page").iterdir()}
    opened = os.fdopen

    def full(*args: Any, **given: Any) -> Any:
        file = opened(*args, **given)

        if "w" in str(args[1:]) and "b" in str(args[1:]):
            os.ftruncate(file.fileno(), 0)
            file.close()
            raise OSError(errno.ENOSPC, "No space left on device")
        return file

    monkeypatch.setattr(os, "fdopen", full)
    said = invoked(*words)
    monkeypatch.undo()
    assert said.exit_code == 2
    assert "No space left on device" in said.output
    assert {path: path.read_bytes() for path in (tmp_path / "page").iterdir()} == before


def test_a_file_is_written_through_a_link_and_to_a_device(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    files.write(tmp_path / "link.csv", "new\ud800", ConstraintRotError)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new\\ud800"
    files.write(Path("/dev/null"), "x", ConstraintRotError)
    files.write(tmp_path / "fresh.csv", "x", ConstraintRotError)
    (tmp_path / "plain.csv").write_text("x")
    assert (tmp_path / "fresh.csv").stat().st_mode == (tmp_path / "plain.csv").stat().st_mode
    with pytest.raises(ConstraintRotError, match="cannot write"):
        files.write(tmp_path / "none" / "x.csv", "x", ConstraintRotError)


def test_logs_in_json_are_named(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_eval_log(read_eval_log(str(log)), str(folder / "one.json"))
    (folder / "other.json").write_text('{"eval": 1}')
    (folder / "one.eval").write_bytes(log.read_bytes())
    for words in (["table"], ["report", "-o", str(tmp_path / "page")]):
        said = invoked(*words, folder, exits=0)
        assert "! not read, since it is in JSON:" in said.output
        assert "one.json" in said.output
        assert "other.json" not in said.output
