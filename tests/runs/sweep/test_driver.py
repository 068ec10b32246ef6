"""The driver: faults, cells that are set aside, looks, and a folder that remembers."""

from pathlib import Path

import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.report.store import Store
from constraintrot.report.store.commits import MARKER
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.driver import CRASHES, State, drive, ordered
from constraintrot.runs.sweep.folder import SweepFolder, catch_up
from tests.runs.sweep.pools import ScriptedPool, cell

CELLS = [cell(number) for number in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    return SweepFolder(str(tmp_path / "sweep"))


def test_a_cell_that_fails_k_times_is_set_aside_and_the_rest_goes_on(folder: SweepFolder) -> None:
    bad = CELLS[1].id
    pool = ScriptedPool(folder, {bad: ["no such model"] * 9})
    state = drive(CELLS, folder, pool, tries=3)
    assert state.finished == {one.id for one in CELLS} - {bad} == folder.finished()
    assert pool.started.count(bad) == 3
    assert folder.poisoned()[bad]["error"] == "no such model"

    again = ScriptedPool(folder, {})
    assert drive(CELLS, folder, again).poisoned.keys() == {bad}
    assert again.started == [], "neither what is finished nor what was set aside"

    folder.forgive(folder.poisoned())
    assert drive(CELLS, folder, again).done
    assert again.started == [bad]


def test_deaths_of_workers_are_no_failures_until_they_are_hopeless(folder: SweepFolder) -> None:
    unlucky, deadly = CELLS[0].id, CELLS[2].id
    pool = ScriptedPool(folder, {unlucky: ["crash"] * (CRASHES - 1), deadly: ["crash"] * 99})
    state = drive(CELLS, folder, pool, tries=3)
    assert unlucky in state.finished
    assert pool.started.count(deadly) == CRASHES
    assert state.poisoned.keys() == {deadly}
    assert state.crashes == 2 * CRASHES - 1


def test_a_worker_that_dies_after_its_log_is_in_place_is_not_played_again(
    folder: SweepFolder, tmp_path: Path
) -> None:
    late = CELLS[0]

    class DyingPool(ScriptedPool):
        def start(self, cell: Cell) -> None:
            super().start(cell)
            log = tmp_path / "whole.eval"
            log.write_bytes(b"a log")
            folder.commit(cell.id, str(log), {"episodes": 1})

    pool = DyingPool(folder, {late.id: ["crash"]})
    state = drive([late], folder, pool)
    assert (pool.started, state.finished, state.crashes) == ([late.id], {late.id}, 1)


def test_what_a_killed_process_had_not_finished_writing_is_not_read(folder: SweepFolder) -> None:
    folder.poison("a", "label", "x")
    folder.fail("b", "x")
    for name in ("poisoned/.c.json.0f", "failed/b/.2.json.0f", "logs/.d.eval.0f.part"):
        rest = Path(folder.path(name))
        rest.parent.mkdir(exist_ok=True)
        rest.write_bytes(b'{"cell"')
    assert folder.poisoned().keys() == {"a"}
    assert (folder.failures("b"), folder.finished()) == (1, set())


def test_failures_count_over_drivers(folder: SweepFolder) -> None:
    bad = CELLS[0].id

    class KilledError(Exception):
        pass

    def die(state: State, played: object) -> None:
        if state.failures == 2:
            raise KilledError

    with pytest.raises(KilledError):
        drive(CELLS[:1], folder, ScriptedPool(folder, {bad: ["x"] * 9}), tries=3, listen=die)
    pool = ScriptedPool(folder, {bad: ["x"] * 9})
    assert drive(CELLS[:1], folder, pool, tries=3).poisoned.keys() == {bad}
    assert pool.started == [bad]


def test_a_rule_is_asked_after_each_look_alone_and_ends_the_rest(folder: SweepFolder) -> None:
    cells = [cell(number, look=1 + number % 3) for number in range(9)]
    asked: list[int] = []

    def rule(state: State) -> str:
        asked.append(len(state.finished))
        return "enough" if len(asked) == 2 else ""

    pool = ScriptedPool(folder, {cells[0].id: ["crash", "once"]}, at_once=4)
    state = drive(cells, folder, pool, rule=rule)
    assert (asked, state.stopped) == ([3, 6], "enough")
    assert len(state.finished) == 6
    assert not state.done


def test_cells_with_the_same_history_follow_each_other() -> None:
    mixed = [cell(0), cell(1), cell(0, model="scripted/reckless"), cell(1)]
    mixed[3] = type(mixed[3])({**mixed[3].task, "args": {**mixed[3].args, "defense": "pin"}})
    assert [one.args["seed"] for one in ordered(mixed)] == [0, 1, 1, 0]
    assert mixed[1].prefix == mixed[3].prefix != mixed[0].prefix


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    folder: SweepFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drive(CELLS[:1], folder, ScriptedPool(folder, {}))
    log = tmp_path / "next.eval"
    log.write_bytes(b"x")

    def full(source: object, target: Path) -> None:
        target.write_bytes(b"par")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("constraintrot.folders.shutil.copyfile", full)
    with pytest.raises(ConstraintRotError, match=r"No space left on device; what is finished is"):
        folder.commit(CELLS[1].id, str(log), {})
    assert folder.finished() == {CELLS[0].id}
    assert [path.name for path in Path(folder.path("logs")).iterdir()] == [f"{CELLS[0].id}.eval"]
    assert log.exists(), "the try is kept"


def test_a_folder_that_cannot_be_reached_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConstraintRotError, match="cannot be written"):
        SweepFolder(str(tmp_path / "file" / "below")).check()
    # Linux refuses folders there as if it were missing.
    with pytest.raises(ConstraintRotError, match=r"/proc/x cannot be written: No such file"):
        SweepFolder("/proc/x").check()
    with pytest.raises(ConstraintRotError, match="nosuch"):
        SweepFolder("nosuch://bucket/x")


def test_a_store_that_is_gone_is_told_before_and_after_and_caught_up(
    folder: SweepFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    Store(store).check()
    assert [path.name for path in store.iterdir()] == [MARKER]
    (tmp_path / "file").write_text("")
    with pytest.raises(ConstraintRotError, match=r"store .*below cannot be used"):
        Store(tmp_path / "file" / "below").check()

    done = drive(CELLS[:2], folder, ScriptedPool(folder, {})).finished
    put: list[str] = []

    def gone(store: str, log: str, cell: str) -> None:
        raise ConstraintRotError("store s3://x cannot be used: it is gone")

    monkeypatch.setattr("constraintrot.report.cells.commit", gone)
    with pytest.raises(ConstraintRotError, match="it is gone; the logs are whole, and the same"):
        catch_up(str(store), folder, done)
    monkeypatch.setattr(
        "constraintrot.report.cells.commit", lambda store, log, cell: put.append(cell)
    )
    assert catch_up(str(store), folder, done) == 2
    assert set(put) == done


def test_an_object_store_does_as_a_folder_does(tmp_path: Path) -> None:
    folder = SweepFolder("memory://sweep-test")
    folder.check()
    pool = ScriptedPool(SweepFolder(str(tmp_path)), {})
    log = tmp_path / "one.eval"
    log.write_bytes(b"whole")
    folder.keep_try("c", "t", str(log))
    assert len(folder.tries("c")) == 1
    assert folder.commit("c", str(log), {"episodes": 2}).endswith("sweep-test/logs/c.eval")
    assert (folder.finished(), folder.counts(), folder.tries("c")) == (
        {"c"},
        {"c": {"episodes": 2}},
        [],
    )
    assert folder.fail("d", "x") == 1
    folder.poison("d", "label", "x")
    assert folder.poisoned()["d"]["error"] == "x"
    folder.forgive(["d"])
    assert (folder.poisoned(), folder.failures("d")) == ({}, 0)
    assert pool.started == []
