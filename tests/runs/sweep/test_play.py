"""A cell played for real: a try that broke off, the next one that goes on, and a server."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelUsage

from constraintrot.errors import EpisodeError
from constraintrot.models.scripted.agents import Scripted
from constraintrot.models.scripted.server import PrefixCache, server
from constraintrot.report.frame import planned_episodes
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.folder import FolderError, SweepFolder
from constraintrot.runs.sweep.local import adopt
from constraintrot.runs.sweep.play import counts, furthest, play
from tests.runs.sweep.drill import differing

OPTIONS: dict[str, Any] = {"score_display": False, "retry_on_error": 0, "max_samples": 1}
ARGS = {"variants": 2, "context_tokens": 300, "compactor": "truncate"}
CELL = Cell({"name": "constraintrot/soft_email", "args": ARGS, "model": "scripted/obedient"})
BREAKS_AT = 4


def test_a_try_that_broke_off_is_taken_up_and_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SweepFolder(str(tmp_path / "sweep"))
    generate, calls = Scripted.generate, 0

    async def breaking(self: Scripted, *given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == BREAKS_AT:
            raise OSError("the model is gone")
        return await generate(self, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Scripted, "generate", breaking)
        with pytest.raises(EpisodeError, match=r"1 of 6 episodes ended in an error; .*gone"):
            play(CELL, folder, OPTIONS)
    assert (folder.finished(), furthest(folder, CELL.id)) == (set(), 5)
    (broken,) = folder.tries(CELL.id)
    before = {one.uuid for one in read_eval_log(broken).samples or [] if one.error is None}

    played = play(CELL, folder, OPTIONS)
    assert (played.counts["episodes"], folder.finished()) == (6, {CELL.id})
    assert played.counts["rates"] == {"floor": [2, 2], "control": [0, 2], "compaction": [2, 2]}
    after = [one.uuid for one in read_eval_log(played.log).samples or []]
    assert before < set(after)
    assert len(after) == len(set(after)) == 6
    assert folder.tries(CELL.id) == []

    # The same cell once more, as by a worker that was thought dead: one log all the same.
    again = play(CELL, folder, OPTIONS)
    assert (again.log, len(list(Path(folder.path("logs")).iterdir()))) == (played.log, 1)

    # Under a name of Flow's own, it is taken in.
    (Path(folder.path("logs")) / "2026_suite.eval").write_bytes(Path(again.log).read_bytes())
    Path(again.log).unlink()
    (Path(folder.path("logs")) / "2027_suite.eval").write_bytes(b"cut")
    assert adopt(folder, [CELL.id]) == 1
    assert folder.finished() == {CELL.id, "2027_suite"}
    assert len(planned_episodes([again.log])) == 6


def test_a_disk_that_takes_no_more_is_not_the_cells_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SweepFolder(str(tmp_path / "sweep"))

    def broken(*given: object) -> None:
        raise EpisodeError("the run did not finish (started)")

    def full(self: SweepFolder, size: int = 0) -> None:
        raise FolderError(
            f"the sweep's folder {self.url} cannot be written: No space left on device"
        )

    # As a tmpfs of 200 KiB made it: Inspect's log stays where it was, and no error says why.
    monkeypatch.setattr("constraintrot.runs.sweep.play._evaluated", broken)
    with pytest.raises(EpisodeError, match="did not finish"):
        play(CELL, folder, OPTIONS)
    with monkeypatch.context() as patch:
        patch.setattr(SweepFolder, "check", full)
        with pytest.raises(FolderError, match="No space left on device"):
            play(CELL, folder, OPTIONS)
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match=r"a try of cell .* cannot begin: Not a directory"):
        play(CELL, SweepFolder(str(tmp_path / "file" / "below")), OPTIONS)


def test_a_served_model_answers_as_the_model_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    serving = server(0, host="127.0.0.1")
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{serving.server_address[1]}/v1"
    served = Cell({**CELL.task, "model": "openai-api/scripted/obedient"})
    folder = SweepFolder(str(tmp_path))
    logs = [
        play(served, folder, OPTIONS, url).log,
        play(CELL, folder, OPTIONS).log,
    ]
    serving.shutdown()
    serving.server_close()
    names = ["family", "seed", "condition", "violation", "outcome", "state"]
    frames = [planned_episodes([log])[names] for log in logs]
    assert differing(*frames) == 0
    assert differing(frames[0], frames[1].iloc[1:]) == 1


def test_a_prefix_cache_forgets_the_oldest_prompt() -> None:
    cache = PrefixCache(slots=2)
    assert cache.cached(("one two three", "four")) == 0
    assert cache.cached(("one two three", "five")) == 3
    assert cache.cached(("six",)) == 0
    assert cache.cached(("seven",)) == 0
    assert cache.cached(("one two three",)) == 0


def test_a_row_that_is_there_more_often_is_another_frame() -> None:
    frame = pd.DataFrame({"condition": ["control", "control", "compaction"], "seed": [0, 0, 0]})
    assert differing(frame, frame.iloc[[2, 0, 1]]) == 0
    assert differing(frame, frame.iloc[1:]) == 1


def test_tokens_of_the_cache_are_input_too() -> None:
    usage = ModelUsage(
        input_tokens=1, input_tokens_cache_read=20, input_tokens_cache_write=300, output_tokens=5
    )
    sample = SimpleNamespace(scores=None, metadata={}, model_usage={"some/model": usage})
    stats = SimpleNamespace(started_at="", completed_at="")
    summed = counts(cast(EvalLog, SimpleNamespace(samples=[sample], stats=stats)))
    assert (summed["input"], summed["output"]) == (321, 5)
