"""A store: cells whole or not at all, and the same numbers as from the frames themselves."""

import json
import random
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from constraintrot.cli import report as cli_report
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.report import cells, compare_output, stored
from constraintrot.report.arms import frame_rate
from constraintrot.report.compare import Question, answer
from constraintrot.report.facts import named
from constraintrot.report.overview.episodes import Episodes, differences, episodes, rates
from constraintrot.report.page import compared, design, frames, source
from constraintrot.report.planned import PLANNED, planned_episodes
from constraintrot.report.store import Commit, Store
from constraintrot.stats.rate import BCA
from tests.bench_report import episodes as invented
from tests.bench_report import settings as settings_of
from tests.invoked import invoked


def add(store: Store, rows: list[dict[str, Any]], cell: str, **more: Any) -> Commit:
    """Commit episodes as a cell, without an Inspect log."""
    frame = frames.tidy(pd.DataFrame(rows))
    return store.add(
        cell, frames.parquet_bytes(frame), rows=len(frame),
        finished=int((frame["status"] == "played").sum()), created="2026-11-01", **more,
    )  # fmt: skip


PLAYED = [
    one
    for one in settings_of()
    if one["attack"] in ("none", "inject_deprecation")
    and one["defense"] in ("none", "pin")
    and one["rounds"] in (1, 2, "none")
    and (one["locale"], one["channel"], one["harness"]) == ("en", "user", "replay")
]


def rows(seed: int, n: int, models: int = 2) -> list[dict[str, Any]]:
    """Invented episodes of a few settings, some of which nobody finished."""
    draw = random.Random(seed)
    made = list(invented(n, [f"m/{at}" for at in range(models)], PLAYED))
    for one in made:
        one["violation"] = float(draw.random() < 0.4) if not one["allowed"] else 0.0
        one["summary_draw"] = f"draw-{draw.randrange(5)}"
        if draw.random() < 0.05:
            one |= {"status": "errored", "violation": None, "outcome": None, "survived": None}
            one |= {"utility": None, "over_refusal": None}
    return made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two cells that share a third of their episodes."""
    made = Store(tmp_path_factory.mktemp("store") / "results")
    first = rows(0, 1_800)
    second = [one | {"episode": f"again-{one['episode']}"} for one in first[:300]]
    add(made, first, "one/cell: with a name")
    add(made, [*second, *rows(1, 3_000)[1_800:]], "two")
    return made


def whole(store: Store) -> source.Source:
    return source.read([store.url])


def overview_of(store: Store) -> Episodes:
    return episodes(stored.stores([store.url]))


def test_the_overviews_rates_are_those_of_the_page(store: Store) -> None:
    read = whole(store)
    frame = design.prepared(read.frame)
    found = overview_of(store)
    assert (found.planned, found.n) == (len(read.planned), len(frame))
    assert 270 < found.repeated < 300
    seen, methods = 0, set[object]()
    for one in rates(found):
        part = frame[
            (frame["agent"] == one.cell.agent)
            & (frame["arm"] == one.cell.arm)
            & (frame["allowed"] == one.cell.allowed)
        ]
        for name, value in zip(design.SETTINGS, one.cell.setting, strict=True):
            part = part[part[name].map(lambda at, value=value: (at or "none") == value)]
        assert one.estimate == frame_rate(part, one.value)
        methods.add(getattr(one.estimate, "method", None))
        seen += one.estimate.n if one.value == "violation" else 0
    assert {BCA, None} & methods == {BCA}
    assert seen == int((frame["violation"].notna() & ~frame["allowed"]).sum())


def test_the_overviews_differences_are_those_of_the_page(store: Store) -> None:
    frame = design.prepared(whole(store).frame)
    main_rows, _ = design.main(frame[~frame["allowed"]])
    of_page = {(one.agent, one.a, one.b): one.comparison for one in compared.main(main_rows)}
    found = differences(overview_of(store))
    asked = frame[~frame["allowed"]]
    usual = {name: design.commonest(part) for name, part in asked.groupby("agent")}
    equal = 0
    for one in found:
        setting = dict(zip(design.SETTINGS, one.cell.setting, strict=True))
        at_main = setting == usual[one.cell.agent]
        if not at_main or one.comparison is None:
            continue
        theirs = of_page[one.cell.agent, one.a, one.cell.arm]
        assert theirs is not None
        ours = one.comparison
        assert (ours.difference, ours.p_value, ours.a, ours.b) == (
            theirs.difference, theirs.p_value, theirs.a, theirs.b,
        )  # fmt: skip
        equal += 1
    assert equal >= 8


MAIN = {
    "condition": "compaction", "compactor": "summarize", "budget_words": "60", "rounds": "1",
    "attack": "none", "defense": "none", "channel": "user", "locale": "en", "harness": "replay",
}  # fmt: skip
ASKED = (
    Question({"condition": "control"}, MAIN),
    Question(MAIN, MAIN | {"defense": "pin"}, no_worse=0.1),
    Question(None, {"condition": "compaction"}, at_most=0.5),
)


def said(frame: pd.DataFrame, question: Question) -> object:
    try:
        return compare_output.summary(answer(named(frame), question))
    except ParameterError as error:
        return str(error)


def same_of_store_and_frame(folder: Path, given_rows: list[dict[str, Any]], asked: object) -> None:
    made = Store(folder / "store")
    add(made, given_rows, "cell")
    frame = frames.tidy(pd.DataFrame(given_rows))
    lost = frame["status"] == "errored"
    frame.loc[lost, "outcome"] = "missing"
    frame = pd.concat([frame[~lost], frame[lost]], ignore_index=True).assign(**{PLANNED: True})
    of_store = planned_episodes([made.url])
    for question in ASKED:
        if asked in (question, None):
            assert said(of_store, question) == said(frame, question)


def test_compare_says_of_a_store_what_it_says_of_the_frame(tmp_path: Path) -> None:
    made = rows(0, 250, 1)
    same_of_store_and_frame(tmp_path, made, ASKED[0])
    assert isinstance(said(planned_episodes([str(tmp_path / "store")]), ASKED[0]), dict)


# Without shrinking: an example that fails is small enough, and each costs seconds.
@pytest.mark.soak
@settings(max_examples=20, phases=[Phase.generate])
@given(seed=st.integers(0, 1_000), n=st.integers(100, 400), models=st.integers(1, 2))
def test_compare_says_the_same_of_any_store_and_frame(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n: int, models: int
) -> None:
    folder = tmp_path_factory.mktemp("property")
    same_of_store_and_frame(folder, rows(seed, n, models), None)


def test_a_cell_counts_once_and_the_whole_one_whatever_the_order(tmp_path: Path) -> None:
    made = [rows(0, 60), rows(0, 60)[:40]]
    for name, order in (("ab", (0, 1)), ("ba", (1, 0))):
        store = Store(tmp_path / name)
        for at in order:
            add(store, made[at], "cell")
        (one,) = store.commits()
        assert one.rows == 60


def test_a_reader_sees_no_cell_before_its_commit_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    add(store, rows(0, 30), "whole")
    written: list[str] = []
    write = Store._write

    def dies(self: Store, name: str, data: bytes) -> None:
        if name.startswith("commits/"):
            raise KeyboardInterrupt
        written.append(name)
        write(self, name, data)

    monkeypatch.setattr(Store, "_write", dies)
    with pytest.raises(KeyboardInterrupt):
        add(store, rows(1, 30), "killed")
    assert [name.split("/")[0] for name in written] == ["frames"]
    assert [one.cell for one in store.commits()] == ["whole"]
    assert len(whole(store).planned) == 30


def test_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    content = frames.parquet_bytes(frames.tidy(pd.DataFrame(rows(0, 20))))
    seen: list[int] = []

    def write(worker: int) -> None:
        for at in range(5):
            Store(tmp_path).add(f"{worker}-{at}", content, rows=20, finished=20)

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if Store(tmp_path).exists:
            store = Store(tmp_path)
            now = store.commits()
            assert all(len(one) for one in store.read(now).values())
            seen.append(len(now))
    assert len(Store(tmp_path).commits()) == 20
    assert seen == sorted(seen)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b""), "bytes, and"),
        (lambda path: path.unlink(), "FileNotFoundError"),
        (lambda path: path.write_bytes(b"x" * path.stat().st_size), "its SHA-256 is another"),
    ],
    ids=["cut off", "missing", "garbage"],
)
def test_a_spoiled_frame_is_named(tmp_path: Path, spoil: Any, said: str) -> None:
    store = Store(tmp_path)
    commit = add(store, rows(0, 20), "cell")
    spoil(tmp_path / commit.frame)
    for read in (planned_episodes, source.read):
        with pytest.raises(ConstraintRotError, match=said):
            read([store.url])


def test_what_is_wrong_with_a_store_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConstraintRotError, match="nosuch://x"):
        Store("nosuch://x")
    with pytest.raises(ConstraintRotError, match="is no store"):
        Store(tmp_path).commits()
    (tmp_path / "constraintrot-store.json").write_text('{"version": 99}')
    with pytest.raises(ConstraintRotError, match="version 99"):
        Store(tmp_path).commits()
    with pytest.raises(ConstraintRotError, match="not all that was given"):
        stored.stores([str(tmp_path), "other"])
    (tmp_path / "constraintrot-store.json").write_text('{"version": 1}')
    with pytest.raises(ConstraintRotError, match="no committed cell"):
        stored.stores([str(tmp_path)])


@pytest.mark.parametrize("frame", ["frames/../../ab.parquet", "/etc/passwd", "frames/ab.csv"])
def test_a_commit_names_no_file_outside_of_its_store(tmp_path: Path, frame: str) -> None:
    commit = add(Store(tmp_path), rows(0, 20), "cell")
    (path,) = (tmp_path / "commits").rglob("*.json")
    path.write_text(commit.model_copy(update={"frame": frame}).model_dump_json())
    with pytest.raises(ConstraintRotError, match="is no commit of a store"):
        Store(tmp_path).commits()


def test_a_full_disk_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    add(store, rows(0, 20), "cell")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConstraintRotError, match="No space left"):
        add(store, rows(1, 30), "cell")
    monkeypatch.undo()
    assert store.commits()[0].rows == 20


def test_the_command_writes_an_overview_of_a_large_store(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_report, "LARGEST_PAGE", 100)
    invoked("report", store.url, "-o", tmp_path, exits=0)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["kind"] == "overview"
    table = pd.read_csv(tmp_path / "rates.csv")
    assert len(table) == len(summary["rates"]) > 10
    assert '<table role="table">' in (tmp_path / "report.html").read_text()
    refused = invoked("report", store.url, "-o", tmp_path, "--figures", exits=2)
    assert "an overview takes no" in refused.output


def test_a_log_is_committed_as_the_report_reads_it(scripted: Path, tmp_path: Path) -> None:
    logs = cells.expanded([str(scripted)])
    for log in [*logs, logs[0]]:
        cells.commit(tmp_path / "store", log)
    of_store, of_logs = source.read([str(tmp_path / "store")]), source.read([str(scripted)])
    assert len(of_store.runs) == len(logs)
    assert of_store.runs == of_logs.runs
    pd.testing.assert_frame_equal(
        of_store.planned.sort_values("episode", ignore_index=True),
        of_logs.planned.sort_values("episode", ignore_index=True),
    )
    refused = invoked("store", "add", tmp_path, tmp_path / "nothing", exits=2)
    assert "no such log" in refused.output
