"""What was planned and has no verdict is counted in every table, never dropped."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from constraintrot.report import defenses, matrix, table
from constraintrot.report.episode_counts import Counts, _shareable, counts, unbalanced
from constraintrot.report.frame import episodes, planned_episodes
from constraintrot.report.page import source
from tests.conftest import Run
from tests.helpers import answering

DOWN = "down at http://localhost:1/v1/chat.json (/home/me/.venv/lib-1/client.py:7)"


def failing(after: int) -> Model:
    """A summarizer that is down after so many summaries."""
    made = 0

    def write() -> str:
        nonlocal made
        made += 1
        if made > after:
            raise RuntimeError(f"the summarizer is {DOWN}")
        return "Work goes on."

    return answering(write)


@pytest.fixture
def log(run: Run) -> Path:
    given = {"variants": 4, "conditions": "control,compaction"}
    return Path(run("soft_email", model_roles={"summarizer": failing(2)}, **given).location)


def test_errored_episodes_are_planned_and_not_played(log: Path) -> None:
    frame = planned_episodes([log])
    assert counts(frame) == Counts(planned=8, played=6, errored=2, silent=0)
    errored = frame[frame["status"] == "errored"]
    assert set(errored["condition"]) == {"compaction"}
    assert set(errored["agent"]) == {"scripted/obedient"}
    assert errored["violation"].isna().all()
    assert "the summarizer is down" in errored["reason"].iloc[0]
    assert len(episodes([log])) == 6


def test_an_error_that_is_handed_on_names_no_folder_of_this_machine(log: Path) -> None:
    frame = planned_episodes([log])
    reasons = frame[frame["status"] == "errored"]["reason"]
    assert len(reasons) == 2
    for reason in reasons:
        assert "down at http://localhost:1/v1/chat.json (client.py:7)" in reason
        assert "/home" not in reason


@pytest.mark.parametrize(
    "cause",
    [
        """BadRequestError("Error code: 400 - 'messages[0].role' does not support 'system'.")""",
        "PermissionDeniedError('Error code: 403 - Your account is not active')",
    ],
)
def test_the_cause_of_a_failed_call_stands_without_its_request(cause: str) -> None:
    request = json.dumps({"messages": [{"content": "a\n}\n\nb"}], "model": "m"}, indent=2)
    error = repr(RuntimeError(f"\nRequest:\n{request}\n\n{cause}"))
    given = error.replace("RuntimeError", "ModelGenerateError")
    assert _shareable(given) == cause


def test_every_table_says_what_errored(log: Path) -> None:
    frame = planned_episodes([log])
    line = next(line for line in table.text(frame).splitlines() if "compaction" in line)
    assert [cell.strip() for cell in line.split("|")][-5:-1] == ["4", "2", "2", "0"]
    crossed = matrix.text(frame, "attack", "defense")
    assert "Episodes: planned 8, played 6, errored 2, silent 0." in crossed
    compared = defenses.text(frame, ["condition"])
    for text in (table.text(frame), compared):
        assert "| planned | played | errored | silent |" in text
    for text in (table.text(frame), compared, crossed):
        assert "! 2 of 8 planned episodes ended in an error and are in no rate:\n" in text
        (error,) = [line for line in text.splitlines() if line.startswith("  2 compaction: ")]
        assert "the summarizer is down" in error


def test_a_cell_of_errors_alone_is_there(run: Run) -> None:
    log = run("soft_email", variants=2, model_roles={"summarizer": failing(0)})
    text = table.text(planned_episodes([log.location]))
    (line,) = [line for line in text.splitlines() if line.startswith("| compaction")]
    assert [cell.strip() for cell in line.split("|")][-5:-1] == ["2", "0", "2", "0"]


def test_a_written_frame_still_says_it(log: Path, tmp_path: Path) -> None:
    written = tmp_path / "frame.csv"
    planned_episodes([log]).to_csv(written, index=False)
    read = source.read([str(written)])
    assert len(read.frame) == 6
    assert counts(read.planned) == Counts(8, 6, 2, 0)


def test_an_older_frame_does_not_say_what_was_planned(log: Path, tmp_path: Path) -> None:
    written = tmp_path / "older.csv"
    episodes([log]).drop(columns="status").to_csv(written, index=False)
    read = source.read([str(written)])
    assert counts(read.planned) == Counts(None, 6, None, 0)
    assert "What else was planned, these frames do not say" in table.text(read.planned)


def evaluated(folder: Path, **options: object) -> EvalLog:
    given = {"variants": 3, "conditions": "floor,control", "context_tokens": 300}
    (log,) = inspect_eval(
        "constraintrot/soft_email", model="scripted/obedient", task_args=given,
        log_dir=str(folder), display="none", **options,  # type: ignore[arg-type]
    )  # fmt: skip
    return log


def test_a_limit_that_leaves_conditions_unbalanced_is_said(tmp_path: Path) -> None:
    log = evaluated(tmp_path, limit=3)
    frame = planned_episodes([log.location])
    assert counts(frame).planned == 3
    assert "planned its conditions unequally often (control 1, floor 2)" in table.text(frame)
    assert "unequally" not in table.text(planned_episodes([evaluated(tmp_path, limit=4).location]))


def test_no_condition_is_unequal_by_a_defense_or_by_a_retry() -> None:
    arms = [("floor", "none"), ("control", "none"), ("compaction", "none"), ("compaction", "pin")]
    rows = [
        {"condition": condition, "attack": "none", "defense": defense, "status": "played"}
        | {"task": "suite", "agent": "a", "log": "first", "seed": seed}
        for condition, defense in arms for seed in range(3)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    assert unbalanced(frame) == []
    # The first log was killed after seven episodes, and the retry's has the others.
    assert unbalanced(frame.assign(log=["first"] * 7 + ["second"] * 5)) == []
    assert unbalanced(frame.head(7)) == [
        "! first planned its conditions unequally often (compaction 1, control 3, floor 3), as"
        " --limit and --sample-id leave them; compare paired episodes only."
    ]


def test_a_retry_makes_up_for_what_it_retries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import eval_retry

    from constraintrot.harnesses import replay
    from constraintrot.harnesses.agent_call import check_trigger

    def interrupted(real: Callable[..., object]) -> Callable[..., object]:
        def check(*given: object) -> object:
            raise RuntimeError("gone")

        return check

    with monkeypatch.context() as patch:
        patch.setattr(replay, "check_trigger", interrupted(check_trigger))
        failed = evaluated(tmp_path, fail_on_error=False)
    (again,) = eval_retry(failed, log_dir=str(tmp_path), display="none")
    assert counts(planned_episodes([failed.location, again.location])) == Counts(6, 6, 0, 0)


def test_what_is_pooled_is_said_also_where_allowed_requests_stand_beside(run: Run) -> None:
    """The column ``request`` is a text; grouped by it, no cell seemed to pool anything."""
    given = {"families": "soft_email,soft_spend", "variants": 2, "conditions": "compaction"}
    logs = [
        Path(run("pin_stress", allowed=allowed, defenses="none", locale=locale, **given).location)
        for allowed, locale in ((False, "en"), (True, "en"), (False, "zh"))
    ]
    said = table.text(planned_episodes(logs))
    assert "| request    | condition  |" in said
    assert "! cells pool several values of locale; part them with --by locale." in said
    assert "! cells pool the policies of 2 families (soft_email, soft_spend); part them" in said
    parted = table.text(planned_episodes(logs), by=("family",))
    assert "pool the policies" not in parted
