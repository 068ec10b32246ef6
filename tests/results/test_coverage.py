"""The coverage check checks: it finds what is too narrow, and passes what holds."""

import csv
from pathlib import Path

import numpy as np
import pytest

from results.tools import clustered_outcomes, coverage
from results.tools.clustered_outcomes import Cell, wilson

SEED = (1, 2, 3)


def test_outcomes_have_the_rate_and_the_correlation_asked_for() -> None:
    cell = Cell((0.3, 0.3), 30, "10", 0.3)
    a, b = clustered_outcomes.simulate(cell, 2000, np.random.default_rng(0))
    assert a.mean() == pytest.approx(3, abs=0.05)
    # Beta-binomial: n p (1 - p) (1 + (n - 1) rho).
    assert a.var() == pytest.approx(10 * 0.3 * 0.7 * 3.7, rel=0.03)
    assert 0.4 < np.corrcoef(a.ravel(), b.ravel())[0, 1] < 0.7
    (sure,) = clustered_outcomes.simulate(Cell((0.0,), 5, "3", 0.3), 10, np.random.default_rng(0))
    assert not sure.any()


def test_the_chosen_interval_holds_where_those_that_were_not_do_not() -> None:
    rows = coverage.rate_rows(Cell((0.97,), 9, "10", 0.3), 400, 200, SEED)
    by_method = {row.method: row for row in rows}
    assert by_method["chosen"].verdict in ("holds", "conservative")
    assert by_method["Wilson, clusters ignored"].verdict == coverage.BELOW
    pairs = coverage.difference_rows(Cell((0.3, 0.02), 5, "3", 0.3), 400, 200, SEED)
    assert [row.verdict == coverage.BELOW for row in pairs] == [False, True]
    (share,) = coverage.share_rows(Cell((0.0, 0.15, 0.6), 30, "3", 0.3), 200, 200, SEED)
    assert share.coverage is not None
    assert share.coverage > coverage.LEAST
    assert 0.5 < share.printed <= 1
    # Log-log limits cover 86 % here.
    (kept,) = coverage.curve_rows(Cell((0.97,), 5, "1", 0.0), 300, 0, SEED)
    assert kept.coverage is not None
    assert kept.coverage > coverage.LEAST


@pytest.mark.parametrize(
    ("covered", "zero", "verdict"),
    [
        (0.929, False, "below 93%"),
        (0.93, False, "holds"),
        (0.97, False, "holds"),
        (0.971, False, "conservative"),
        (1.0, True, "zero width"),
        (None, False, "no interval"),
    ],
)
def test_verdicts(covered: float | None, zero: bool, verdict: str) -> None:
    assert coverage._verdict(covered, zero) == verdict


def test_one_seed_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clustered_outcomes, "CLUSTERS", (1, 5))
    monkeypatch.setattr(clustered_outcomes, "SIZES", {"3": (3,)})
    monkeypatch.setattr(clustered_outcomes, "UNEVEN", {"3 x 1, 2 x 9": (1, 1, 1, 9, 9)})
    monkeypatch.setattr(coverage, "RATES", (0.0, 0.3))
    monkeypatch.setattr(coverage, "PAIRS", ((0.3, 0.02),))
    given = ["--simulations", "50", "--resamples", "50", "--csv"]
    files = [tmp_path / "one" / "a.csv", tmp_path / "b.csv"]
    assert [coverage.main([*given, str(path)]) for path in files] == [0, 0]
    assert files[0].read_bytes() == files[1].read_bytes()
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert {row["verdict"] for row in rows if row["clusters"] == "1"} == {"too few clusters"}
    assert all(row["coverage"] for row in rows if row["clusters"] == "5")
    out = capsys.readouterr().out
    assert "| too few clusters |" in out
    assert "50 simulations a cell; Monte Carlo standard error of a coverage of 95 %: 3.1" in out


def test_an_interval_that_is_too_narrow_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustered_outcomes, "CLUSTERS", (9,))
    monkeypatch.setattr(clustered_outcomes, "SIZES", {"10": (10,)})
    monkeypatch.setattr(clustered_outcomes, "UNEVEN", {})
    monkeypatch.setattr(coverage, "RATES", (0.3,))
    monkeypatch.setattr(coverage, "PAIRS", ())
    from constraintrot.stats.rate import Limits

    def narrow(hits: np.ndarray, sizes: np.ndarray, **_: object) -> Limits:
        limits = wilson(hits.sum(-1), sizes.sum(-1))
        return Limits(*limits, np.zeros(len(hits), bool))

    monkeypatch.setattr(coverage, "rate_limits", narrow)
    assert coverage.main(["--simulations", "200", "--resamples", "20"]) == 1


@pytest.mark.soak
def test_the_whole_check_passes() -> None:
    assert coverage.main(["--simulations", "500"]) == 0
