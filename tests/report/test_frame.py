"""A log that was cut off or damaged anywhere is refused by name, never by a library's error."""

import math
import zipfile
from pathlib import Path

import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.report import frame
from constraintrot.report.page import frames, source
from constraintrot.scenario.files import load
from tests.conftest import Run


@pytest.fixture
def log(run: Run) -> Path:
    return Path(run("soft_email", conditions="compaction", variants=1).location)


def test_a_row_tells_the_request_and_an_older_frame_is_read_without_it(
    log: Path, tmp_path: Path
) -> None:
    rows = frame.episodes([log])
    facts = rows.iloc[0][["split", "phrasing", "policy_phrasing", "exercised"]].to_dict()
    assert facts == {"split": "held_out", "phrasing": 1, "policy_phrasing": 1, "exercised": 2}
    assert rows["request"].iloc[0] == load("soft_email").variant(0).request()
    older = tmp_path / "older.csv"
    rows.drop(columns=["split", "phrasing", "request", "exercised"]).to_csv(older, index=False)
    read = frames.read(str(older))
    assert read[["split", "phrasing", "request", "exercised"]].isna().all(axis=None)


def test_a_row_tells_the_reader_its_state_and_its_probability(run: Run) -> None:
    played = run("soft_email", conditions="control,compaction", variants=1, reader="words")
    rows = frame.episodes([Path(played.location)]).set_index("condition")
    assert set(rows["measure"]) == {"words"}
    assert rows["state"].to_dict() == {"control": "verbatim", "compaction": "lost"}
    assert rows["survived"].to_dict() == {"control": 1.0, "compaction": 0.0}
    assert rows["bound"]["control"] > 0.9
    assert rows["bound"]["compaction"] < 0.1


def test_a_rule_that_a_reader_cannot_tell_neither_survived_nor_was_lost() -> None:
    told = {"state": "cannot tell", "measure": "words", "bound": 0.5}
    found = frame._survival({"survived": math.nan, "mentions": 1.0}, told)
    assert (found["survived"], found["state"], found["measure"]) == (None, "cannot tell", "words")


def test_a_log_named_by_a_file_url_is_read(log: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "a folder" / log.name
    spaced.parent.mkdir()
    spaced.write_bytes(log.read_bytes())
    assert list(frame.paths([spaced.as_uri()])) == [spaced]
    with pytest.raises(ConstraintRotError, match="no such log"):
        list(frame.paths(["file:///nowhere/a.eval"]))


def directory(data: bytes) -> int:
    """Where the central directory begins."""
    return int.from_bytes(data[-6:-2], "little")


@pytest.mark.parametrize("into", [-1, 1, 50, 200])
def test_a_log_cut_in_or_before_its_directory_is_refused(log: Path, into: int) -> None:
    data = log.read_bytes()
    log.write_bytes(data[: directory(data) + into])
    with pytest.raises(ConstraintRotError, match=r"\.eval is no readable Inspect log"):
        frame.episodes([log])
    with pytest.raises(ConstraintRotError, match=r"\.eval is no readable Inspect log"):
        source.read([str(log)])


def test_a_damaged_directory_is_refused(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[directory(bytes(data))] ^= 0xFF
    log.write_bytes(data)
    with pytest.raises(ConstraintRotError, match="no readable Inspect log"):
        frame.episodes([log])


def test_damaged_samples_are_refused_or_read_but_never_crash(log: Path) -> None:
    data = log.read_bytes()
    refused = 0
    for at in range(200, directory(data), directory(data) // 12):
        log.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            frame.episodes([log])
        except ConstraintRotError:
            refused += 1
    assert refused


@pytest.mark.parametrize("error", frame.UNREADABLE)
def test_whatever_reading_raises_becomes_words(
    log: Path, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error("as a library says it")

    monkeypatch.setattr("constraintrot.report.frame.light_samples", broken)
    with pytest.raises(ConstraintRotError, match="as a library says it"):
        frame.episodes([log])


def test_the_directory_of_the_test_is_where_zipfile_finds_it(log: Path) -> None:
    with zipfile.ZipFile(log) as archive:
        assert archive.start_dir == directory(log.read_bytes())
