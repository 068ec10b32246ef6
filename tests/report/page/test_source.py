"""Each episode once, each file accounted for."""

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import compared, design, frames, runs, source
from constraintrot.report.page.detail import Detail, Details
from constraintrot.report.page.reading import RUNS_FILE
from constraintrot.tasks import catalogue
from constraintrot.tasks.pin_stress import pin_stress
from tests.report.page.helpers import row

EPISODES = 3 * 4 + 2 * 2 + 2 + 9 * 2


def test_a_folder_is_read_whole(scripted: Path) -> None:
    found = source.read([str(scripted)])
    assert len(found.frame) == EPISODES
    assert found.frame["episode"].is_unique
    assert all(" is a script, not a model: " in one for one in found.notices)
    assert len(found.notices) == found.frame["agent"].nunique()
    assert [run.planned for run in found.runs] == [run.finished for run in found.runs]
    assert len(found.details.kept) <= EPISODES


def test_a_run_says_how_to_run_it_again(scripted: Path) -> None:
    (run,) = [one for one in source.read([str(scripted)]).runs if one.task.endswith("soft_spend")]
    assert run.command.startswith("inspect eval constraintrot/soft_spend --model scripted/obedient")
    assert "-T conditions=control,compaction" in run.command
    assert "-T variants=2" in run.command
    assert len(run.sha256) == 64
    assert run.packages["constraintrot"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sample_id": "soft_*"}, "--sample-id 'soft_*'"),
        ({"sample_id": ["a", "b"]}, "--sample-id a,b"),
        ({"limit": 3}, "--limit 3"),
        ({"limit": (2, 5)}, "--limit 3-5"),
        ({"epochs": 4}, "--epochs 4"),
    ],
)
def test_the_command_says_which_samples(scripted: Path, given: dict[str, Any], words: str) -> None:
    path = next(path for path in scripted.glob("*spend*.eval"))
    header = read_eval_log(str(path), header_only=True)
    assert words.split()[0] not in runs.command(header)
    header.eval.config = header.eval.config.model_copy(update=given)
    assert runs.command(header).endswith(words)


def test_a_copy_and_the_frame_beside_it_count_once(logs: Path, tmp_path: Path) -> None:
    first = source.read([str(logs)])
    frames.write(first.frame, tmp_path)
    path = next(iter(sorted(logs.glob("*.eval"))))
    shutil.copy(path, logs / f"copy-{path.name}")
    again = source.read(
        [str(tmp_path / "episodes.csv"), str(tmp_path / "episodes.parquet"), str(logs)]
    )
    assert set(again.frame["episode"]) == set(first.frame["episode"])
    assert not [notice for notice in again.notices if "Played more than once" in notice]


def test_two_runs_of_the_same_episodes_count_once_and_it_is_said(logs: Path) -> None:
    path = next(path for path in logs.glob("*spend*.eval"))
    log = read_eval_log(str(path))
    log.eval.created = "2030-01-01T00:00:00+00:00"
    for sample in log.samples or []:
        sample.uuid = f"again-{sample.uuid}"
        if sample.metadata["condition"] == "compaction":
            assert sample.scores is not None
            score = sample.scores["violation"]
            score.value = 1 - score.as_float()
            score.metadata = {"outcome": "blocked"}
    write_eval_log(log, str(path.with_name("again.eval")))
    found = source.read([str(logs)])
    assert len(found.frame) == EPISODES
    (said,) = [notice for notice in found.notices if "Played more than once" in notice]
    assert "4 episodes" in said
    assert "2 of the 4 older ones had another outcome" in said
    spend = found.frame[(found.frame["family"] == "soft_spend") & ~found.frame["allowed"]]
    assert all(name.startswith("again-") for name in spend["episode"])


@pytest.mark.parametrize(
    ("fact", "values"),
    [
        ("split", ("held_out", "tuning")),
        ("system_prompt", ("short", "long")),
        ("exercised", (2, 0)),
    ],
)
def test_runs_with_other_texts_are_other_episodes(
    fact: str, values: tuple[object, object], tmp_path: Path
) -> None:
    """A newer run on the tuning split took the place of a held-out one, and was paired with it."""
    runs = [
        [row(violated, seed=seed, condition=condition, created=day, log=day, **{fact: value})
         for condition in ("control", "compaction") for seed in range(8)]
        for day, value, violated in zip(("2026-11-20", "2026-11-21"), values, (True, False), strict=True)
    ]  # fmt: skip
    for number, one in enumerate(runs):
        pd.DataFrame(one).to_csv(tmp_path / f"{number}.csv", index=False)
    found = source.read([str(tmp_path)])
    assert len(found.frame) == 32
    told = ", ".join(sorted(map(str, values)))
    assert any(f"several values of {fact} ({told})" in said for said in found.notices)
    # The control of one run and the compaction of the other are no pairs.
    parts = [one[:8] if number == 0 else one[8:] for number, one in enumerate(runs)]
    crossed = design.prepared(frames.tidy(pd.DataFrame([row for part in parts for row in part])))
    assert compared.pair(crossed, "a/model", "control", "compaction").comparison is None


def test_an_episode_that_two_tasks_call_differently_counts_once(tmp_path: Path) -> None:
    """``suite`` says ``defense_pin``, ``pin_stress`` says ``compaction`` with the defense ``pin``."""
    suite = catalogue.suite("soft_deploy", conditions="defense_pin", variants=1, context_tokens=300)
    stress = pin_stress(
        "pin", "soft_deploy", conditions="compaction", variants=1, context_tokens=300
    )
    for one in (suite, stress):
        inspect_eval(one, model="scripted/obedient", display="none", log_dir=str(tmp_path))
    found = source.read([str(tmp_path)])
    assert len(found.frame) == 1
    assert [one for one in found.notices if "Played more than once: 1 episodes" in one]


def test_a_truncated_log_is_named_and_not_counted(logs: Path) -> None:
    path = next(path for path in logs.glob("*spend*.eval"))
    path.write_bytes(path.read_bytes()[:2000])
    found = source.read([str(logs)])
    assert len(found.frame) == EPISODES - 4
    assert any(path.name in notice and "Not counted" in notice for notice in found.notices)
    with pytest.raises(ConstraintRotError, match="no readable Inspect log"):
        source.read([str(path)])


def test_an_unfinished_run_is_said(logs: Path) -> None:
    path = next(path for path in logs.glob("*spend*.eval"))
    log = read_eval_log(str(path))
    log.samples = (log.samples or [])[:1]
    write_eval_log(log, str(path))
    found = source.read([str(logs)])
    assert len(found.frame) == EPISODES - 3
    assert any("3 planned episodes of 1 runs have no verdict" in notice for notice in found.notices)


def test_nothing_there_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConstraintRotError, match="no finished ConstraintRot episode in"):
        source.read([str(tmp_path)])
    with pytest.raises(ConstraintRotError, match="no such log"):
        source.read([str(tmp_path / "nowhere")])


def test_a_log_of_another_task_is_left_out(tmp_path: Path, scripted: Path) -> None:
    @task
    def other() -> Task:
        return Task(dataset=[Sample(input="hello")])

    inspect_eval(other(), model="scripted/obedient", log_dir=str(tmp_path), display="none")
    with pytest.raises(ConstraintRotError, match=r"1 logs of other tasks"):
        source.read([str(tmp_path)])
    found = source.read([str(tmp_path), str(scripted)])
    assert len(found.frame) == EPISODES
    scripts = [one for one in found.notices if " is a script, not a model: " in one]
    assert found.notices == [*scripts, "Logs of other tasks, left out: 1."]


def test_urls_are_read(scripted: Path) -> None:
    memory: Any = import_module("fsspec").filesystem("memory")
    path = next(path for path in scripted.glob("*spend*.eval"))
    memory.pipe(f"/given/{path.name}", path.read_bytes())
    try:
        by_folder = source.read(["memory://given"])
        by_name = source.read([f"memory://given/{path.name}"])
    finally:
        memory.rm("/given", recursive=True)
    assert len(by_folder.frame) == len(by_name.frame) == 4


def test_the_report_s_own_folder_is_not_read(logs: Path) -> None:
    own = logs / "report"
    own.mkdir()
    frames.write(source.read([str(logs)]).frame.assign(episode="x"), own)
    assert len(source.read([str(logs)], leave_out=str(own)).frame) == EPISODES


def test_runs_come_with_the_frame(scripted: Path, tmp_path: Path) -> None:
    first = source.read([str(scripted)])
    frames.write(first.frame, tmp_path)
    (tmp_path / RUNS_FILE).write_bytes(runs.RUNS.dump_json(first.runs))
    again = source.read([str(tmp_path)])
    assert again.runs == first.runs
    (tmp_path / RUNS_FILE).write_text("[1]", encoding="utf-8")
    with pytest.raises(ConstraintRotError, match="no list of runs"):
        source.read([str(tmp_path / "episodes.csv")])


def test_details_are_of_every_kind_and_bounded() -> None:
    kept = Details(most=4)
    for number in range(50):
        kind = ("many",) if number < 48 else (f"rare {number}",)
        rank = kept.wants(kind)
        if rank is not None:
            kept.add(Detail(str(number)), rank)
    assert len(kept.kept) == 4
    assert {"48", "49"} <= set(kept.kept)
