"""Position and cluster: the curve that a model is made to have is the one that is measured."""

import logging
import math
from typing import Any

import pytest
from inspect_ai.model import Model, ModelOutput

from constraintrot.tasks.probes.firmware import CALL, CRITICAL, FORMATS
from constraintrot.tasks.probes.sweeps import rampart_cluster, rampart_position
from tests.conftest import Run
from tests.tasks.probes import fakes

SCORE = "critical_call"
CHECKS = {"after_confound_empty": 0.0, "after_confound_others": 0.0, "after_ceiling": 1.0}


@pytest.fixture(autouse=True)
def _audible(caplog: pytest.LogCaptureFixture) -> None:
    # Tests run Inspect at log level error, which would swallow our warnings.
    caplog.set_level(logging.WARNING, logger="constraintrot")


def warnings(caplog: pytest.LogCaptureFixture) -> str:
    """What was warned of."""
    found = [record for record in caplog.records if record.name.startswith("constraintrot")]
    return "\n".join(record.getMessage() for record in found)


def measured(run: Run, task: str, model: Model, **parameters: Any) -> dict[str, float]:
    return fakes.cells(run(task, model=model, **parameters), SCORE, "success")


def test_a_cliff_comes_out_where_it_is(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    found = measured(run, "rampart_position", fakes.reads_the_first(11), n=2)
    assert found == {
        **CHECKS,
        "after_n31_p0": 1.0,
        "after_n31_p10": 1.0,
        "after_n31_p20": 0.0,
        "after_n31_p30": 0.0,
    }
    assert not warnings(caplog)


def test_sizes_and_sides(run: Run) -> None:
    found = measured(
        run, "rampart_position", fakes.reads_the_first(3),
        positions="2,3,7", sizes="3,8", query="both", n=1,
    )  # fmt: skip
    curve = {"n3_p2": 1.0, "n8_p2": 1.0, "n8_p3": 0.0, "n8_p7": 0.0}
    sides = {f"{side}_{name}": rate for side in ("after", "before") for name, rate in curve.items()}
    assert {name: rate for name, rate in found.items() if "_n" in name} == sides
    assert {f"{side}_ceiling" for side in ("after", "before")} < set(found)


def test_the_side_is_where_the_request_stands(run: Run) -> None:
    first = fakes.writer(lambda prompt: fakes.CALLED if prompt.startswith("Write") else fakes.PLAIN)
    found = measured(run, "rampart_position", first, positions=0, query="both", n=1)
    assert found["after_n31_p0"] == 0.0
    assert found["before_n31_p0"] == 1.0


def test_a_model_that_ignores_the_block(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    found = measured(run, "rampart_position", fakes.writer(lambda _: fakes.PLAIN), n=1)
    assert set(found.values()) == {0.0}
    assert "after_ceiling: with the critical block alone the model succeeds in 0 %" in warnings(
        caplog
    )


def test_a_call_in_a_comment_is_none(run: Run) -> None:
    commenting = fakes.writer(lambda p: fakes.COMMENTED if CALL in p else fakes.PLAIN)
    log = run("rampart_position", model=commenting, positions=0, n=1)
    assert set(fakes.cells(log, SCORE, "success").values()) == {0.0}
    assert set(fakes.cells(log, SCORE, "undecided").values()) == {0.0}


def test_a_model_that_knows_the_call_anyway(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    found = measured(run, "rampart_position", fakes.writer(lambda _: fakes.CALLED), n=1)
    assert found["after_confound_empty"] == 1.0
    for check in ("empty", "others"):
        assert f"after_confound_{check}: {CALL} is called in 100 %" in warnings(caplog)
    assert "after_ceiling" not in warnings(caplog)


def test_silence_is_counted_apart(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    far = fakes.writer(lambda p: fakes.PROSE if len(fakes.blocks(p)) == 31 else fakes.CALLED)
    log = run("rampart_position", model=far, positions=0, n=2)
    assert math.isnan(fakes.cells(log, SCORE, "success")["after_n31_p0"])
    assert fakes.cells(log, SCORE, "undecided")["after_n31_p0"] == 1.0
    assert fakes.cells(log, SCORE, "undecided")["after_ceiling"] == 0.0
    assert "after_n31_p0: 100 % of answers hold no code or were cut off" in warnings(caplog)


def test_a_ceiling_of_which_nothing_is_decided_is_warned_of(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    run("rampart_position", model=fakes.writer(lambda _: fakes.PROSE), positions=0, n=1)
    assert "after_ceiling: with the critical block alone" in warnings(caplog)


@pytest.mark.parametrize(("text", "undecided"), [(fakes.PLAIN, 1.0), (fakes.CALLED, 0.0)])
def test_an_answer_that_was_cut_off(run: Run, text: str, undecided: float) -> None:
    cut = fakes.model(lambda *_: ModelOutput.from_content(fakes.NAME, text, "max_tokens"))
    log = run("rampart_position", model=cut, positions=0, n=1)
    assert fakes.cells(log, SCORE, "undecided")["after_n31_p0"] == undecided


def test_prompts_that_share_a_prefix_follow_each_other() -> None:
    order = [(s.metadata or {})["condition"] for s in rampart_position(query="both", n=3).dataset]
    after = [name for name in order if name.startswith("after")]
    assert order[: len(after)] == after
    assert all(len(set(after[at : at + 3])) == 1 for at in range(0, len(after), 3))
    seeds = [(s.metadata or {})["seed"] for s in rampart_position(query="before", n=3).dataset]
    assert seeds == sorted(seeds)


def test_the_same_parameters_give_the_same_prompts() -> None:
    inputs = [[s.input for s in rampart_position(n=2).dataset] for _ in range(2)]
    assert inputs[0] == inputs[1]


def neighbourly(prompt: str) -> str:
    """Obeys the critical block near the front, or right behind both output-format blocks."""
    names = fakes.blocks(prompt)
    at = names.index(CRITICAL)
    primed = at >= 2 and tuple(names[at - 2 : at]) == FORMATS
    return fakes.CALLED if at < 5 or primed else fakes.PLAIN


def test_priming_shows_in_the_back_order_alone(run: Run) -> None:
    arms = ("front", "centre", "back", "control", "single", "control_single")
    found = measured(
        run, "rampart_cluster", fakes.writer(neighbourly), n=1, arms=arms, positions="0,14,28"
    )
    near = {f"{arm}_p0": 1.0 for arm in arms}
    far = {f"{arm}_p{at}": float(arm == "back") for arm in arms for at in (14, 28)}
    assert found == near | far


def test_arms_put_the_critical_block_where_they_say() -> None:
    dataset = rampart_cluster(arms="front,centre,back,control,single,control_single", n=1).dataset
    at = {str(s.id): (s.metadata or {})["critical_at"] for s in dataset}
    assert [at[f"{arm}_p14-42"] for arm in ("front", "centre", "back")] == [14, 15, 16]
    assert at["single_p14-42"] == at["control_single_p14-42"] == at["control_p14-42"] == 16
    held = {str(s.id): all(name in str(s.input) for name in FORMATS) for s in dataset}
    assert {name for name, there in held.items() if not there} == {
        name for name in held if name.startswith("control")
    }
