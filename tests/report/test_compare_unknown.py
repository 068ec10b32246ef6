"""What nobody knows counts against every claim: silence, errors, what never came back."""

import contextlib
import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from inspect_ai.log import EvalError, EvalSample, read_eval_log, write_eval_log

from constraintrot.errors import ParameterError
from constraintrot.report.cells import commit
from constraintrot.report.compare import Question, answer
from constraintrot.report.compare_output import junit, summary, text
from constraintrot.report.facts import named
from constraintrot.report.frame import episodes
from constraintrot.report.planned import planned_episodes
from constraintrot.report.store import Store
from tests.conftest import Run
from tests.invoked import invoked
from tests.report.gate_arms import ARMS, NONE, PIN, arm, asked, call, permitted

NAN = float("nan")


def missing(defense: str, seeds: Sequence[int], **facts: Any) -> list[dict[str, Any]]:
    """Planned episodes that did not come back."""
    rows = arm(defense, [NAN] * (max(seeds) + 1), outcome="missing", **facts)
    return [row for row in rows if row["seed"] in seeds]


def whole(*rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a frame that has every planned episode."""
    return [row | {"planned": True} for some in rows for row in some]


def test_what_b_lost_is_where_it_would_have_violated() -> None:
    """B violates as often as a, 20 of 40, and loses 15 of those episodes."""
    half = [1.0, 0.0] * 20
    lost = [seed for seed in range(40) if half[seed]][:15]
    came_back = [row for row in arm("pin", half) if row["seed"] not in lost]
    for rows in (came_back, whole(arm("none", half), came_back, missing("pin", lost))):
        given = rows if len(rows) > 40 else arm("none", half) + rows
        found = asked(given, exits=3)
        assert "15 of 40 planned episodes of b did not come back" in " ".join(found.notes)


def test_six_pairs_that_are_left_of_forty_show_nothing() -> None:
    rows = whole(arm("none", [1] * 40), arm("pin", [0] * 6), missing("pin", range(6, 40)))
    found = asked(rows, exits=3)
    assert "34 of 40 planned episodes of b did not come back, more than 10 %" in text(found)
    few = whole(arm("none", [1] * 40), arm("pin", [0] * 30), missing("pin", range(30, 40)))
    assert asked(few).exit == 3
    assert "10 of 40 planned episodes of b did not come back, more than 10 %" in text(asked(few))
    # Even with all ten counted as violations b violates less, if one accepts that share.
    assert asked(few, missing=0.25).exit == 0


def test_what_only_one_arm_planned_is_left_out_and_said() -> None:
    rows = whole(arm("none", [1] * 40), arm("pin", [0] * 20))
    found = asked(rows, exits=0)
    assert found.notes[1:] == ("violation: 20 episodes of a have no partner, left out",)
    assert asked(rows, strict=True).exit == 1


def test_a_tenth_that_is_silent_is_decided_by_the_worst_case_too() -> None:
    """Seen are 20 of 40 against 1; of b's forty, any number was silent."""
    for silent in (4, 18):
        b = arm("pin", [1.0] + [0.0] * 39)
        for row in b[40 - silent :]:
            row["outcome"] = "no_call"
        a = arm("none", [1.0] * 20 + [0.0] * 20)
        found = asked(a, b)
        assert found.exit == (0 if silent == 4 else 3)
    slight = arm("pin", [1.0] * 2 + [0.0] * 38)
    for row in slight[36:]:
        row["outcome"] = "no_call"
    assert asked(arm("none", [1.0] * 9 + [0.0] * 31), slight).exit == 3
    for row in slight:
        row["outcome"] = "violated" if row["violation"] else "declined"
    assert asked(arm("none", [1.0] * 9 + [0.0] * 31), slight).exit == 0


@pytest.mark.parametrize("silent", [True, False])
def test_a_familys_decision_does_not_hang_on_what_is_unknown_of_another(silent: bool) -> None:
    """Six pairs of twelve are p = .03, and .06 beside a family that may show nothing."""
    other = {"family": "soft_url"}
    rows = arm("none", [0] * 12) + arm("pin", [1] * 6 + [0] * 6) + arm("none", [1] * 30, **other)
    rows += arm("pin", [0] * 30, **other, **({"outcome": "no_call"} if silent else {}))
    found = asked(rows, by=("family",), floor=0.0)
    assert found.findings[0].decision == ("undecided" if silent else "does not hold")


def test_silence_of_a_does_not_convict_b() -> None:
    a = arm("none", [0.0] * 20, outcome="no_call")
    assert asked(a, arm("pin", [1.0] * 20)).exit == 3
    assert asked(arm("none", [0.0] * 20), arm("pin", [1.0] * 20)).exit == 1


def test_lost_work_is_not_done_work() -> None:
    rows = whole(
        arm("none", [1] * 20),
        arm("pin", [0] * 20),
        permitted("none", [1] * 100),
        permitted("pin", [1] * 92),
        [row | {"allowed": True} for row in missing("pin", range(92, 100))],
    )
    assert asked(rows, margin=0.1).exit == 3
    assert asked(rows, margin=0.2).exit == 0


@pytest.fixture
def log(shared_run: Run, tmp_path: Path) -> Path:
    """A copy, to spoil."""
    log = shared_run(
        "pin_stress",
        variants=6,
        families="soft_email",
        defenses="none,pin",
        conditions="compaction",
    )
    (tmp_path / "logs").mkdir()
    return Path(shutil.copy(log.location, tmp_path / "logs"))


def cut(path: Path, lose: Sequence[str], *, errors: bool) -> None:
    """Take samples out of a log, as a stopped run would, or as errors would."""
    log = read_eval_log(str(path))

    def failed(sample: EvalSample) -> EvalSample:
        error = EvalError(message="the provider failed", traceback="", traceback_ansi="")
        return sample.model_copy(update={"error": error, "scores": None})

    assert log.samples is not None
    kept = [one for one in log.samples if errors or str(one.id) not in lose]
    log.samples = [failed(one) if str(one.id) in lose else one for one in kept]
    write_eval_log(log, str(path))


@pytest.mark.parametrize("errors", [True, False])
def test_a_log_says_what_was_planned(log: Path, errors: bool) -> None:
    lose = [f"soft_email.en-{seed}-compaction-pin" for seed in range(3)]
    full = planned_episodes([log])
    assert len(full) == 12
    cut(log, lose, errors=errors)
    assert len(episodes([log])) == 9
    frame = planned_episodes([log])
    assert len(frame) == 12
    lost = frame[frame["outcome"] == "missing"]
    facts = ["family", "locale", "seed", "defense", "condition", "compactor", "agent", "summarizer",
             "replicate", "allowed", "budget_words", "kind", "scaffold"]  # fmt: skip
    of_full = full[(full["defense"] == "pin") & (full["seed"] < 3)]
    pd.testing.assert_frame_equal(
        lost[facts].sort_values("seed", ignore_index=True),
        of_full[facts].sort_values("seed", ignore_index=True),
        check_dtype=False,
    )
    result = call(str(log), *ARMS)
    assert result.exit_code == 3
    assert "3 of 6 planned episodes of b did not come back" in result.stdout


def test_what_another_log_has_is_not_missing(log: Path, run: Run) -> None:
    cut(log, ["soft_email.en-1-compaction-pin"], errors=True)
    run(
        "pin_stress", variants=1, seed=1, families="soft_email", defenses="pin",
        conditions="compaction",
    )  # fmt: skip
    frame = planned_episodes([log.parent])
    assert (frame["outcome"] != "missing").all()
    assert len(frame) == 12


def test_an_empty_arm_is_named_and_not_passed(log: Path) -> None:
    cut(log, [f"soft_email.en-{seed}-compaction-pin" for seed in range(6)], errors=True)
    result = call(str(log), *ARMS)
    assert result.exit_code == 2
    assert "no episode has a violation in both arms" in result.stderr


def reversed_family(pairs: int) -> list[dict[str, Any]]:
    """Thirty pairs in which b violates less, and a family in which it violates more."""
    return [
        *arm("none", [1] * 30, family="one"),
        *arm("pin", [0] * 30, family="one"),
        *arm("none", [0] * pairs, family="two"),
        *arm("pin", [1] * pairs, family="two"),
    ]


def test_a_family_that_is_reversed_is_named_and_does_not_pass() -> None:
    found = asked(reversed_family(10), exits=3)
    says = "family=two (of 10 pairs a only 0, b only 10)"
    assert f"violation: the contrary in {says}" in found.notes
    assert found.findings[0].reason == f"the contrary is seen in {says}"
    assert says in junit(found)
    assert f"the contrary is seen in {says}" in text(found)
    # Two pairs can be chance: they are named, and strictness refuses them.
    slight = asked(reversed_family(2), exits=0)
    assert any("the contrary in family=two" in note for note in slight.notes)
    assert asked(reversed_family(2), strict=True).exit == 1


def test_notes_are_in_every_output_and_strictness_makes_them_failures() -> None:
    rows = [arm("none", [1] * 8, compactor="truncate"), arm("pin", [0] * 8, compactor="summarize")]
    done = [permitted(name, [1] * 8) for name in ("none", "pin")]
    rows += [
        [row | {"compactor": made[0]["compactor"]} for row in given]
        for made, given in zip(rows, done, strict=True)
    ]
    loose, strict = asked(*rows), asked(*rows, strict=True)
    (note,) = loose.notes
    suite = ElementTree.fromstring(junit(loose))
    assert [suite.attrib[name] for name in ("tests", "failures", "errors")] == ["1", "0", "0"]
    assert suite.findtext("system-out") == note
    assert summary(loose)["notes"] == [note]
    assert (loose.exit, strict.exit) == (0, 1)
    suite = ElementTree.fromstring(junit(strict))
    assert [suite.attrib[name] for name in ("tests", "failures", "errors")] == ["2", "1", "0"]
    assert suite[1].attrib["name"] == "notes"
    assert suite[1][0].tag == "failure"
    assert text(strict).endswith("DOES NOT HOLD: --strict takes notes for failures: 1 of them")
    quiet = asked(arm("none", [1] * 8), arm("pin", [0] * 8), *done, strict=True, exits=0)
    assert ElementTree.fromstring(junit(quiet))[1][0].tag == "system-out"


@pytest.mark.parametrize(
    ("a", "b", "exit_"),
    [
        ([0] * 90, [0] * 90, 0),
        ([0] * 20, [0] * 20, 3),
        ([0] * 90, [0] * 60 + [1] * 30, 1),
        ([1] * 90, [1] * 80 + [0] * 10, 0),
    ],
)
def test_no_worse_than_a_baseline(a: list[float], b: list[float], exit_: int) -> None:
    found = asked(arm("none", a), arm("pin", b), no_worse=0.05)
    assert found.exit == exit_, text(found)
    if exit_ == 3:
        assert "at these rates 72 variants show, with 80 % power, that the limit is kept" in text(
            found
        )


@pytest.mark.parametrize(("b", "exit_"), [([0] * 80, 0), ([0] * 60, 3), ([1] * 30 + [0] * 50, 1)])
def test_at_most_needs_no_baseline(b: list[float], exit_: int) -> None:
    found = asked(arm("pin", b), a=None, at_most=0.05)
    assert found.exit == exit_, text(found)
    data = json.loads(json.dumps(summary(found)))
    assert (data["a"], data["at_most"]) == (None, 0.05)
    assert data["comparisons"][0]["b"]["n"] == len(b)


def test_at_most_counts_the_unknown_as_violations() -> None:
    b = arm("pin", [0] * 80)
    b[0]["outcome"] = b[1]["outcome"] = "malformed"
    found = asked(b, a=None, at_most=0.05, exits=3)
    assert "b violates at most 5 % only if its unknown episodes are taken for obedience" in text(
        found
    )
    worse = asked(
        [*arm("pin", [0] * 150), *arm("pin", [1] * 8 + [0] * 2, family="two")],
        a=None,
        at_most=0.12,
        exits=3,
    )
    assert "the contrary is seen in family=two (b violates 8/10)" in text(worse)


def test_both_claims_about_violation_have_to_hold() -> None:
    found = asked(arm("none", [1] * 80), arm("pin", [0] * 80), at_most=0.05)
    assert [(one.claim, one.decision) for one in found.findings] == [
        ("fewer", "holds"),
        ("at most", "holds"),
    ]
    assert asked(arm("none", [1] * 20), arm("pin", [0] * 20), at_most=0.05).exit == 3


def test_a_question_that_cannot_be_asked() -> None:
    rows = arm("none", [1]) + arm("pin", [0])
    for wrong, says in (
        ({"a": None}, "give --a, the arm to compare with, or --at-most"),
        ({"a": None, "at_most": 0.1, "margin": 0.1}, "--margin compares with a baseline"),
        ({"a": {"family": "x"}}, "narrow both with --where family=x, or compare each with --by"),
        ({"a": {"seed": "0"}}, "of the same seed, so seed cannot tell the arms apart"),
    ):
        with pytest.raises(ParameterError, match=says):
            asked(rows, **wrong)


plan = partial(invoked, "compare", "--plan")


def test_the_number_is_said_beforehand() -> None:
    fewer = plan("--assume", ".5", ".1", exits=0)
    assert "| 50 %           | 10 % | 25       |" in fewer.stdout
    limited = plan("--no-worse", ".05", "--at-most", ".05", "--margin", ".05", "--assume", "0", "0")
    assert limited.stdout.count("| 72       |") == 3
    assert "independent" in limited.stdout
    assert "none up to 100,000 is enough" in plan("--at-most", ".05", "--assume", ".5", ".5").stdout
    assert plan("logs").exit_code == 2
    assert call("--b", "defense=pin").exit_code == 2
    assert call("logs", *ARMS, "--assume", "0", "0").exit_code == 2


@pytest.mark.parametrize(
    "value", [-5, -1, 0.5, 2, 1e308, float("inf"), float("-inf"), float("nan")]
)
def test_what_is_no_verdict_holds_nothing(value: float) -> None:
    for rows in ((arm("none", [1] * 20), arm("pin", [value] * 20)),
                 (arm("none", [value] * 20), arm("pin", [0] * 20))):  # fmt: skip
        with contextlib.suppress(ParameterError):
            assert asked(*rows).exit != 0


@pytest.mark.parametrize(
    ("outcome", "violation"),
    [("violated", 0), ("declined", 1), ("no_such_outcome", 0), ("", 0), (None, 0)],
)
def test_an_outcome_that_its_score_denies_holds_nothing(outcome: Any, violation: float) -> None:
    forged = arm("pin", [violation] * 20, outcome=outcome)
    with contextlib.suppress(ParameterError):
        assert asked(arm("none", [1] * 20), forged).exit != 0


def test_an_arm_is_not_made_larger_by_episodes_that_are_allowed() -> None:
    forged = arm("pin", [0] * 4) + arm("pin", [0] * 40, allowed=True)
    alone = asked(arm("none", [1] * 4), arm("pin", [0] * 4))
    assert asked(arm("none", [1] * 4), forged).findings[0].value == alone.findings[0].value
    assert asked(arm("none", [1] * 4), forged).exit == alone.exit


def test_a_wording_that_goes_by_the_seed_is_known_of_an_episode_that_was_lost(
    run: Run, tmp_path: Path
) -> None:
    """It had the first seed's wording, and so no partner, while a note said that it counts."""
    given = {"variants": 3, "conditions": "compaction", "context_tokens": 300, "wording": "all"}
    for defense in ("none", "pin"):
        run("soft_email", defense=defense, **given)
    logs = tmp_path / "logs"
    full = planned_episodes([logs])
    assert full.groupby("seed")["wording"].nunique().eq(1).all()
    assert full["wording"].nunique() == 3
    pinned = next(
        p
        for p in logs.glob("*.eval")
        if read_eval_log(str(p), header_only=True).eval.task_args["defense"] == "pin"
    )
    cut(pinned, ["soft_email.en-2-compaction"], errors=False)
    lost = planned_episodes([logs])
    pd.testing.assert_series_equal(
        lost.sort_values(["defense", "seed"], ignore_index=True)["wording"],
        full.sort_values(["defense", "seed"], ignore_index=True)["wording"],
        check_dtype=False,
    )
    store = Store(tmp_path / "store")
    for log in sorted(logs.glob("*.eval")):
        commit(str(store.url), str(log), cell=log.stem)
    for frame in (lost, planned_episodes([str(store.url)])):
        found = answer(named(frame), Question(NONE, PIN, floor=0.0))
        outcomes = found.findings[0].outcomes
        assert outcomes is not None
        assert (outcomes.n, outcomes.missing["b"], outcomes.unpaired) == (3, 1, {"a": 0, "b": 0})
    # Another log that finished it makes up for it.
    run("soft_email", defense="pin", **(given | {"variants": 1, "seed": 2}))
    assert (planned_episodes([logs])["outcome"] != "missing").all()
