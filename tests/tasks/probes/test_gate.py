from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from constraintrot.tasks.probes import firmware
from constraintrot.tasks.probes.firmware import CALL, CRITICAL
from constraintrot.tasks.probes.gate import DIMENSIONS, embed, rampart_gate
from tests.conftest import Run
from tests.tasks.probes import fakes

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCORE = "critical_call"


def closest(texts: Sequence[str]) -> NDArray[np.float32]:
    """An embedder to which nothing but the critical block is close to a request."""
    near = [CALL in text or text.startswith("Write the C function") for text in texts]
    return np.array([[1, 0] if one else [0, 1] for one in near], np.float32)


def test_a_gate_saves_tokens_and_the_price_is_per_success(run: Run) -> None:
    log = run("rampart_gate", model=fakes.reads_the_first(11), embedder=closest, n=2)
    success = fakes.cells(log, SCORE, "success")
    assert success == {"full": 0.0, "promoted": 1.0, "gated": 1.0}
    spent = fakes.cells(log, SCORE, "prompt_tokens")
    assert spent["full"] == spent["promoted"] > 2 * spent["gated"]
    price = fakes.cells(log, SCORE, "tokens_per_success")
    assert math.isnan(price["full"])
    assert price["promoted"] == pytest.approx(spent["promoted"])
    assert price["gated"] == pytest.approx(spent["gated"])


def test_failures_are_paid_for_too(run: Run) -> None:
    halves = fakes.writer(lambda p: fakes.CALLED if "USART" in p.rsplit("~~~")[-1] else fakes.PLAIN)
    log = run("rampart_gate", model=halves, arms="full", n=3)
    assert fakes.cells(log, SCORE, "success")["full"] == pytest.approx(1 / 3)
    spent = fakes.cells(log, SCORE, "prompt_tokens")["full"]
    assert fakes.cells(log, SCORE, "tokens_per_success")["full"] == pytest.approx(3 * spent)


def test_a_gate_can_lose_the_critical_block_and_says_so(run: Run) -> None:
    def elsewhere(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[0, 1] if CALL in text else [1, 0] for text in texts], np.float32)

    obeys = fakes.writer(lambda p: fakes.CALLED if CALL in p else fakes.PLAIN)
    log = run("rampart_gate", model=obeys, arms="gated", embedder=elsewhere, n=1)
    assert fakes.cells(log, SCORE, "critical_held") == {"gated": 0.0}
    assert fakes.cells(log, SCORE, "success") == {"gated": 0.0}


def test_arms_are_what_they_say() -> None:
    dataset = rampart_gate(
        arms="full,promoted,gated,gated_promoted", embedder="hashing", most=7, n=20
    ).dataset
    order = firmware.names()
    kept = 0
    for sample in dataset:
        facts = sample.metadata or {}
        names = fakes.blocks(str(sample.input))
        gated = facts["condition"].startswith("gated")
        assert len(names) == facts["blocks"] == (7 if gated else 31)
        rest = [name for name in names if name != CRITICAL]
        assert rest == [name for name in order if name in rest]
        if facts["condition"].endswith("promoted"):
            assert facts["critical_at"] in (0, None)
        kept += gated and facts["critical_held"]
    assert 0 < kept < 40


def test_the_hashing_embedder_knows_shared_words() -> None:
    vectors = embed(["Initialise USART2 at 9600 baud.", "usart2 initialisation", "a red apple"])
    assert vectors.shape == (3, DIMENSIONS)
    assert vectors[0] @ vectors[1] >= 2 > vectors[0] @ vectors[2]
    assert np.array_equal(embed(["Feed the watchdog."]), embed(["feed THE watchdog"]))
    assert embed([]).shape == (0, DIMENSIONS)


def test_without_a_gated_arm_no_embedder_is_loaded() -> None:
    assert len(rampart_gate(arms="full,promoted", embedder="word2vec").dataset) == 10
